//! Checks that all data from before a command still exists. The rules depend on the file: logs only grow, root.json
//! keeps its keys, a trust record keeps its roots, and all other files keep their bytes.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::Value;

use super::roles::{ROLE_FILE_TEXT, ROLE_PATH};
use super::snapshot::Snapshot;

/// What the command under test may remove.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AllowedRemoval {
    Nothing,
    /// The trust in the sandbox's own project, which the command under test revokes.
    Trust,
    /// No record. The command changes only a harness's settings, which `settings::judge_settings_files` checks.
    Settings,
    /// The invalid text in a context file. The command fixes it.
    ContextFileError,
    /// The role of a session.
    Role,
    /// A manifest that a migration created. The command under test restores the original file in its place.
    Manifest,
}

/// Returns all problems as sentences. Paths are relative to the sandbox.
pub fn find_losses(before: &Snapshot, after: &Snapshot, takes: AllowedRemoval) -> Vec<String> {
    let mut wrong = Vec::new();
    let elsewhere = |path: &Path| takes == AllowedRemoval::Settings && is_settings_path(path);
    for (path, old) in before.files().filter(|(path, _)| !elsewhere(path)) {
        let Some(new) = after.file_bytes(path) else {
            // These files may be missing: a pending brief is removed once it has been sent, and digests and cursors can
            // be rebuilt.
            let passing =
                [PENDING_PATH, DIGESTS_PATH, CURSORS_PATH].iter().any(|folder| path.starts_with(folder));
            let kept = path.starts_with(WORKSTREAMS_PATH) && is_moved_by_migration(path, old, after, takes);
            let unbound = takes == AllowedRemoval::Role && path.starts_with(ROLES_PATH);
            // When a loop is cancelled, the record of the user's consent to it is removed.
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let withdrawn = path.starts_with("state/throughline/consent") && name.starts_with("loop-");
            if !is_log_rotated(path, old, after) && !passing && !kept && !unbound && !withdrawn {
                wrong.push(format!("{} is gone", path.display()));
            }
            continue;
        };
        if is_log_rotated(path, old, after) {
            continue;
        }
        if old != new {
            wrong.extend(
                find_loss_in_change(path, old, new, takes).map(|what| format!("{}: {what}", path.display())),
            );
        }
    }
    for (path, bytes) in after.files().filter(|(path, _)| has_extension(path, "jsonl")) {
        // A command may leave one torn line, in addition to lines that were already torn.
        let allowed = 1 + before.file_bytes(path).map_or(0, count_torn_lines);
        let torn = count_torn_lines(bytes);
        if torn > allowed {
            wrong.push(format!("{}: {torn} lines cannot be read", path.display()));
        }
    }
    let strangers = after.entries.keys().filter(|path| {
        !before.entries.contains_key(*path) && !is_store_or_state_path(path) && !elsewhere(path)
    });
    wrong.extend(strangers.map(|path| format!("{} was made outside the store", path.display())));
    wrong
}

/// Returns whether a migration or a rollback may have moved the file. Both keep the original next to the manifest.
fn is_moved_by_migration(path: &Path, old: &[u8], after: &Snapshot, takes: AllowedRemoval) -> bool {
    let mut backup = path.as_os_str().to_owned();
    backup.push(".backup");
    let original = path.with_extension("");
    let is_backup = has_extension(path, "backup");
    after.file_bytes(Path::new(&backup)) == Some(old)
        || is_backup && after.file_bytes(&original) == Some(old)
        || takes == AllowedRemoval::Manifest && path.ends_with("resume-context.md")
}

/// Returns whether the whole log was renamed to `name~0001.jsonl`, because it was full.
fn is_log_rotated(path: &Path, old: &[u8], after: &Snapshot) -> bool {
    let Some(stem) = path.to_str().and_then(|path| path.strip_suffix(".jsonl")) else { return false };
    let prefix = format!("{stem}~");
    after.files().any(|(path, bytes)| path.to_string_lossy().starts_with(&prefix) && bytes.starts_with(old))
}

