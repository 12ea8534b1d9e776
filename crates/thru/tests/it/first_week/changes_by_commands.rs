//! Tests that the uncommitted files of earlier sessions are listed, no matter how those sessions changed them.

use super::changes_on_disk::write_at;
use super::files_at_risk::repository_with_files;
use super::handoffs::{ask_at, edit_at, end_at, run_at, start_at, stop_at, thru_at};
use super::results_of_checks::{fail_at, read_at};
use super::*;

const INLINE_SCRIPT: &str = "python3 - <<'EOF'\np = 'src/csv.py'\ns = open(p).read()\nopen(p, 'w').write(s.replace('old', 'new'))\nEOF";

/// Returns a packet about the session `s2`. Commands ask git which files are uncommitted.
fn packet_at(env: &TestEnv, time: &str) -> String {
    packet_of_session_at(env, time, "s2")
}

fn packet_of_session_at(env: &TestEnv, time: &str, session: &str) -> String {
    let written = thru_at(env, time, session, &["handoff", "describe the delimiter", "--json"]).json();
    env.run_thru(&["packet", "show", written["id"].as_str().unwrap()]).assert_ok().stdout
}

/// Session `s1` ran a command that changed `src/csv.py`. Session `s2` edited another file. Returns what session `s3` is
/// told at its start, and a packet about `s2`.
fn told_after(command: &str, is_read: bool) -> (TestEnv, String, String) {
    let env = repository_with_files(&["src/csv.py", "README.md", "docs/a.md"]);
    for file in ["src/csv.py", "README.md", "docs/a.md"] {
        write_at(&env, "18:00:00", file, "old\n");
    }
    start_at(&env, "19:00:00", "s1");
    ask_at(&env, "19:00:01", "s1", "Rename the delimiter in src/csv.py.");
    if is_read {
        read_at(&env, "19:00:02", "s1", "src/csv.py");
    }
    write_at(&env, "19:00:03", "src/csv.py", "new\n");
    run_at(&env, "19:00:04", "s1", command, "");
    stop_at(&env, "19:00:05", "s1", "The delimiter has its new name.");
    end_at(&env, "19:00:06", "s1");
    start_at(&env, "19:01:00", "s2");
    ask_at(&env, "19:01:01", "s2", "Now describe the delimiter in the README.");
    write_at(&env, "19:01:02", "README.md", "new\n");
    edit_at(&env, "19:01:02", "s2", "README.md");
    stop_at(&env, "19:01:03", "s2", "The README describes it.");
    end_at(&env, "19:01:04", "s2");
    let told = start_at(&env, "19:02:00", "s3");
    let packet = packet_at(&env, "19:02:01");
    (env, told, packet)
}

#[test]
fn a_file_that_a_command_of_an_earlier_session_changed_is_at_risk() {
    // A hook does not run git, so it knows only the files that the session named.
    for (command, is_read, does_hook_know) in [
        ("sed -i 's/old/new/' src/csv.py", false, true),
        (INLINE_SCRIPT, true, true),
        ("ruff format .", true, true),
        ("npx prettier --write .", true, true),
        (INLINE_SCRIPT, false, false),
        ("make generate", false, false),
    ] {
        let (_env, told, packet) = told_after(command, is_read);
        let is_at_risk = |text: &str| {
            text.lines().any(|line| line.contains("by earlier sessions, not committed: src/csv.py"))
        };
        assert!(is_at_risk(&packet), "{command}: {packet}");
        assert!(is_at_risk(&told) || !does_hook_know, "{command}: {told}");
    }
}

#[test]
fn a_file_that_the_user_changed_is_not_an_earlier_sessions() {
    let (env, _, _) = told_after("ruff format .", false);
    write_at(&env, "19:03:00", "docs/a.md", "by the user\n");
    env.run_git(&["add", "src/csv.py"]);
    env.run_git(&["commit", "-qm", "Two"]);
    let packet = packet_at(&env, "19:04:00");
    assert!(!packet.contains("earlier sessions"), "{packet}");
}

/// A command also reads a file before it changes it, so both words would be true. The reader needs to know of the
/// change.
#[test]
fn a_file_that_a_command_changed_is_listed_as_edited() {
    for (command, file) in [
        ("sed -i 's/old/new/' README.md", "README.md"),
        ("sed -i 's/old/new/' Makefile", "Makefile"),
        ("perl -pi -e 's/old/new/' config.json", "config.json"),
        ("cat <<'EOF' > README.md\nnew\nEOF", "README.md"),
    ] {
        let env = repository_with_files(&[file]);
        write_at(&env, "18:00:00", file, "old\n");
        start_at(&env, "19:00:00", "s1");
        ask_at(&env, "19:00:01", "s1", "Say new instead of old.");
        read_at(&env, "19:00:02", "s1", file);
        write_at(&env, "19:00:03", file, "new\n");
        run_at(&env, "19:00:04", "s1", command, "");
        for is_committed in [false, true] {
            if is_committed {
                env.run_git(&["commit", "-qam", "Say new"]);
                let commit = "git commit -qam 'Say new'";
                run_at(&env, "19:00:05", "s1", commit, "");
            }
            stop_at(&env, "19:00:06", "s1", "It says new now.");
            let brief = thru_at(&env, "19:00:07", "s1", &["brief"]).assert_ok().stdout;
            assert!(brief.contains(&format!("edited {file}")), "{command}, {is_committed}: {brief}");
            let packet = packet_of_session_at(&env, "19:00:08", "s1");
            let listed = format!("`{file}` — edited by a command, read");
            assert!(packet.contains(&listed), "{command}, {is_committed}: {packet}");
            let files = env.run_thru(&["files"]).assert_ok().stdout;
            let line = files.lines().find(|line| line.starts_with(file)).unwrap_or_default();
            assert!(line.contains("edited by a command, read"), "{command}, {is_committed}: {files}");
        }
    }
}

