use std::fs;
use std::os::unix::fs::symlink;

use model::marker::{self, ProjectId, SharingMode};

use super::*;

const PROJECT_ID: &str = "0199f0a2-1111-7abc-8def-0123456789ab";
const OTHER_PROJECT_ID: &str = "0199f0a2-2222-7abc-8def-0123456789ab";

fn test_rules() -> RootRules<'static> {
    RootRules { user: rustix::process::geteuid().as_raw(), home: None, is_allowed_by_user: &|_| false }
}

struct RootFixture {
    _temp: tempfile::TempDir,
    base: PathBuf,
}

impl RootFixture {
    fn new(folders: &[&str]) -> RootFixture {
        let temp = tempfile::tempdir().unwrap();
        let base = temp.path().canonicalize().unwrap();
        for folder in folders {
            fs::create_dir_all(base.join(folder)).unwrap();
        }
        RootFixture { _temp: temp, base }
    }

    fn write_marker(&self, folder: &str, id: &str) -> &RootFixture {
        let marker = RootMarker {
            project_id: ProjectId::new(id).unwrap(),
            name: String::new(),
            created_at: String::new(),
            mode: SharingMode::Private,
            last_session: None,
        };
        self.write_file(&format!("{folder}/.agent/context/root.json"), &marker::render_root_marker(&marker))
    }

    fn write_file(&self, rel: &str, bytes: &[u8]) -> &RootFixture {
        let path = self.base.join(rel);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
        self
    }

    /// Creates the worktree `tree` of the repository `main`, with the files that git would create.
    fn create_worktree(&self, main: &str, tree: &str) -> &RootFixture {
        let git = format!("{main}/.git/worktrees/t");
        self.write_file(&format!("{git}/commondir"), b"../..\n");
        self.write_file(
            &format!("{git}/gitdir"),
            format!("{}/.git\n", self.base.join(tree).display()).as_bytes(),
        );
        let pointer = format!("gitdir: {}\n", self.base.join(git).display());
        self.write_file(&format!("{tree}/.git"), pointer.as_bytes())
    }

    /// Returns `root checkout`, or `(root) checkout` if the root is unmarked.
    fn find_root(&self, start: &str) -> String {
        let start = self.base.join(start);
        let short = |path: &Path| path.strip_prefix(&self.base).unwrap_or(path).display().to_string();
        match find_root(&RootQuery { rules: test_rules(), explicit_root: None, start_folders: &[&start] }) {
            Ok(FoundRoot::Marked { root, .. }) => format!("{} {}", short(&root.path), short(&root.checkout)),
            Ok(FoundRoot::Unmarked(root)) => format!("({}) {}", short(&root.path), short(&root.checkout)),
            Err(error) => format!("{error:?}").split_whitespace().next().unwrap_or_default().to_owned(),
        }
    }
}

#[test]
fn the_nearest_marker_wins_then_git_then_the_folder() {
    let ground = RootFixture::new(&["plain/a", "repo/.git", "repo/x/y/z", "outer/inner/deep"]);
    ground.write_marker("outer", PROJECT_ID).write_marker("outer/inner", OTHER_PROJECT_ID);
    assert_eq!(ground.find_root("plain/a"), "(plain/a) plain/a");
    assert_eq!(ground.find_root("repo/x/y/z"), "(repo) repo");
    assert_eq!(ground.find_root("outer"), "outer outer");
    assert_eq!(ground.find_root("outer/inner/deep"), "outer/inner outer/inner");
    ground.write_marker("repo", PROJECT_ID);
    assert_eq!(ground.find_root("repo/x/y/z"), "repo repo");
}

#[test]
fn a_worktree_uses_the_main_checkout() {
    let ground = RootFixture::new(&["main/.git", "tree/sub", "main/nested/sub"]);
    ground.create_worktree("main", "tree");
    assert_eq!(ground.find_root("tree/sub"), "(main) tree", "that is where init would go");
    ground.write_marker("main", PROJECT_ID);
    assert_eq!(ground.find_root("tree/sub"), "main tree");
    ground.write_marker("tree", PROJECT_ID);
    assert_eq!(
        ground.find_root("tree/sub"),
        "main tree",
        "a committed marker of the same project changes nothing"
    );
    ground.write_marker("tree", OTHER_PROJECT_ID);
    assert_eq!(ground.find_root("tree/sub"), "tree tree", "another project is another root");
}

#[test]
fn a_worktree_asks_its_main_checkout_and_no_folder_above() {
    let ground = RootFixture::new(&["main/.git", "above/tree/sub"]);
    ground.create_worktree("main", "above/tree").write_marker("above", OTHER_PROJECT_ID);
    assert_eq!(
        ground.find_root("above/tree/sub"),
        "(main) above/tree",
        "nothing above a working tree is asked"
    );
    ground.write_marker("main", PROJECT_ID);
    assert_eq!(ground.find_root("above/tree/sub"), "main above/tree");
}