fn find_loss_in_change(path: &Path, old: &[u8], new: &[u8], takes: AllowedRemoval) -> Option<String> {
    if !is_store_or_state_path(path) {
        return Some("has changed, and is none of ours".into());
    }
    if has_extension(path, "jsonl") {
        return (!new.starts_with(old)).then(|| "lines that were there have changed".to_owned());
    }
    if path.ends_with(".agent/context/root.json") {
        let (Some(old), Some(new)) = (parse_object(old), parse_object(new)) else {
            return Some("cannot be read any more".into());
        };
        let lost = old.iter().find(|(key, value)| *key != "last_session" && new.get(*key) != Some(value));
        return lost.map(|(key, value)| {
            format!("{key} was {value} and is {}", new.get(key).unwrap_or(&Value::Null))
        });
    }
    if is_trust_record(path) {
        let (Some(old), Some(new)) = (trusted_roots(old), trusted_roots(new)) else {
            return Some("cannot be read any more".into());
        };
        let mut lost = old
            .difference(&new)
            .filter(|root| !(takes == AllowedRemoval::Trust && root.ends_with("/project")));
        return lost.next().map(|root| format!("{root} is no longer trusted"));
    }
    if path.ends_with(".agent/context/benchmarks.json") {
        return super::summaries::find_lost_benchmark_runs(old, new);
    }
    if path.ends_with(".agent/context/plan.json") {
        return super::plans::find_lost_tasks(old, new);
    }
    if path.starts_with("project/.agent/context/evidence") && path.ends_with("bundle.json") {
        return super::evidence::why_bundle_is_unreadable(new);
    }
    // These files are overwritten: the last state of the agent's list, the list of test runs that are evidence, the
    // list of answers already recorded, the run that a session works on, and the number of lost records.
    let is_written_over = ["state/plan-todos", "state/evidence", "state/answers-seen", "state/gate-run"]
        .iter()
        .any(|folder| path.starts_with(format!("project/.agent/context/{folder}")));
    if is_written_over || path.ends_with("state/reserved.json") {
        return None;
    }
    if path.ends_with(".agent/context/plan.md") || path.ends_with(".agent/context/context.md") {
        // thru generates this file from the plan or the decisions, so it may change. It must still begin with thru's
        // comment.
        return (!new.starts_with(b"<!--")).then(|| "is no longer a view".to_owned());
    }
    if path.starts_with(SENT_PATH) {
        let whole = serde_json::from_slice::<Vec<Value>>(new).is_ok_and(|briefs| !briefs.is_empty());
        return (!whole).then(|| "cannot be read any more".into());
    }
    if path.starts_with(PENDING_PATH) {
        let known = new == b"due\n" || new == b"announced\n";
        return (!known).then(|| format!("holds {:?}", String::from_utf8_lossy(new)));
    }
    if path.ends_with("expected.json") || path.ends_with("state/live.json") {
        return parse_object(new).is_none().then(|| "cannot be read any more".into());
    }
    if path.starts_with(OUTPUTS_PATH) {
        // Sealing an output appends to it.
        return (!new.starts_with(old)).then(|| "an output has changed".into());
    }
    if path.starts_with(CURSORS_PATH) {
        return parse_object(new).is_none().then(|| "cannot be read any more".into());
    }
    if takes == AllowedRemoval::ContextFileError && path.ends_with(ROLE_PATH) {
        return (new != ROLE_FILE_TEXT.as_bytes()).then(|| "is neither what it was nor mended".to_owned());
    }
    if path.starts_with(LIFECYCLES_PATH) {
        let steps = |bytes| parse_object(bytes).and_then(|state| state.get("history")?.as_array().cloned());
        return match (steps(old), steps(new)) {
            (_, None) => Some("cannot be read any more".into()),
            (Some(old), Some(new)) if !new.starts_with(&old) => {
                Some("steps that were on record have changed".into())
            }
            _ => None,
        };
    }
    if path.starts_with(DIGESTS_PATH) {
        let records = |bytes| parse_object(bytes).and_then(|digest| digest.get("records")?.as_u64());
        return match (records(old), records(new)) {
            (_, None) => Some("cannot be read any more".into()),
            (Some(old), Some(new)) if new < old => Some(format!("knew {old} records and knows {new}")),
            _ => None,
        };
    }
    if path.starts_with(WORKSTREAMS_PATH) {
        let unticked = |bytes: &[u8]| String::from_utf8_lossy(bytes).replace("[x]", "[ ]");
        let lost = match path.ends_with("resume-context.md") {
            true => !new.starts_with(b"---\n") || !contains_text(new, "files_to_load"),
            false => unticked(old) != unticked(new),
        };
        return lost.then(|| "more than its boxes has changed".into());
    }
    if path.starts_with(PACKETS_PATH) {
        // An edit replaces a line or a section. It must keep the text that a person wrote elsewhere in the packet.
        let lost = contains_text(old, HANDWRITTEN_TEXT) && !contains_text(new, HANDWRITTEN_TEXT)
            || !new.starts_with(b"---\n");
        return lost.then(|| "a person's text is gone".into());
    }
    if path.starts_with(LOOPS_PATH) {
        return find_loss_in_loop(old, new);
    }
    if path.ends_with("indexes/active-loop.json") {
        return parse_object(new).is_none().then(|| "cannot be read any more".into());
    }
    Some("has changed".into())
}

