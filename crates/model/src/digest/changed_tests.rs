use super::*;
use crate::event::FileAction;

#[test]
fn a_file_with_only_a_new_time_is_not_called_edited() {
    let file =
        |path: &str, edited_at: u64| FileUse { path: path.into(), edits: 1, edited_at, ..FileUse::default() };
    let on_disk = |path: &str, record: u64| crate::digest::ChangeOnDisk {
        path: path.into(),
        record,
        ..crate::digest::ChangeOnDisk::default()
    };
    let digest = Digest {
        files: vec![file("a.py", 5), file("b.py", 2)],
        changes_on_disk: vec![on_disk("a.py", 4), on_disk("b.py", 4)],
        ..Digest::new("s1")
    };
    for (record, edited, maybe_changed) in
        [(1, &["a.py", "b.py"][..], &[][..]), (3, &["a.py"], &["b.py"]), (4, &["a.py"], &[]), (5, &[], &[])]
    {
        let found = digest.changes_after_check(record);
        assert_eq!(
            (found.edited, found.maybe_changed),
            (
                edited.iter().map(|p| (*p).to_owned()).collect(),
                maybe_changed.iter().map(|p| (*p).to_owned()).collect()
            ),
            "{record}"
        );
    }
}

fn fold_call(digest: &mut Digest, command: &'static str, ok: bool, files: &[(&str, FileAction)]) {
    let id = format!("t{}", digest.record_count);
    let guess = !command.is_empty();
    let file = |(path, action): &(&str, FileAction)| RecordedFile {
        guess,
        ..RecordedFile::new((*path).to_owned(), *action)
    };
    digest.fold_record(&JournalRecord {
        event: "tool-done".into(),
        tool: if guess { "Bash" } else { "Edit" }.into(),
        id: id.into(),
        worktree: "/p".into(),
        command: command.into(),
        ok: Some(ok),
        files: files.iter().map(file).collect(),
        ..JournalRecord::default()
    });
}

#[test]
fn files_changed_by_tools_and_by_commands() {
    use FileAction::{Delete, Edit, Read};
    let mut digest = Digest::new("s");
    fold_call(&mut digest, "", true, &[("a.rs", Edit)]);
    let start = digest.record_count;
    // This call only reads a file that was edited before `start`.
    fold_call(&mut digest, "", true, &[("a.rs", Read)]);
    fold_call(&mut digest, "cargo test", true, &[]);
    assert_eq!(digest.files_changed_since(start), ChangedFiles::default());
    fold_call(&mut digest, "sed -i s/1/2/ b.rs", true, &[("b.rs", Edit)]);
    fold_call(&mut digest, "rm c.rs", true, &[("c.rs", Delete)]);
    fold_call(&mut digest, "rm d.rs", false, &[("d.rs", Delete)]);
    let changed = ChangedFiles { paths: vec!["b.rs", "c.rs"], may_be_more: false };
    assert_eq!(digest.files_changed_since(start), changed);
    assert_eq!(digest.files_changed_after_check(start), ["c.rs", "b.rs"]);
    fold_call(&mut digest, "cargo build > build.log", true, &[("build.log", Edit)]);
    assert_eq!(digest.files_changed_after_check(start), ["c.rs", "b.rs"], "a log changes no result");
    let then = digest.record_count;
    fold_call(&mut digest, "python3 gen.py", true, &[("gen.py", FileAction::Mention)]);
    assert_eq!(digest.files_changed_since(then), ChangedFiles { paths: vec![], may_be_more: true });
    assert!(digest.files_changed_since(start).may_be_more);
}

#[test]
fn a_failed_line_changed_the_files_of_its_first_parts() {
    use FileAction::{Delete, Edit};
    let mut digest = Digest::new("s");
    let start = digest.record_count;
    fold_call(
        &mut digest,
        "rm old.js; cat >> web/a.js <<'E'\nx\nE\nnpm test",
        false,
        &[("old.js", Delete), ("web/a.js", Edit)],
    );
    fold_call(&mut digest, "sed -i s/1/2/ b.js", false, &[("b.js", Edit)]);
    fold_call(&mut digest, "rm c.js", false, &[("c.js", Delete)]);
    let changed = digest.files_changed_since(start).paths;
    assert_eq!(changed, ["old.js", "web/a.js"]);
    let deleted: Vec<&str> =
        digest.files.iter().filter(|file| file.deleted).map(|file| file.path.as_str()).collect();
    assert_eq!(deleted, ["old.js"]);
}

#[test]
fn which_files_count_as_edited_by_commands() {
    use FileAction::{Edit, Read};
    for (path, is_read_before, is_edited) in [
        ("README.md", true, true),
        ("README.md", false, true),
        ("Makefile", true, true),
        ("Makefile", false, false),
        ("package.json", true, true),
        ("src/a.rs", false, true),
        ("test.log", true, false),
        ("result.txt", false, false),
    ] {
        let mut digest = Digest::new("s");
        if is_read_before {
            fold_call(&mut digest, "", true, &[(path, Read)]);
        }
        fold_call(&mut digest, "sed -i s/a/b/ FILE", true, &[(path, Edit)]);
        assert_eq!(digest.files[0].is_edited(), is_edited, "{path}, read before: {is_read_before}");
        fold_call(&mut digest, "git commit -qam Two", true, &[]);
        assert_eq!(digest.files[0].is_edited(), is_edited, "{path}, committed");
    }
}

#[test]
fn files_written_by_commands_that_look_like_source_text() {
    for (path, expected) in [
        ("src/cart.js", true),
        ("scripts/release.sh", true),
        ("docs/notes.md", true),
        ("config/app.yaml", true),
        ("test.log", false),
        ("result.txt", false),
        ("data.json", false),
        ("cart.py.bak", false),
        ("dist/all.js", false),
        ("tmp/try.py", false),
        ("Makefile", false),
    ] {
        assert_eq!(looks_like_committable_text(path), expected, "{path}");
    }
}

#[test]
fn which_files_are_documentation() {
    for (path, expected) in [
        ("CLAUDE.md", true),
        ("docs/guide.rst", true),
        ("NOTES.txt", true),
        ("src/a.rs", false),
        ("CMakeLists.txt", false),
        ("app/requirements-dev.txt", false),
        ("md", false),
    ] {
        assert_eq!(is_documentation(path), expected, "{path}");
    }
}
