//! Reads the settings from the user's file, the project's file and environment variables.

use std::path::Path;

use model::config::{
    self, ResolvedSettings, SETTING_ROWS, Settings, SettingsFile, SettingsLayer, SettingsOwner,
};
use model::finding::{Finding, FindingLevel};
use store::{FoundRoot, Store};

use crate::World;
use crate::project::trust;

const MAX_SETTINGS_BYTES: usize = 1024 * 1024;

/// The sources of the settings, before they are applied over the defaults.
struct SettingsSources {
    /// The owner, the path and the text of each file.
    files: Vec<(SettingsOwner, String, String)>,
    variables: Vec<(&'static str, String)>,
    findings: Vec<Finding>,
}

/// Returns the effective settings with their sources and all problems. Pass `None` as `store` if the project is not
/// trusted, because the settings in a clone may come from another person.
pub fn resolve_settings(world: &World, store: Option<&Store>) -> ResolvedSettings {
    let mut sources = gather_sources(world, store);
    let mut resolved = config::resolve_settings(&sources.layers());
    sources.findings.append(&mut resolved.findings);
    resolved.findings = sources.findings;
    resolved
}

/// Returns the settings that apply in the current folder. If the project's file is ignored because the root is not
/// trusted, a finding says so.
pub fn settings_here(world: &World) -> ResolvedSettings {
    let found = world.find_root();
    let Ok(FoundRoot::Marked { root, store, marker }) = &found else { return resolve_settings(world, None) };
    if world.is_trusted(marker, &root.path) {
        return resolve_settings(world, Some(store));
    }
    let mut resolved = resolve_settings(world, None);
    if matches!(store.read_project_settings_file(), Ok(Some(_))) {
        let skipped =
            Finding::new(FindingLevel::Warning, "config.toml is not read: this root is not trusted");
        let hint = trust::how_to_trust(world, &marker.project_id, &root.path, "it");
        resolved.findings.push(skipped.with_hint(hint));
    }
    resolved
}

/// Returns whether the user's own settings allow a folder as a root (`roots.allow`). The settings may name the folder
/// by a different path.
pub(crate) fn allows_root(world: &World, folder: &Path) -> bool {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let allowed = settings_for_hook(world, None).settings.roots_allow;
    allowed.iter().any(|named| Path::new(named) == folder || real(Path::new(named)) == real(folder))
}

/// The settings for a hook. Each unusable value is replaced with the default.
#[derive(Debug)]
pub struct HookSettings {
    pub settings: Settings,
    /// Which setting could not be used, and why. The receipt records this message.
    pub problem: Option<String>,
}

/// Returns the effective settings for a hook. If there are no files and no variables, nothing is parsed.
pub fn settings_for_hook(world: &World, store: Option<&Store>) -> HookSettings {
    let mut sources = gather_sources(world, store);
    if sources.files.is_empty() && sources.variables.is_empty() && sources.findings.is_empty() {
        return HookSettings { settings: Settings::DEFAULT, problem: None };
    }
    let resolved = config::resolve_settings(&sources.layers());
    let settings = resolved.settings();
    sources.findings.extend(resolved.findings);
    let error = sources.findings.into_iter().find(|finding| finding.level == FindingLevel::Error);
    HookSettings { settings, problem: error.map(|finding| format!("settings: {finding}")) }
}

impl SettingsSources {
    fn layers(&self) -> Vec<SettingsLayer<'_>> {
        let files = self
            .files
            .iter()
            .map(|(owner, path, text)| SettingsLayer::File(SettingsFile { path, text, owner: *owner }));
        let variables = self.variables.iter().map(|(name, text)| SettingsLayer::Variable { name, text });
        files.chain(variables).collect()
    }

    fn add_file(&mut self, owner: SettingsOwner, path: &Path, read: store::Result<Option<Vec<u8>>>) {
        let shown = path.display().to_string();
        match read {
            Ok(None) => {}
            Ok(Some(bytes)) => match String::from_utf8(bytes) {
                Ok(text) => self.files.push((owner, shown, text)),
                Err(_) => self
                    .findings
                    .push(ignored_settings_file_finding("it is not UTF-8 text").at_line(shown, None)),
            },
            Err(error) => {
                self.findings.push(ignored_settings_file_finding(&error.to_string()).at_line(shown, None));
            }
        }
    }
}

fn ignored_settings_file_finding(why: &str) -> Finding {
    Finding::new(FindingLevel::Error, format!("the settings cannot be read: {why}"))
        .with_hint("fix the file; until then it is ignored")
}

fn gather_sources(world: &World, store: Option<&Store>) -> SettingsSources {
    let mut sources = SettingsSources { files: Vec::new(), variables: Vec::new(), findings: Vec::new() };
    if let Some(path) = world.user_settings_file() {
        let read = match store::read_outside_store(&path, MAX_SETTINGS_BYTES) {
            Err(store::Error::Absent { .. }) => Ok(None),
            read => read.map(Some),
        };
        sources.add_file(SettingsOwner::User, &path, read);
    }
    if let Some(store) = store {
        let path = store.dir().path().join(store::layout::PROJECT_SETTINGS_FILE);
        sources.add_file(SettingsOwner::Project, &path, store.read_project_settings_file());
    }
    let names = SETTING_ROWS
        .iter()
        .filter(|_| world.has_variables)
        .flat_map(config::SettingRow::environment_variable_names);
    for name in names {
        if let Some(text) = (world.read_variable)(name).filter(|text| !text.is_empty()) {
            sources.variables.push((name, text.to_string_lossy().into_owned()));
        }
    }
    sources
}