/// Text that every handwritten packet in a sandbox contains.
pub const HANDWRITTEN_TEXT: &str = "Text of a person.";

fn contains_text(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|window| window == text.as_bytes())
}

const WORKSTREAMS_PATH: &str = "project/.agent/context/workstreams";
const PACKETS_PATH: &str = "project/.agent/context/packets";

/// Returns what is wrong with a changed loop. The prompt must be the same, and the iteration number may increase by at
/// most one.
fn find_loss_in_loop(old: &[u8], new: &[u8]) -> Option<String> {
    let (old, new) = (String::from_utf8_lossy(old), String::from_utf8_lossy(new));
    let prompt = |text: &str| text.split_once("## Loop Prompt").map(|(_, prompt)| prompt.to_owned());
    let iteration = |text: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix("iteration: "))?;
        line.parse::<u64>().ok()
    };
    match (prompt(&old) == prompt(&new), iteration(&old), iteration(&new)) {
        (false, ..) => Some("its prompt has changed".into()),
        (_, Some(before), Some(after)) if after == before || after == before + 1 => None,
        (_, before, after) => Some(format!("its iteration was {before:?} and is {after:?}")),
    }
}

const LOOPS_PATH: &str = "project/.agent/context/loops";
const ROLES_PATH: &str = "project/.agent/context/state/roles";
const SENT_PATH: &str = "project/.agent/context/state/sent";
const PENDING_PATH: &str = "project/.agent/context/state/pending";
const OUTPUTS_PATH: &str = "project/.agent/context/outputs";
const CURSORS_PATH: &str = "project/.agent/context/state/cursors";
const DIGESTS_PATH: &str = "project/.agent/context/state/digest";
const LIFECYCLES_PATH: &str = "project/.agent/context/state/lifecycle";

/// Returns whether an installation writes to this path.
pub fn is_settings_path(path: &Path) -> bool {
    ["project/.claude", "home/.claude", "project/.git/info"].iter().any(|folder| path.starts_with(folder))
}

/// Returns whether the path is in the store, is the folder that contains the store, or is in our part of the user's
/// state folder.
fn is_store_or_state_path(path: &Path) -> bool {
    path.starts_with("project/.agent/context")
        || path == Path::new("project/.agent")
        || path.starts_with("state/throughline")
}

fn is_trust_record(path: &Path) -> bool {
    path.starts_with("state/throughline/trust") && has_extension(path, "json")
}

fn has_extension(path: &Path, extension: &str) -> bool {
    path.extension().is_some_and(|found| found == extension)
}

fn parse_object(bytes: &[u8]) -> Option<serde_json::Map<String, Value>> {
    serde_json::from_slice(bytes).ok()
}

/// Returns the trusted paths of a trust record.
pub fn trusted_roots(bytes: &[u8]) -> Option<BTreeSet<String>> {
    let record = parse_object(bytes)?;
    let roots = record.get("roots")?.as_array()?;
    Some(roots.iter().filter_map(|root| root["path"].as_str().map(str::to_owned)).collect())
}

/// Returns the number of lines that are neither empty nor a JSON object.
pub fn count_torn_lines(log: &[u8]) -> usize {
    log.split(|&byte| byte == b'\n').filter(|line| !line.is_empty() && parse_object(line).is_none()).count()
}

#[cfg(test)]
mod tests {
    use super::super::snapshot::SnapshotEntry;
    use super::*;

    fn snapshot_of_files(files: &[(&str, &str)]) -> Snapshot {
        let file = |text: &str| SnapshotEntry::File { bytes: text.as_bytes().to_vec(), mode: 0o644 };
        Snapshot { entries: files.iter().map(|(path, text)| (path.into(), file(text))).collect() }
    }

    fn count_losses(path: &str, old: &str, new: &str, takes: AllowedRemoval) -> usize {
        find_losses(&snapshot_of_files(&[(path, old)]), &snapshot_of_files(&[(path, new)]), takes).len()
    }

    #[test]
    fn logs_only_grow_and_hold_one_torn_line_at_most() {
        let log = "project/.agent/context/sessions/s.jsonl";
        assert_eq!(count_losses(log, "{}\n", "{}\n{}\n", AllowedRemoval::Nothing), 0);
        assert_eq!(count_losses(log, "{}\n", "{}\n{\"a", AllowedRemoval::Nothing), 0);
        assert_eq!(count_losses(log, "{}\n", "{}\n{\"a\n{\"b\n", AllowedRemoval::Nothing), 1);
        assert_eq!(count_losses(log, "{}\n{}\n", "{}\n", AllowedRemoval::Nothing), 1);
    }

