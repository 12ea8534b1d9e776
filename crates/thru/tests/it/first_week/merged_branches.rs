//! Tests how commits and branches are counted after a branch was merged and deleted.

use super::files_at_risk::repository_with_files;
use super::handoffs::{ask_at, edit_at, run_at, start_at, thru_at};

#[test]
fn a_merged_and_deleted_branch_is_one_commit_and_one_branch() {
    let env = repository_with_files(&["lib.py"]);
    env.run_git(&["remote", "add", "origin", "/nowhere"]);
    let base = env.run_git(&["rev-parse", "--short", "HEAD"]).trim().to_owned();
    start_at(&env, "19:00:00", "s1");
    ask_at(&env, "19:00:01", "s1", "Fix b on a branch of its own and merge it");
    env.run_git(&["switch", "--quiet", "-c", "fix-b"]);
    run_at(&env, "19:00:02", "s1", "git switch -c fix-b", "Switched to a new branch 'fix-b'");
    env.write_file("project/lib.py", "b\n");
    edit_at(&env, "19:00:03", "s1", "lib.py");
    env.run_git(&["commit", "-qam", "Fix b"]);
    let id = env.run_git(&["rev-parse", "--short", "HEAD"]).trim().to_owned();
    let committed = format!("[fix-b {id}] Fix b\n 1 file changed, 1 insertion(+), 1 deletion(-)");
    run_at(&env, "19:00:04", "s1", "git commit -am 'Fix b'", &committed);
    run_at(&env, "19:00:05", "s1", "git switch main", "Switched to branch 'main'");
    env.run_git(&["switch", "--quiet", "main"]);
    env.run_git(&["merge", "--quiet", "fix-b"]);
    let merged = format!("Updating {base}..{id}\nFast-forward\n lib.py | 2 +-");
    run_at(&env, "19:00:06", "s1", "git merge fix-b", &merged);
    env.run_git(&["branch", "--quiet", "-d", "fix-b"]);
    run_at(&env, "19:00:07", "s1", "git branch -d fix-b", &format!("Deleted branch fix-b (was {id})."));
    let told = thru_at(&env, "19:00:08", "s1", &["brief", "--session", "s1"]).stdout;
    assert!(told.contains(&format!("- commit {id} is not pushed\n")), "{told}");
    assert!(!told.contains("2 branches"), "{told}");
    assert!(told.contains("- branch fix-b created and since deleted"), "{told}");
}
