use super::*;
use crate::Dir;
use model::role::lifecycle::{
    ContextFileValidity, ForceStep, LifecycleEvent, LifecycleState, LifecycleStepActor,
};

const LOCK_WAIT: Duration = Duration::from_secs(5);

fn new_store(folder: &std::path::Path) -> Store {
    Store::new(Dir::open(folder).unwrap())
}

fn role_id(name: &str) -> Id {
    Id::new(name).unwrap()
}

fn save_lifecycle(lifecycle: &mut Lifecycle) -> std::result::Result<usize, LifecycleStepRefusal> {
    let actor = LifecycleStepActor {
        actor: "cli",
        session: None,
        previous_session: None,
        now: Timestamp::UNIX_EPOCH,
    };
    lifecycle.apply_event(LifecycleEvent::Save(ContextFileValidity::Valid), ForceStep::No, &actor)
}

#[test]
fn a_role_moves_only_where_it_has_a_lifecycle() {
    let temp = tempfile::tempdir().unwrap();
    let store = new_store(temp.path());
    let tester = role_id("tester");
    assert_eq!(
        store.change_lifecycle(&tester, MissingLifecycle::Leave, LOCK_WAIT, save_lifecycle).unwrap(),
        LifecycleChange::None
    );
    let create = MissingLifecycle::Create(Timestamp::UNIX_EPOCH);
    let LifecycleChange::Changed { created: true, .. } =
        store.change_lifecycle(&tester, create, LOCK_WAIT, |_| Ok(0)).unwrap()
    else {
        panic!("it was created");
    };
    let LifecycleChange::Changed { created: false, lifecycle } =
        store.change_lifecycle(&tester, create, LOCK_WAIT, save_lifecycle).unwrap()
    else {
        panic!("it was there");
    };
    assert_eq!(lifecycle.state, LifecycleState::Saved);
    assert_eq!(store.read_lifecycle(&tester).unwrap(), Some(lifecycle));
}

#[test]
fn two_roles_with_one_state_file_are_told_apart() {
    let temp = tempfile::tempdir().unwrap();
    let store = new_store(temp.path());
    let create = MissingLifecycle::Create(Timestamp::UNIX_EPOCH);
    store.change_lifecycle(&role_id("a-b"), create, LOCK_WAIT, |_| Ok(0)).unwrap();
    let clash = store.change_lifecycle(&role_id("a_b"), create, LOCK_WAIT, |_| Ok(0)).unwrap();
    assert_eq!(clash, LifecycleChange::FileNameClash { other_role: "a-b".to_owned() });
}

#[test]
fn a_damaged_state_is_named_and_left_alone() {
    let temp = tempfile::tempdir().unwrap();
    let store = new_store(temp.path());
    let folder = store.dir().create_subfolder(layout::LIFECYCLES_FOLDER).unwrap();
    folder.write("tester.json", b"{\"schema_version\": 1,\n", Durability::Relaxed).unwrap();
    let failed = store.change_lifecycle(
        &role_id("tester"),
        MissingLifecycle::Create(Timestamp::UNIX_EPOCH),
        LOCK_WAIT,
        save_lifecycle,
    );
    assert!(matches!(failed, Err(Error::Damaged { line: Some(2), .. })), "{failed:?}");
    assert!(matches!(store.list_lifecycles().unwrap().as_slice(), [(_, Err(Error::Damaged { .. }))]));
}

#[test]
fn a_session_is_bound_to_a_role() {
    let temp = tempfile::tempdir().unwrap();
    let store = new_store(temp.path());
    let session = role_id("s1");
    assert_eq!(store.role_of_session(&session).unwrap(), None);
    store.session_state(&session).write_state(&RoleBinding { role: Some(role_id("tester")) }).unwrap();
    assert_eq!(store.role_of_session(&session).unwrap(), Some(role_id("tester")));
    assert_eq!(store.role_bindings().unwrap(), [(session, role_id("tester"))]);
}