    #[test]
    fn a_rotated_log_is_not_a_lost_one() {
        let before = snapshot_of_files(&[("project/.agent/context/sessions/s.jsonl", "{}\n")]);
        let moved = [("project/.agent/context/sessions/s~0001.jsonl", "{}\n")];
        assert!(find_losses(&before, &snapshot_of_files(&moved), AllowedRemoval::Nothing).is_empty());
        let new = ("project/.agent/context/sessions/s.jsonl", "{\"new\":1}\n");
        assert!(
            find_losses(&before, &snapshot_of_files(&[moved[0], new]), AllowedRemoval::Nothing).is_empty()
        );
        assert_eq!(find_losses(&before, &snapshot_of_files(&[new]), AllowedRemoval::Nothing).len(), 1);
    }

    #[test]
    fn the_marker_keeps_its_keys() {
        let root = "project/.agent/context/root.json";
        let old = r#"{"project_id":"a","mine":1,"last_session":"x"}"#;
        assert_eq!(
            count_losses(
                root,
                old,
                r#"{"last_session":"y","mine":1,"project_id":"a"}"#,
                AllowedRemoval::Nothing
            ),
            0
        );
        assert_eq!(count_losses(root, old, r#"{"project_id":"b","mine":1}"#, AllowedRemoval::Nothing), 1);
        assert_eq!(count_losses(root, old, r#"{"project_id":"a"}"#, AllowedRemoval::Nothing), 1);
        assert_eq!(count_losses(root, old, "", AllowedRemoval::Nothing), 1);
    }

    #[test]
    fn only_a_revocation_takes_trust_away() {
        let trust = "state/throughline/trust/a.json";
        let old = r#"{"roots":[{"path":"/x/project"},{"path":"/else"}]}"#;
        let new = r#"{"roots":[{"path":"/else"}]}"#;
        assert_eq!(count_losses(trust, old, new, AllowedRemoval::Trust), 0);
        assert_eq!(count_losses(trust, old, new, AllowedRemoval::Nothing), 1);
        assert_eq!(count_losses(trust, old, r#"{"roots":[]}"#, AllowedRemoval::Trust), 1);
    }

    #[test]
    fn a_digest_forgets_nothing_and_a_brief_may_be_given() {
        let digest = "project/.agent/context/state/digest/s.json";
        assert_eq!(count_losses(digest, r#"{"records":3}"#, r#"{"records":4}"#, AllowedRemoval::Nothing), 0);
        assert_eq!(count_losses(digest, r#"{"records":3}"#, r#"{"records":2}"#, AllowedRemoval::Nothing), 1);
        assert_eq!(count_losses(digest, r#"{"records":3}"#, r#"{"rec"#, AllowedRemoval::Nothing), 1);
        let pending = snapshot_of_files(&[("project/.agent/context/state/pending/s", "due\n")]);
        assert!(find_losses(&pending, &Snapshot::default(), AllowedRemoval::Nothing).is_empty());
        let gone =
            find_losses(&snapshot_of_files(&[(digest, "{}")]), &Snapshot::default(), AllowedRemoval::Nothing);
        assert!(gone.is_empty(), "it is made again from the journal");
    }

    #[test]
    fn a_lifecycle_only_gains_steps() {
        let state = "project/.agent/context/state/lifecycle/tester.json";
        let old = r#"{"history":[{"to":"saving"}]}"#;
        let longer = r#"{"history":[{"to":"saving"},{"to":"saved"}]}"#;
        assert_eq!(count_losses(state, old, longer, AllowedRemoval::Nothing), 0);
        assert_eq!(count_losses(state, longer, old, AllowedRemoval::Nothing), 1);
        assert_eq!(count_losses(state, old, r#"{"history":[{"to":"#, AllowedRemoval::Nothing), 1);
    }

    #[test]
    fn a_loop_record_is_the_old_or_the_new_one() {
        let path = "project/.agent/context/loops/l.md";
        let at = |n: u8| format!("---\nid: l\niteration: {n}\n---\n\n## Loop Prompt\n\nwork\n");
        assert_eq!(count_losses(path, &at(1), &at(2), AllowedRemoval::Nothing), 0);
        assert_eq!(count_losses(path, &at(1), &at(3), AllowedRemoval::Nothing), 1);
        assert_eq!(count_losses(path, &at(1), &at(2).replace("work", ""), AllowedRemoval::Nothing), 1);
        assert_eq!(count_losses(path, &at(1), "", AllowedRemoval::Nothing), 1);
    }

    #[test]
    fn files_created_in_other_folders_are_reported() {
        let after = snapshot_of_files(&[("home/x", ""), ("project/.agent/context/indexes/x.jsonl", "")]);
        assert_eq!(
            find_losses(&Snapshot::default(), &after, AllowedRemoval::Nothing),
            ["home/x was made outside the store"]
        );
    }
}
