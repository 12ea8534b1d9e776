use super::*;

const PROJECT_ID: &str = "0199f0a2-1111-7abc-8def-0123456789ab";

struct ConsentFixture {
    _temp: tempfile::TempDir,
    base: PathBuf,
}

impl ConsentFixture {
    fn new() -> ConsentFixture {
        let temp = tempfile::tempdir().unwrap();
        let base = temp.path().canonicalize().unwrap();
        for root in ["one", "two"] {
            std::fs::create_dir(base.join(root)).unwrap();
        }
        ConsentFixture { _temp: temp, base }
    }

    fn consents(&self, root: &str) -> Consents {
        let project = ProjectId::new(PROJECT_ID).unwrap();
        Consents::new(&self.base.join("state"), &project, &self.base.join(root))
    }
}

fn digests(names: &[&str]) -> Vec<ConsentDigest> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

#[test]
fn only_recorded_consent_counts() {
    let case = ConsentFixture::new();
    let here = case.consents("one");
    let (kind, now) = (ConsentKind::Loop, Timestamp::UNIX_EPOCH);
    let holds = |given: &Consents, kind, id: &str, names: &[&str]| {
        given.is_allowed(kind, id, &digests(names)).unwrap()
    };
    assert!(!holds(&here, kind, "l1", &["a"]));
    here.replace_digests(kind, "l1", &digests(&["a", "b"]), now).unwrap();
    assert!(holds(&here, kind, "l1", &["a"]) && holds(&here, kind, "l1", &["b", "a"]));
    assert!(!holds(&here, kind, "l1", &["a", "c"]), "all of it");
    assert!(!holds(&here, kind, "l1", &[]), "nothing is not a thing that was given");
    assert!(!holds(&here, kind, "l2", &["a"]), "another loop");
    assert!(!holds(&here, ConsentKind::StageRun, "l1", &["a"]), "another kind");
    assert!(!holds(&case.consents("two"), kind, "l1", &["a"]), "another checkout of the same project");
    here.replace_digests(kind, "l1", &digests(&["c"]), now).unwrap();
    assert!(!holds(&here, kind, "l1", &["a"]) && holds(&here, kind, "l1", &["c"]));
    here.add_digests(kind, "l1", &digests(&["d"]), now).unwrap();
    assert!(holds(&here, kind, "l1", &["c", "d"]));
    here.withdraw_consent(kind, "l1").unwrap();
    assert!(!holds(&here, kind, "l1", &["c"]));
    here.withdraw_consent(kind, "l1").unwrap();
}

#[test]
fn consent_of_a_former_path_is_moved_once() {
    let case = ConsentFixture::new();
    let (old, new) = (case.consents("one"), case.consents("two"));
    let (kind, now) = (ConsentKind::Loop, Timestamp::UNIX_EPOCH);
    old.replace_digests(kind, "same", &digests(&["a"]), now).unwrap();
    old.replace_digests(kind, "changed", &digests(&["a"]), now).unwrap();
    new.replace_digests(kind, "changed", &digests(&["b"]), now).unwrap();
    let former = |name: &str| vec![case.base.join(name).to_str().unwrap().to_owned()];
    assert_eq!(new.move_from_former_roots(&former("another"), now).unwrap(), 0);
    assert!(!new.is_allowed(kind, "same", &digests(&["a"])).unwrap());
    assert_eq!(new.move_from_former_roots(&former("one"), now).unwrap(), 1);
    assert!(new.is_allowed(kind, "same", &digests(&["a"])).unwrap());
    assert!(!new.is_allowed(kind, "changed", &digests(&["a"])).unwrap(), "what was given here since stays");
    assert!(new.is_allowed(kind, "changed", &digests(&["b"])).unwrap());
    assert!(!old.is_allowed(kind, "same", &digests(&["a"])).unwrap(), "it moved");
    assert_eq!(new.move_from_former_roots(&former("one"), now).unwrap(), 0);
}

#[test]
fn a_root_behind_a_link_is_the_same_root() {
    let case = ConsentFixture::new();
    std::os::unix::fs::symlink(case.base.join("one"), case.base.join("link")).unwrap();
    let given = digests(&["a"]);
    case.consents("link").replace_digests(ConsentKind::Loop, "l", &given, Timestamp::UNIX_EPOCH).unwrap();
    for root in ["one", "link"] {
        assert!(case.consents(root).is_allowed(ConsentKind::Loop, "l", &given).unwrap(), "{root}");
    }
}

#[test]
fn a_record_that_cannot_be_read_or_is_of_something_else_gives_nothing() {
    let case = ConsentFixture::new();
    let here = case.consents("one");
    let given = digests(&["a"]);
    here.replace_digests(ConsentKind::Loop, "l", &given, Timestamp::UNIX_EPOCH).unwrap();
    let file = here.folder.join(record_file_name(&here.root, ConsentKind::Loop, "l"));
    let text = std::fs::read_to_string(&file).unwrap();
    let changed = |from: &str, to: &str| {
        assert!(text.contains(from), "{from}");
        std::fs::write(&file, text.replace(from, to)).unwrap();
        here.is_allowed(ConsentKind::Loop, "l", &given)
    };
    assert!(!changed("/one\"", "/elsewhere\"").unwrap());
    assert!(!changed("\"id\": \"l\"", "\"id\": \"m\"").unwrap());
    assert!(!changed("\"loop\"", "\"stage-run\"").unwrap());
    assert!(matches!(changed("\"schema_version\": 1", "\"schema_version\": 9"), Err(Error::Foreign { .. })));
    assert!(matches!(changed("\"digests\"", "\"digest"), Err(Error::Damaged { .. })));
}
