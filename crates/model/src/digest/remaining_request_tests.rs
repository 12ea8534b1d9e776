use super::*;
use crate::digest::FileUse;

const PLAN_TEXT: &str = "Implement the following plan:\n# Plan: keep comments\n## Context\nThe reader in reader.py drops \
                    comments.\n### 1. `src/reader.py`\n- keep them in `skip()`\n```py\n# in writer.py too\n```\n### 2. \
                    `src/writer.py` and `reader.py`\n- write them\n### 3. Create `src/notes.py`\n- e.g. with \
                    os.Exit\n### 4. The command line\n- a switch\n## Verification\n`make test` with reader_test.py\n";

fn session_with_edits(files: &[(&str, u64)]) -> Digest {
    let mut digest = Digest::new("s");
    let used = |(path, edited_at): &(&str, u64)| FileUse {
        path: (*path).to_owned(),
        edits: u32::from(*edited_at > 0),
        edited_at: *edited_at,
        ..FileUse::default()
    };
    digest.files = files.iter().map(used).collect();
    digest
}

#[test]
fn sections_whose_files_were_edited_are_reduced_to_their_headings() {
    let plan = format!("{PLAN_TEXT}{}", "A last remark. ".repeat(80));
    let headings = |digest: &Digest| {
        let left = digest.remaining_sections(&plan, 10).into_owned();
        let done = left
            .lines()
            .filter(|line| line.ends_with(FINISHED_SECTION_NOTE))
            .map(|line| line[..6].to_owned());
        (done.collect::<Vec<_>>(), left)
    };
    assert_eq!(session_with_edits(&[]).remaining_sections(&plan, 10), plan);
    assert_eq!(session_with_edits(&[("src/reader.py", 9)]).remaining_sections(&plan, 10), plan);
    // A `#` inside a code fence is not a heading, so section 1 also mentions the writer.
    let (done, _) = headings(&session_with_edits(&[("src/reader.py", 11), ("src/writer.py", 9)]));
    assert!(done.is_empty(), "{done:?}");
    // The section of the most recently edited file does not count as done, because that file may be unfinished.
    let (done, _) = headings(&session_with_edits(&[("src/reader.py", 11), ("src/writer.py", 12)]));
    assert!(done.is_empty(), "{done:?}");
    let edited = [("src/reader.py", 11), ("src/writer.py", 12), ("src/main.py", 13)];
    let (done, left) = headings(&session_with_edits(&edited));
    assert_eq!(done, ["### 1.", "### 2."]);
    for kept in ["drops comments", "notes.py", "a switch", "make test"] {
        assert!(left.contains(kept), "{kept}: {left}");
    }
    assert!(!left.contains("keep them in"), "{left}");
    assert_eq!(session_with_edits(&edited).remaining_sections(PLAN_TEXT, 10), PLAN_TEXT);
}

#[test]
fn of_complete_work_only_purpose_and_checks_are_quoted() {
    let plan = format!("{PLAN_TEXT}{}", "A last remark. ".repeat(80));
    let edited = [("src/reader.py", 11), ("src/writer.py", 12), ("src/notes.py", 12)];
    let mut digest = session_with_edits(&edited);
    let passed = serde_json::json!({
        "run": "make test", "sort": CommandKind::Test, "ended": RunResult::Passed, "at": "", "last": 13, "runs": 1,
    });
    digest.checks = vec![serde_json::from_value(passed).unwrap()];
    let left = digest.remaining_sections(&plan, 10).into_owned();
    let notes: Vec<&str> = left.lines().filter(|line| line.ends_with(NOTE_FOR_COMPLETE_SECTION)).collect();
    assert_eq!(notes.len(), 1, "{left}");
    for kept in ["drops comments", "### 3. Create", "### 4. The command line", "make test"] {
        assert!(left.contains(kept), "{kept}: {left}");
    }
    assert!(!left.contains("a switch") && !left.contains("os.Exit"), "{left}");
    // A passing check does not finish a step whose file was never edited.
    let plan_with_step = format!("{plan}\n### 5. Printer\nLet `printer.py` print the tree.\n");
    let left = digest.remaining_sections(&plan_with_step, 10);
    assert!(left.contains("print the tree") && left.contains("a switch"), "{left}");
    // One check that ran before the last edit is enough for the plan to be open.
    digest.checks[0].last_run_record = 11;
    assert!(digest.remaining_sections(&plan, 10).contains("a switch"));
}
