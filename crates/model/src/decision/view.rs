//! `context.md` shows decisions, patterns and activity to people. It is written but never read back.

use super::{Decision, DecisionKind, DecisionStanding, DecisionState};
use crate::render::one_line;
use crate::text::{count_with_noun, fnv_fingerprint};

#[derive(Clone, Copy, Debug)]
pub struct ContextViewContents<'a> {
    pub title: &'a str,
    /// All decisions, oldest first.
    pub decisions: &'a [DecisionStanding],
    /// Whether `decisions` includes the oldest decision of the log.
    pub is_complete: bool,
    pub activity: &'a [SessionActivity],
    pub at: &'a str,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionActivity {
    pub session: String,
    pub harness: String,
    pub last_at: String,
    pub calls: u64,
    pub edited_files: usize,
    pub failing: usize,
    pub about: String,
}

/// The maximum number of decisions in force that a section lists. The others are only counted.
const MAX_DECISIONS_LISTED: usize = 200;

/// The maximum number of decisions that are listed although they are no longer in force. The others are only counted.
const MAX_SUPERSEDED_LISTED: usize = 40;

const CONTEXT_VIEW_HEADER: &str = "<!-- Written by thru (";
const CONTEXT_VIEW_HEADER_END: &str = ") from decisions.jsonl and the journals. What you write here is not read: `thru decide` adds a \
                          decision, `thru decisions supersede` replaces one. -->";

/// Returns the whole file. Its first line contains a fingerprint of the other lines, so that an edit by hand is
/// recognised.
pub fn render_context_view(contents: &ContextViewContents) -> String {
    let body = render_context_view_body(contents);
    format!("{CONTEXT_VIEW_HEADER}{}{CONTEXT_VIEW_HEADER_END}\n{body}", body_hash(&body))
}

/// Returns whether nobody has edited the file since it was written.
pub fn is_context_view_unedited(text: &str) -> bool {
    let Some((first, body)) = text.split_once('\n') else { return false };
    let written =
        first.strip_prefix(CONTEXT_VIEW_HEADER).and_then(|rest| rest.strip_suffix(CONTEXT_VIEW_HEADER_END));
    written == Some(body_hash(body).as_str())
}

fn body_hash(body: &str) -> String {
    format!("{:016x}", fnv_fingerprint([body]))
}

fn render_context_view_body(contents: &ContextViewContents) -> String {
    let mut out = format!("# Context: {}\n\nAs of {}.\n", one_line(contents.title, 200), contents.at);
    let newest = || contents.decisions.iter().rev();
    let current = |kind: DecisionKind| {
        newest().filter(move |one| one.state == DecisionState::Current && one.decision.kind == kind)
    };
    for (title, kind) in [("Decisions", DecisionKind::Decision), ("Patterns", DecisionKind::Pattern)] {
        let lines: Vec<String> =
            current(kind).take(MAX_DECISIONS_LISTED).map(|one| decision_line(&one.decision)).collect();
        let more = current(kind).count() - lines.len();
        push_section(&mut out, title, &lines, (more, contents.is_complete));
    }
    let over = || newest().filter(|one| one.state != DecisionState::Current);
    let lines: Vec<String> = over().take(MAX_SUPERSEDED_LISTED).map(line_not_in_force).collect();
    let more = over().count() - lines.len();
    push_section(&mut out, "No longer in force", &lines, (more, contents.is_complete));
    if !contents.activity.is_empty() {
        out.push_str(
            "\n## Activity\n\n| Session | Harness | Last active | Calls | Edited | Failing | About |\n",
        );
        out.push_str("|---|---|---|---|---|---|---|\n");
        for SessionActivity { session, harness, last_at, calls, edited_files, failing, about } in
            contents.activity
        {
            let [session, harness, last_at, about] =
                [(session, 40), (harness, 40), (last_at, 40), (about, 160)]
                    .map(|(text, most)| one_line(text, most).replace('|', "\\|"));
            out.push_str(&format!(
                "| {session} | {harness} | {last_at} | {calls} | {edited_files} | {failing} | {about} |\n"
            ));
        }
    }
    out
}

fn push_section(out: &mut String, title: &str, lines: &[String], (more, is_all): (usize, bool)) {
    if lines.is_empty() {
        return;
    }
    out.push_str(&format!("\n## {title}\n\n"));
    lines.iter().for_each(|line| out.push_str(line));
    if more > 0 {
        let or_more = if is_all { "" } else { " or more" };
        out.push_str(&format!(
            "- and {}{or_more}: `thru decisions list --all -n 0`\n",
            count_with_noun(more, "older one")
        ));
    }
}

fn decision_line(decision: &Decision) -> String {
    let Decision { id, ts, text, why, author, task, phase, expires_at, .. } = decision;
    let date = ts.get(..10).unwrap_or(ts);
    let mut about = format!("{}, {}, {}", one_line(id, 40), one_line(date, 20), one_line(author, 40));
    match (task.is_empty(), phase) {
        (false, _) => about.push_str(&format!(", task {}", one_line(task, 64))),
        (true, Some(phase)) => about.push_str(&format!(", phase {phase}")),
        (true, None) => {}
    }
    if !expires_at.is_empty() {
        about.push_str(&format!(", until {}", one_line(expires_at, 40)));
    }
    let why = if why.is_empty() { String::new() } else { format!(", because {}", one_line(why, 2_000)) };
    format!("- {}{why} ({about})\n", one_line(text, 4_000))
}

fn line_not_in_force(one: &DecisionStanding) -> String {
    let how = match one.state {
        DecisionState::Current => String::new(),
        DecisionState::Superseded => format!("superseded by {}", one_line(&one.superseded_by, 40)),
        DecisionState::Withdrawn if one.withdrawn_because.is_empty() => "withdrawn".to_owned(),
        DecisionState::Withdrawn => format!("withdrawn: {}", one_line(&one.withdrawn_because, 200)),
        DecisionState::Expired => format!("expired {}", one_line(&one.decision.expires_at, 40)),
    };
    format!("- {} ({}, {how})\n", one_line(&one.decision.text, 300), one_line(&one.decision.id, 40))
}
