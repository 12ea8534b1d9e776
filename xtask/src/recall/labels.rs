//! Failing calls that a person has read and labelled. A label records whether the failure was still open at a
//! compaction.

use std::collections::BTreeMap;

use anyhow::{Result, bail};

use super::cut::{RecallSession, SessionCut, SessionCutKind, collapse_white_space};

/// The labels. Comments in the file explain its columns and labels.
const FAILURE_LABELS_TSV: &str = include_str!("labels.tsv");

/// The labelled calls, by session and compaction (counted from 0).
pub type Labels = BTreeMap<(String, usize), Vec<(String, FailureLabel)>>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureLabel {
    Open,
    /// The same check failed again later, and that later failure is open.
    RepeatedLater,
    Closed,
}

pub fn built_in_failure_labels() -> Result<Labels> {
    parse_labels(FAILURE_LABELS_TSV)
}

pub fn parse_labels(text: &str) -> Result<Labels> {
    let mut labels = Labels::new();
    for (number, line) in (1..).zip(text.lines()) {
        if line.starts_with('#') || line.trim().is_empty() {
            continue;
        }
        let fields: Vec<&str> = line.split('\t').collect();
        let [session, compaction, call, label] = fields[..] else {
            bail!("labels.tsv:{number}: {} columns instead of four", fields.len());
        };
        let Some(compaction) = compaction.parse::<usize>().ok().and_then(|n| n.checked_sub(1)) else {
            bail!("labels.tsv:{number}: `{compaction}` is not the number of a compaction");
        };
        let label = match label {
            "open" => FailureLabel::Open,
            "earlier" => FailureLabel::RepeatedLater,
            "closed" => FailureLabel::Closed,
            other => bail!("labels.tsv:{number}: `{other}` is none of open, earlier, closed"),
        };
        labels.entry((session.to_owned(), compaction)).or_default().push((call.to_owned(), label));
    }
    Ok(labels)
}

/// Returns the commands that were still failing at the cut. Each command is shortened by `identifying_part_of_command`.
/// Returns `None` if the session is not labelled.
pub fn open_commands_at_cut(
    labels: &Labels,
    session: &RecallSession,
    cut: &SessionCut,
) -> Option<Vec<String>> {
    let SessionCutKind::Compaction(number) = cut.kind else { return None };
    let all = labels.iter().filter(|((name, _), _)| *name == session.name);
    // If a session is labelled at all, it is labelled completely. So if a compaction has no labels, no call was
    // failing at that time.
    let mut all = all.peekable();
    all.peek()?;
    let here = all.find(|((_, n), _)| *n == number).map_or(&[][..], |(_, calls)| calls);
    let open = here.iter().filter(|(_, label)| *label == FailureLabel::Open);
    Some(
        open.filter_map(|(id, _)| {
            Some(identifying_part_of_command(session.find_call(id)?.command.as_deref()?))
        })
        .collect(),
    )
}

/// Returns the lines below the heading for failures.
pub fn lines_below_failures_heading(text: &str) -> Vec<&str> {
    let under =
        text.lines().skip_while(|line| !(line.starts_with("Failing") && line.trim_end().ends_with(':')));
    let lines = under.skip(1).take_while(|line| line.starts_with("- "));
    lines.filter(|line| !is_omission_line(line)).collect()
}

/// Returns whether the line is an omission line such as `- +3 more`.
fn is_omission_line(line: &str) -> bool {
    let words = line.trim_start_matches("- ");
    words.starts_with('+') && words[1..].starts_with(|c: char| c.is_ascii_digit())
}

/// Returns the part of a command that identifies it: without any leading `cd`, pipes or redirections.
pub fn identifying_part_of_command(command: &str) -> String {
    let mut command = command.trim();
    while let Some(rest) = command.strip_prefix("cd ").and_then(|rest| rest.split_once("&&")) {
        command = rest.1.trim();
    }
    let line = command.lines().next().unwrap_or_default();
    let end = [" 2>&1", " | ", " > ", " || ", "; echo"].iter().filter_map(|stop| line.find(stop)).min();
    collapse_white_space(&line[..end.unwrap_or(line.len())])
        .chars()
        .take(60)
        .collect::<String>()
        .trim_end()
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_labels_can_be_read() {
        let labels = built_in_failure_labels().unwrap();
        let all = || labels.values().flatten();
        assert!(
            all().any(|(_, label)| *label == FailureLabel::Open)
                && all().any(|(_, l)| *l == FailureLabel::Closed)
        );
        assert!(parse_labels("a\t0\tb\topen").is_err());
        assert!(parse_labels("a\t1\tb\tmaybe").is_err());
        assert!(parse_labels("a\t1\tb").is_err());
    }

    #[test]
    fn commands_and_lines() {
        for (command, expected) in [
            ("cd /p/q && go test ./... 2>&1 | tail -5", "go test ./..."),
            ("mise run lint", "mise run lint"),
            ("make  test || true", "make test"),
        ] {
            assert_eq!(identifying_part_of_command(command), expected);
        }
        let text = "Head\nChecks:\n- a\nFailing:\n- `make`: no\n- +2 more\nFiles:\n- x";
        assert_eq!(lines_below_failures_heading(text), ["- `make`: no"]);
        assert!(lines_below_failures_heading("Files:\n- x").is_empty());
    }
}
