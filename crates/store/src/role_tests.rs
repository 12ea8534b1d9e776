use super::*;
use crate::Dir;
use model::role::lifecycle::{Actor, Happened, Insist, State, Validity};

const WAIT: Duration = Duration::from_secs(5);

fn store(folder: &std::path::Path) -> Store {
    Store::new(Dir::open(folder).unwrap())
}

fn role(name: &str) -> Id {
    Id::new(name).unwrap()
}

fn save(lifecycle: &mut Lifecycle) -> std::result::Result<usize, Refused> {
    let actor = Actor { by: "cli", session: None, previous: None, now: Timestamp::UNIX_EPOCH };
    lifecycle.hear(Happened::Save(Validity::Valid), Insist::No, &actor)
}

#[test]
fn a_role_moves_only_where_it_has_a_lifecycle() {
    let temp = tempfile::tempdir().unwrap();
    let store = store(temp.path());
    let tester = role("tester");
    assert_eq!(store.change_lifecycle(&tester, Missing::Leave, WAIT, save).unwrap(), Changed::None);
    let create = Missing::Create(Timestamp::UNIX_EPOCH);
    let Changed::To { created: true, .. } = store.change_lifecycle(&tester, create, WAIT, |_| Ok(0)).unwrap()
    else {
        panic!("it was created");
    };
    let Changed::To { created: false, lifecycle } =
        store.change_lifecycle(&tester, create, WAIT, save).unwrap()
    else {
        panic!("it was there");
    };
    assert_eq!(lifecycle.state, State::Saved);
    assert_eq!(store.lifecycle(&tester).unwrap(), Some(lifecycle));
}

#[test]
fn two_roles_with_one_state_file_are_told_apart() {
    let temp = tempfile::tempdir().unwrap();
    let store = store(temp.path());
    let create = Missing::Create(Timestamp::UNIX_EPOCH);
    store.change_lifecycle(&role("a-b"), create, WAIT, |_| Ok(0)).unwrap();
    let clash = store.change_lifecycle(&role("a_b"), create, WAIT, |_| Ok(0)).unwrap();
    assert_eq!(clash, Changed::Clash { other: "a-b".to_owned() });
}

#[test]
fn a_damaged_state_is_named_and_left_alone() {
    let temp = tempfile::tempdir().unwrap();
    let store = store(temp.path());
    let folder = store.dir().make(layout::LIFECYCLES).unwrap();
    folder.write("tester.json", b"{\"schema_version\": 1,\n", Durability::Relaxed).unwrap();
    let failed = store.change_lifecycle(&role("tester"), Missing::Create(Timestamp::UNIX_EPOCH), WAIT, save);
    assert!(matches!(failed, Err(Error::Damaged { line: Some(2), .. })), "{failed:?}");
    assert!(matches!(store.lifecycles().unwrap().as_slice(), [(_, Err(Error::Damaged { .. }))]));
}

#[test]
fn sessions_have_roles() {
    let temp = tempfile::tempdir().unwrap();
    let store = store(temp.path());
    let session = role("s1");
    assert_eq!(store.role_of(&session).unwrap(), None);
    store.session(&session).put(&RoleBinding { role: Some(role("tester")) }).unwrap();
    assert_eq!(store.role_of(&session).unwrap(), Some(role("tester")));
    assert_eq!(store.bindings().unwrap(), [(session, role("tester"))]);
}
