//! Settings: the user's file, the project's file, the variables.

use std::path::Path;

use model::config::{self, File, KEYS, Layer, Owner, Resolved, Settings};
use model::finding::{Finding, Level};
use store::{Found, Store};

use crate::World;
use crate::project::trust;

const LARGEST: usize = 1024 * 1024;

/// The sources of the settings, before they are applied over the defaults.
struct Sources {
    /// Owner, path and text of each file.
    files: Vec<(Owner, String, String)>,
    variables: Vec<(&'static str, String)>,
    findings: Vec<Finding>,
}

/// Returns the effective settings with their sources and every problem. Pass `store` only if it is trusted: a clone's
/// settings are somebody else's text.
pub fn resolve(world: &World, store: Option<&Store>) -> Resolved {
    let mut sources = gather(world, store);
    let mut resolved = config::resolve(&sources.layers());
    sources.findings.append(&mut resolved.findings);
    resolved.findings = sources.findings;
    resolved
}

/// Returns the settings that apply in the current folder, for `thru config`.
pub fn here(world: &World) -> Resolved {
    let found = world.find();
    let Ok(Found::Marked { root, store, marker }) = &found else { return resolve(world, None) };
    if world.trusts(marker, &root.path) {
        return resolve(world, Some(store));
    }
    let mut resolved = resolve(world, None);
    if matches!(store.config(), Ok(Some(_))) {
        let skipped = Finding::new(Level::Warning, "config.toml is not read: this root is not trusted");
        let hint = trust::advice(world, &marker.project_id, &root.path, "it");
        resolved.findings.push(skipped.hint(hint));
    }
    resolved
}

/// Returns whether the user's own settings allow a folder as a root (`roots.allow`), even if they name it by
/// another path.
pub(crate) fn allows_root(world: &World, folder: &Path) -> bool {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let allowed = for_hook(world, None).settings.roots_allow;
    allowed.iter().any(|named| Path::new(named) == folder || real(Path::new(named)) == real(folder))
}

/// The settings of a hook. If a value cannot be used, the hook uses the default.
#[derive(Debug)]
pub struct HookSettings {
    pub settings: Settings,
    /// For the receipt: which setting could not be used, and why.
    pub problem: Option<String>,
}

/// Returns the effective settings for a hook. If there are no files and no variables, nothing is parsed.
pub fn for_hook(world: &World, store: Option<&Store>) -> HookSettings {
    let mut sources = gather(world, store);
    if sources.files.is_empty() && sources.variables.is_empty() && sources.findings.is_empty() {
        return HookSettings { settings: Settings::DEFAULT, problem: None };
    }
    let resolved = config::resolve(&sources.layers());
    let settings = resolved.settings();
    sources.findings.extend(resolved.findings);
    let error = sources.findings.into_iter().find(|finding| finding.level == Level::Error);
    HookSettings { settings, problem: error.map(|finding| format!("settings: {finding}")) }
}

impl Sources {
    fn layers(&self) -> Vec<Layer<'_>> {
        let files =
            self.files.iter().map(|(owner, path, text)| Layer::File(File { path, text, owner: *owner }));
        let variables = self.variables.iter().map(|(name, text)| Layer::Variable { name, text });
        files.chain(variables).collect()
    }

    fn add_file(&mut self, owner: Owner, path: &Path, read: store::Result<Option<Vec<u8>>>) {
        let shown = path.display().to_string();
        match read {
            Ok(None) => {}
            Ok(Some(bytes)) => match String::from_utf8(bytes) {
                Ok(text) => self.files.push((owner, shown, text)),
                Err(_) => self.findings.push(ignored("it is not UTF-8 text").at(shown, None)),
            },
            Err(error) => self.findings.push(ignored(&error.to_string()).at(shown, None)),
        }
    }
}

fn ignored(why: &str) -> Finding {
    Finding::new(Level::Error, format!("the settings cannot be read: {why}"))
        .hint("until then the file is ignored")
}

fn gather(world: &World, store: Option<&Store>) -> Sources {
    let mut sources = Sources { files: Vec::new(), variables: Vec::new(), findings: Vec::new() };
    if let Some(path) = world.config_file() {
        let read = match store::read_own(&path, LARGEST) {
            Err(store::Error::Absent { .. }) => Ok(None),
            read => read.map(Some),
        };
        sources.add_file(Owner::User, &path, read);
    }
    if let Some(store) = store {
        let path = store.dir().path().join(store::layout::CONFIG);
        sources.add_file(Owner::Project, &path, store.config());
    }
    let names = KEYS.iter().filter(|_| world.has_variables).flat_map(config::Key::variables);
    for name in names {
        if let Some(text) = (world.var)(name).filter(|text| !text.is_empty()) {
            sources.variables.push((name, text.to_string_lossy().into_owned()));
        }
    }
    sources
}