#[test]
fn a_marker_that_cannot_be_used_is_never_taken_for_none() {
    let ground = RootFixture::new(&["p/sub", "outer/p/sub"]);
    ground.write_marker("outer", PROJECT_ID);
    for (bytes, kind) in [
        (b"".as_slice(), "Damaged"),
        (b"{", "Damaged"),
        (br#"{"schema_version":9,"project_id":"x"}"#, "Foreign"),
    ] {
        ground.write_file("outer/p/.agent/context/root.json", bytes);
        assert_eq!(ground.find_root("outer/p/sub"), kind);
    }
}

#[test]
fn links_are_refused_where_they_matter() {
    let ground = RootFixture::new(&["real", "p/sub", "q/sub", "f"]);
    ground.write_marker("real", PROJECT_ID).write_file("f/.agent", b"a file of somebody else's");
    symlink(ground.base.join("real/.agent"), ground.base.join("p/.agent")).unwrap();
    assert_eq!(ground.find_root("p/sub"), "Refused");
    symlink(ground.base.join("real"), ground.base.join("alias")).unwrap();
    assert_eq!(
        ground.find_root("alias"),
        "alias alias",
        "how the user gets to the root is the user's business"
    );
    assert_eq!(ground.find_root("f"), "(f) f");
    fs::create_dir_all(ground.base.join("q/.agent/context")).unwrap();
    symlink("/dev/null", ground.base.join("q/.agent/context/root.json")).unwrap();
    assert_eq!(ground.find_root("q/sub"), "Refused");
}

#[test]
fn starts_are_asked_in_order_and_explicit_is_taken_as_it_is() {
    let ground = RootFixture::new(&["a", "b", "b/sub"]);
    ground.write_marker("b", PROJECT_ID);
    let (a, b, sub) = (ground.base.join("a"), ground.base.join("b"), ground.base.join("b/sub"));
    let marked =
        |wish: &RootQuery| matches!(find_root(wish), Ok(FoundRoot::Marked { root, .. }) if root.path == b);
    assert!(marked(&RootQuery { rules: test_rules(), explicit_root: None, start_folders: &[&a, &b] }));
    assert!(marked(&RootQuery { rules: test_rules(), explicit_root: Some(&b), start_folders: &[&a] }));
    assert!(
        matches!(find_root(&RootQuery { rules: test_rules(), explicit_root: Some(&sub), start_folders: &[] }), Ok(FoundRoot::Unmarked(root)) if root.path == sub)
    );
    assert!(matches!(
        find_root(&RootQuery {
            rules: test_rules(),
            explicit_root: Some(&a.join("none")),
            start_folders: &[]
        }),
        Err(Error::Absent { .. })
    ));
}

#[test]
fn the_search_stays_within_the_working_tree() {
    let ground =
        RootFixture::new(&["outer/repo/.git", "outer/repo/sub", "outer/.git/modules/m", "outer/libs/m/sub"]);
    ground
        .write_marker("outer", PROJECT_ID)
        .write_file("outer/libs/m/.git", b"gitdir: ../../.git/modules/m\n");
    assert_eq!(ground.find_root("outer/repo/sub"), "(outer/repo) outer/repo", "a repository of its own");
    assert_eq!(
        ground.find_root("outer/libs/m/sub"),
        "outer outer",
        "a submodule is part of its superproject"
    );
    fs::remove_dir_all(ground.base.join("outer/.agent")).unwrap();
    assert_eq!(ground.find_root("outer/libs/m/sub"), "(outer/libs/m) outer/libs/m");
}

#[test]
fn a_folder_that_others_may_write_is_passed_over_whatever_is_in_it() {
    use std::os::unix::fs::PermissionsExt;
    let ground = RootFixture::new(&["shared/mine/sub", "outer/shared/sub"]);
    ground
        .write_marker("shared", PROJECT_ID)
        .write_marker("outer", OTHER_PROJECT_ID)
        .write_marker("outer/shared", PROJECT_ID);
    for shared in ["shared", "outer/shared"] {
        fs::set_permissions(ground.base.join(shared), fs::Permissions::from_mode(0o1777)).unwrap();
    }
    assert_eq!(ground.find_root("shared/mine/sub"), "(shared/mine/sub) shared/mine/sub");
    assert_eq!(ground.find_root("outer/shared/sub"), "outer outer", "the next one above is asked");
    ground.write_file("shared/.agent/context/root.json", b"{");
    assert_eq!(
        ground.find_root("shared/mine"),
        "(shared/mine) shared/mine",
        "not even its damage is reported"
    );
}

#[test]
fn home_and_above_hold_no_root_unless_it_is_allowed() {
    let ground = RootFixture::new(&["home/work"]);
    ground.write_marker("home", PROJECT_ID);
    let home = ground.base.join("home");
    let start = home.join("work");
    symlink(&home, ground.base.join("alias")).unwrap();
    let alias = ground.base.join("alias");
    let marked = |home: &Path, allows: &dyn Fn(&Path) -> bool| {
        let rules = RootRules { home: Some(home), is_allowed_by_user: allows, ..test_rules() };
        matches!(
            find_root(&RootQuery { rules, explicit_root: None, start_folders: &[&start] }),
            Ok(FoundRoot::Marked { .. })
        )
    };
    assert!(!marked(&home, &|_| false));
    assert!(!marked(&alias, &|_| false), "by another name");
    assert!(!marked(&start, &|_| false), "above it");
    assert!(marked(&home, &|folder| folder == home));
    assert!(marked(&ground.base.join("other"), &|_| false));
}
