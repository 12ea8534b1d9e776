//! Fills in the one line of our plugin that differs between installations, and reads that line back from an installed
//! file.

use serde::{Deserialize, Serialize};

use crate::commands::{self, PluginCommand};
use crate::{Harness, Plugin};

/// What the plugin knows about the installation.
#[derive(Debug, Serialize)]
struct Settings<'a> {
    thru: &'a str,
    version: &'a str,
    /// How many seconds the validators of a loop may take.
    patience: u32,
    commands: Vec<PluginCommand>,
}

/// The end of the file's first line, which is the same in every version.
const MARK: &str = "Written by `thru install ";

/// Returns the plugin file for an installation that runs `program`.
pub fn text(harness: &Harness, plugin: &Plugin, program: &str, version: &str, patience: u32) -> String {
    let commands = commands::for_plugin(harness, &crate::settings::quoted(program));
    let settings = Settings { thru: program, version, patience, commands };
    // The fields are texts and numbers, so serialising cannot fail.
    let json = serde_json::to_string(&settings).unwrap_or_default();
    let lines = plugin.text.lines().map(|line| match line.starts_with(plugin.slot) {
        true => format!("{}{json}\n", plugin.slot),
        false => format!("{line}\n"),
    });
    lines.collect()
}

pub fn is_ours(text: &str) -> bool {
    text.lines().next().is_some_and(|line| line.contains(MARK))
}

/// The settings in an installed plugin file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Installed {
    pub thru: String,
    pub version: String,
}

/// Returns the settings of an installed file; `None` if the file is not ours or somebody has changed the line.
pub fn installed(plugin: &Plugin, text: &str) -> Option<Installed> {
    let json = text.lines().find_map(|line| line.strip_prefix(plugin.slot)).filter(|_| is_ours(text))?;
    serde_json::from_str(json).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{HARNESSES, Install};

    #[test]
    fn a_plugin_says_who_wrote_it_and_with_what() {
        for harness in HARNESSES {
            let Install::Plugin(plugin) = &harness.install else { continue };
            assert_eq!(plugin.text.lines().filter(|line| line.starts_with(plugin.slot)).count(), 1);
            assert!(plugin.text.lines().count() < 400, "{}: a shim is short", harness.name);
            let text = text(harness, plugin, "/a b/\"thru\"", "1.2.3", 60);
            assert!(is_ours(&text) && !is_ours("// mine\n"));
            let expected = Installed { thru: "/a b/\"thru\"".into(), version: "1.2.3".into() };
            assert_eq!(installed(plugin, &text), Some(expected));
            assert_eq!(installed(plugin, &text.replacen("Written", "written", 1)), None);
            assert_eq!(text.lines().count(), plugin.text.lines().count());
            let imports = text.lines().filter(|line| line.starts_with("import "));
            assert!(imports.clone().count() > 0 && imports.into_iter().all(|line| line.contains("\"node:")));
        }
    }
}
