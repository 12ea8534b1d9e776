use std::os::unix::fs::symlink;

use model::gate::OutputEnding;

use super::*;

fn temp_run() -> (tempfile::TempDir, RunFolder) {
    let temp = tempfile::tempdir().unwrap();
    std::fs::create_dir(temp.path().join("r")).unwrap();
    let run = RunFolder::open(temp.path(), "r").unwrap();
    (temp, run)
}

#[test]
fn each_kind_of_output_is_recognised_and_links_are_not_followed() {
    let (_temp, run) = temp_run();
    let put = |name: &str, text: &[u8]| std::fs::write(run.path().join(name), text).unwrap();
    put("whole.md", b"x\n<!-- AGENT_COMPLETE -->\n");
    put("large.md", &vec![b'x'; 6 * 1024 * 1024]);
    symlink("whole.md", run.path().join("link.md")).unwrap();
    symlink("nowhere", run.path().join("dangling.md")).unwrap();
    std::fs::create_dir(run.path().join("folder.md")).unwrap();
    assert_eq!(run.examine_output("none.md", OutputReadDepth::Whole).unwrap(), FoundOutput::Missing);
    assert!(matches!(
        run.examine_output("whole.md", OutputReadDepth::Whole).unwrap(),
        FoundOutput::File { ending: OutputEnding::Sealed, .. }
    ));
    for odd in ["large.md", "link.md", "dangling.md", "folder.md", "../r/whole.md"] {
        assert!(
            matches!(run.examine_output(odd, OutputReadDepth::Whole).unwrap(), FoundOutput::Unopenable(_)),
            "{odd}: {:?}",
            run.examine_output(odd, OutputReadDepth::Whole)
        );
    }
}

#[test]
fn a_digest_changes_with_any_input() {
    let (temp, _run) = temp_run();
    let write = |name: &str, text: &[u8]| std::fs::write(temp.path().join(name), text).unwrap();
    let digest = |inputs: &[&str]| {
        inputs_digest(temp.path(), &inputs.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>()).unwrap()
    };
    assert_eq!(digest(&[]), "");
    let absent = digest(&["a"]);
    write("a", b"1");
    let first = digest(&["a"]);
    assert_ne!(absent, first);
    write("a", b"2");
    assert_ne!(digest(&["a"]), first);
    write("a", b"1");
    assert_eq!(digest(&["a"]), first, "the content counts, not when it was written");
    assert_eq!(digest(&["./a"]), first);
    let outside = || inputs_digest(&temp.path().join("r"), &["../a".to_owned()]).unwrap();
    let before = outside();
    write("a", b"3");
    assert_eq!(outside(), before, "what is outside is not opened");
    write("large", &vec![1; 2 * 1024 * 1024]);
    let large = digest(&["large"]);
    write("large", &vec![1; 2 * 1024 * 1024 + 1]);
    assert_ne!(digest(&["large"]), large);
}

#[test]
fn a_file_is_held_by_whoever_inherited_it() {
    let (_temp, run) = temp_run();
    run.write_file("p", "prompt", Durability::Relaxed).unwrap();
    let held = run.open_with_inherited_lock("p").unwrap().unwrap();
    let mut child = std::process::Command::new("sleep").arg("60").stdin(held).spawn().unwrap();
    assert!(run.open_with_inherited_lock("p").unwrap().is_none(), "the child has it");
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(run.open_with_inherited_lock("p").unwrap().is_some());
}

#[test]
fn a_file_renamed_aside_is_not_overwritten() {
    let (_temp, run) = temp_run();
    assert_eq!(run.rename_aside("a.md", "old").unwrap(), None);
    for text in ["1", "2"] {
        run.write_file("a.md", text, Durability::Relaxed).unwrap();
        run.rename_aside("a.md", "old").unwrap();
    }
    symlink("nowhere", run.path().join("a.md")).unwrap();
    assert_eq!(run.rename_aside("a.md", "old").unwrap().as_deref(), Some("a.md.old-3"));
    let read = |name: &str| std::fs::read_to_string(run.path().join(name)).unwrap();
    assert_eq!((read("a.md.old"), read("a.md.old-2")), ("1".to_owned(), "2".to_owned()));
}
