//! The status line of a harness, and the input of the program that prints this line.

use std::borrow::Cow;

use crate::fields::JsonFields;

#[derive(Clone, Copy, Debug)]
pub struct StatusLineSupport {
    /// The settings key of the status line. Its value is an object with `type` and `command`.
    pub settings_key: &'static str,
    /// Parses the input that the harness passes to a status line program. Returns `None` if the input has another
    /// format.
    pub read_input: for<'a> fn(&'a [u8]) -> Option<SessionStatus<'a>>,
}

/// What a harness reports about a session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionStatus<'a> {
    pub session: Cow<'a, str>,
    /// The folder in which the session started.
    pub project: Option<Cow<'a, str>>,
    /// The folder in which the session is now.
    pub cwd: Option<Cow<'a, str>>,
    /// How much of the context window is in use, in percent.
    pub window_percent: Option<u64>,
}

/// Reads Claude Code's format.
pub fn parse_session_status(payload: &[u8]) -> Option<SessionStatus<'_>> {
    let (fields, problem) = JsonFields::parse(payload);
    let session = fields.text("session_id").filter(|_| problem.is_none())?;
    let (workspace, window) = (fields.object("workspace"), fields.object("context_window"));
    let used = window.object("current_usage");
    let tokens = ["input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"]
        .into_iter()
        .filter_map(|name| used.number(name))
        .reduce(u64::saturating_add);
    // Older versions report only token counts.
    let counted =
        || Some(tokens?.saturating_mul(100) / window.number("context_window_size").filter(|n| *n > 0)?);
    Some(SessionStatus {
        session,
        project: workspace.text("project_dir"),
        cwd: workspace.text("current_dir").or_else(|| fields.text("cwd")),
        window_percent: window.number("used_percentage").or_else(counted).filter(|percent| *percent <= 100),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fields_of_a_status_payload_are_read() {
        let percent = |window: &str| {
            let json = format!(r#"{{"session_id":"s1","context_window":{window}}}"#);
            parse_session_status(json.as_bytes()).unwrap().window_percent
        };
        assert_eq!(percent(r#"{"used_percentage":15}"#), Some(15));
        let figures = r#"{"used_percentage":null,"context_window_size":1000,"current_usage":{"input_tokens":100,"cache_read_input_tokens":60}}"#;
        assert_eq!(percent(figures), Some(16));
        assert_eq!(percent(r#"{"used_percentage":null,"current_usage":null}"#), None);
        assert_eq!(percent(r#"{"context_window_size":0,"current_usage":{"input_tokens":1}}"#), None);
        for nonsense in ["1e400", "101", "-5", "99999999999", "\"42\"", "[1]"] {
            assert_eq!(percent(&format!(r#"{{"used_percentage":{nonsense}}}"#)), None, "{nonsense}");
        }
        let nonsense = r#"{"context_window_size":1,"current_usage":{"input_tokens":18446744073709551615}}"#;
        assert_eq!(percent(nonsense), None);
        for garbage in ["", "{", "[]", "null", "{\"session_id\":7}", "{}", "\u{0}"] {
            assert_eq!(parse_session_status(garbage.as_bytes()), None, "{garbage:?}");
        }
    }
}