/// Each of these command lines fails only in its last part. The parts before it have already run.
#[test]
fn a_file_that_a_command_changed_before_a_failing_check_is_at_risk() {
    let output = "Exit code 1\nTAP version 13\nnot ok 1 - total\n# tests 1\n# pass 0\n# fail 1";
    for (command, output) in [
        ("cat >> test/cli.test.js <<'EOF'\n\ntest('total', () => {});\nEOF\nnpm test", output),
        ("sed -i 's/old/new/' test/cli.test.js && npm test", output),
        ("printf 'x\\n' | tee -a test/cli.test.js && npm test", output),
        ("sed -i 's/old/new/' test/cli.test.js; ls missing", "Exit code 2\nls: cannot access 'missing'"),
    ] {
        let env = repository_with_files(&["src/cli.js", "test/cli.test.js"]);
        start_at(&env, "19:00:00", "s1");
        ask_at(&env, "19:00:01", "s1", "Add an option --total. Test first.");
        edit_at(&env, "19:00:02", "s1", "src/cli.js");
        write_at(&env, "19:00:02", "src/cli.js", "new\n");
        read_at(&env, "19:00:03", "s1", "test/cli.test.js");
        write_at(&env, "19:00:04", "test/cli.test.js", "new\n");
        fail_at(&env, "19:00:05", "s1", command, output);
        for words in [&["brief"][..], &["brief", "--event", "startup"]] {
            let brief = thru_at(&env, "19:00:07", "s1", words).assert_ok().stdout;
            assert!(brief.contains("- 2 files edited by "), "{command}: {brief}");
            assert!(!brief.contains("; read test/cli.test.js"), "{command}: {brief}");
        }
    }
    // Here, the editing command itself fails, so it changed nothing.
    let env = repository_with_files(&["test/cli.test.js"]);
    start_at(&env, "19:00:00", "s1");
    ask_at(&env, "19:00:01", "s1", "Say new instead of old.");
    fail_at(
        &env,
        "19:00:05",
        "s1",
        "sed -i 's/old/new' test/cli.test.js",
        "Exit code 1\nsed: unterminated `s' command",
    );
    let brief = thru_at(&env, "19:00:07", "s1", &["brief"]).assert_ok().stdout;
    assert!(!brief.contains("not committed") && !brief.contains("edited test"), "{brief}");
}

/// The packet lists every file that the session edited, with a tool or with a command.
#[test]
fn a_packet_lists_files_that_only_a_command_edited() {
    for is_task_over in [false, true] {
        let env = repository_with_files(&["tally.py", "tests/test_tally.py"]);
        for file in ["tally.py", "tests/test_tally.py"] {
            write_at(&env, "18:00:00", file, "old\n");
        }
        start_at(&env, "19:00:00", "s1");
        ask_at(&env, "19:00:01", "s1", "Say new instead of old.");
        read_at(&env, "19:00:02", "s1", "tally.py");
        write_at(&env, "19:00:03", "tally.py", "new\n");
        edit_at(&env, "19:00:03", "s1", "tally.py");
        edit_at(&env, "19:00:04", "s1", "tally.py");
        write_at(&env, "19:00:05", "tests/test_tally.py", "new\n");
        run_at(&env, "19:00:05", "s1", "sed -i 's/old/new/' tests/test_tally.py", "");
        env.run_git(&["commit", "-qam", "Say new"]);
        run_at(&env, "19:00:06", "s1", "git commit -qam 'Say new'", "");
        stop_at(&env, "19:00:07", "s1", "Both say new now.");
        if is_task_over {
            ask_at(&env, "19:00:08", "s1", "Now merge the branch into main.");
            stop_at(&env, "19:00:09", "s1", "Merged.");
        }
        let packet = packet_of_session_at(&env, "19:00:10", "s1");
        for listed in ["- `tally.py` — edited, read", "- `tests/test_tally.py` — edited by a command"] {
            assert!(packet.contains(listed), "{is_task_over}: {packet}");
        }
    }
}

#[test]
fn a_packet_counts_the_read_files_that_it_leaves_out() {
    let names: Vec<String> = (0..27).map(|n| format!("notes/part-{n}.md")).collect();
    let files: Vec<&str> = names.iter().map(String::as_str).collect();
    for (count, expected) in [(25, None), (27, Some("- +2 more, only read or named in a command"))] {
        let env = repository_with_files(&files);
        start_at(&env, "19:00:00", "s1");
        ask_at(&env, "19:00:01", "s1", "Sum up the notes.");
        for (n, file) in files[..count].iter().enumerate() {
            read_at(&env, &format!("19:00:{}", n + 10), "s1", file);
        }
        stop_at(&env, "19:00:50", "s1", "They say nothing.");
        let packet = packet_of_session_at(&env, "19:00:51", "s1");
        assert_eq!(packet.lines().find(|line| line.starts_with("- +")), expected, "{packet}");
    }
}
