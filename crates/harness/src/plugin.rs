//! Fills in the one line of our plugin that differs between installations, and reads this line from an installed file.

use serde::{Deserialize, Serialize};

use crate::commands::{self, PluginCommand};
use crate::{Harness, Plugin};

/// The values that an installation writes to the plugin.
#[derive(Debug, Serialize)]
struct PluginSettings<'a> {
    #[serde(rename = "thru")]
    thru_path: &'a str,
    version: &'a str,
    /// How many seconds the validators of a loop may take.
    #[serde(rename = "patience")]
    validator_timeout_s: u32,
    commands: Vec<PluginCommand>,
}

/// A part of the plugin file's first line. It is the same in every version.
const PLUGIN_MARK: &str = "Written by `thru install ";

/// Returns the plugin file for an installation that runs `program`.
pub fn plugin_file_text(
    harness: &Harness,
    plugin: &Plugin,
    program: &str,
    version: &str,
    validator_timeout_s: u32,
) -> String {
    let commands = commands::plugin_commands(harness, &crate::settings::quote_shell_word(program));
    let settings = PluginSettings { thru_path: program, version, validator_timeout_s, commands };
    // The fields contain only strings and numbers, so serialising cannot fail.
    let json = serde_json::to_string(&settings).unwrap_or_default();
    let lines = plugin.file_text.lines().map(|line| match line.starts_with(plugin.settings_line_start) {
        true => format!("{}{json}\n", plugin.settings_line_start),
        false => format!("{line}\n"),
    });
    lines.collect()
}

pub fn is_our_plugin(text: &str) -> bool {
    text.lines().next().is_some_and(|line| line.contains(PLUGIN_MARK))
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct InstalledPlugin {
    #[serde(rename = "thru")]
    pub thru_path: String,
    pub version: String,
}

/// Returns the settings in an installed plugin file. Returns `None` if the file is not ours or somebody has changed the
/// settings line.
pub fn parse_installed_plugin(plugin: &Plugin, text: &str) -> Option<InstalledPlugin> {
    let json = text
        .lines()
        .find_map(|line| line.strip_prefix(plugin.settings_line_start))
        .filter(|_| is_our_plugin(text))?;
    serde_json::from_str(json).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{HARNESSES, InstallMethod};

    #[test]
    fn a_plugin_says_who_wrote_it_and_with_what() {
        for harness in HARNESSES {
            let InstallMethod::Plugin(plugin) = &harness.install else { continue };
            assert_eq!(
                plugin.file_text.lines().filter(|line| line.starts_with(plugin.settings_line_start)).count(),
                1
            );
            assert!(plugin.file_text.lines().count() < 400, "{}: a shim is short", harness.name);
            let text = plugin_file_text(harness, plugin, "/a b/\"thru\"", "1.2.3", 60);
            assert!(is_our_plugin(&text) && !is_our_plugin("// mine\n"));
            let expected = InstalledPlugin { thru_path: "/a b/\"thru\"".into(), version: "1.2.3".into() };
            assert_eq!(parse_installed_plugin(plugin, &text), Some(expected));
            assert_eq!(parse_installed_plugin(plugin, &text.replacen("Written", "written", 1)), None);
            assert_eq!(text.lines().count(), plugin.file_text.lines().count());
            let imports = text.lines().filter(|line| line.starts_with("import "));
            assert!(imports.clone().count() > 0 && imports.into_iter().all(|line| line.contains("\"node:")));
        }
    }
}
