//! Stores whose layout is the attack: links, foreign owners, stores in parent folders and subfolders, git
//! repositories, and the environment.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result, ensure};

use super::arrivals::{arrive_by_clone, arrive_by_pull, arrive_by_trusted_clone};
use super::files::{self, PROJECT_ID, attack_with_everything};
use super::machine::{
    arrange_worked_in_clone, commit_all, create_repository, create_repository_items, run_git,
    run_past_session, trust_project, trust_root, write_trust,
};
use super::{HostileStore, TestUser};
use crate::sandbox::{SANDBOX_SESSION_ID, Sandbox};

pub fn layout_stores() -> Vec<HostileStore> {
    [
        stores_with_links(),
        stores_with_root_above(),
        stores_with_nested_root(),
        stores_with_foreign_owner(),
        stores_in_repositories(),
        stores_with_environment(),
        stores_with_identities(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// The paths that become links, relative to the project. The real file or folder is moved out of the project.
const MOVED_PATHS: &[&str] = &[
    ".agent",
    ".agent/context",
    ".agent/context/root.json",
    ".agent/context/loops",
    ".agent/context/indexes",
    ".agent/context/state",
    ".agent/context/sessions",
    ".agent/context/packets",
    ".agent/context/agents",
    ".agent/context/workstreams",
    ".agent/context/outputs",
    ".agent/context/config.toml",
    ".agent/context/.gitignore",
    ".agent/context/state/locks",
    ".agent/context/indexes/receipts.jsonl",
    ".claude",
    ".factory",
    ".git",
    ".git/info",
];

pub const LINKED_STORES_GROUP_NAME: &str = "symlinked";

fn stores_with_links() -> Vec<HostileStore> {
    const GROUP: &str = LINKED_STORES_GROUP_NAME;
    let moved = MOVED_PATHS.iter().map(|&path| {
        HostileStore::trusted(GROUP, format!("{path} is a link"), move |sandbox| {
            arrive_by_trusted_clone(sandbox, &attack_with_everything(sandbox))?;
            run_past_session(sandbox)?;
            move_out_of_project(sandbox, path)
        })
    });
    let to_file = |path: &'static str| {
        HostileStore::trusted(GROUP, format!("{path} is a link to a file"), move |sandbox| {
            arrive_by_trusted_clone(sandbox, &attack_with_everything(sandbox))?;
            let link = sandbox.project_folder().join(path);
            fs::create_dir_all(link.parent().context("the path has no parent folder")?)?;
            if link.exists() {
                fs::remove_file(&link)?;
            }
            Ok(symlink(sandbox.dir.join("outside/settings.json"), link)?)
        })
    };
    let committed =
        HostileStore::untrusted(GROUP, ".claude/settings.local.json is a committed link", |sandbox| {
            let mut items = attack_with_everything(sandbox);
            items.push(files::RepositoryItem::Link(
                ".claude/settings.local.json".into(),
                "../../outside/settings.json".into(),
            ));
            arrive_by_clone(sandbox, &items)
        });
    let to_file = [
        ".claude/settings.local.json",
        ".claude/settings.json",
        ".claude/commands",
        ".factory/settings.json",
        ".factory/commands",
        ".git/info/exclude",
        ".agent/context/scratch",
        ".agent/context/decisions.jsonl",
    ]
    .map(to_file);
    moved.chain(to_file).chain([committed]).collect()
}

fn stores_with_root_above() -> Vec<HostileStore> {
    const GROUP: &str = "root above";
    // Puts a store into a folder above the project. The cases differ only in that folder and its mode.
    let above = |name: &'static str, mode: u32, at: &'static str, cwd: &'static str| {
        HostileStore::untrusted(GROUP, name, move |sandbox| {
            let folder = sandbox.dir.join(at);
            fs::create_dir_all(sandbox.dir.join(cwd))?;
            create_repository_items(&files::harmless_items(), &folder)?;
            create_repository_items(&attack_with_everything(sandbox), &folder)?;
            // Trust the folder, because a user could trust a shared folder by accident. Hooks must still treat the
            // store as untrusted.
            trust_root(sandbox, &folder, PROJECT_ID)?;
            Ok(fs::set_permissions(folder, fs::Permissions::from_mode(mode))?)
        })
        .run_in_folder(cwd)
    };
    vec![
        above("in a world-writable folder with the sticky bit", 0o1777, "tmp", "tmp/project"),
        above("in a world-writable folder", 0o777, "tmp", "tmp/project"),
        above("in the user's home", 0o755, "home", "home/work/project"),
        above("in the parent of the user's home", 0o755, ".", "home/work/project"),
        HostileStore::untrusted(GROUP, "above the git top level", |sandbox| {
            create_repository_items(&files::harmless_items(), &sandbox.dir.join("work"))?;
            create_repository_items(&attack_with_everything(sandbox), &sandbox.dir.join("work"))?;
            trust_root(sandbox, &sandbox.dir.join("work"), PROJECT_ID)?;
            create_repository(&sandbox.dir.join("work/project"), &[])
        })
        .run_in_folder("work/project"),
    ]
}

fn stores_with_nested_root() -> Vec<HostileStore> {
    const GROUP: &str = "nested";
    let nested = |name: &'static str, at: &'static str| {
        HostileStore::untrusted(GROUP, name, move |sandbox| {
            arrange_worked_in_clone(sandbox)?;
            let folder = sandbox.dir.join(at);
            create_repository_items(
                &[files::new_root_marker("0197b000-0000-7000-8000-00000000beef")],
                &folder,
            )?;
            create_repository_items(&attack_with_everything(sandbox), &folder)
        })
        .run_in_folder(at)
    };
    vec![
        nested("a store in a dependency's folder", "project/node_modules/evil"),
        nested("a store in the user's store", "project/.agent/context/scratch/evil"),
        HostileStore::untrusted(GROUP, "a copy of the project's marker in a folder below", |sandbox| {
            arrange_worked_in_clone(sandbox)?;
            let folder = sandbox.dir.join("project/vendor/evil");
            create_repository_items(&files::harmless_items(), &folder)?;
            create_repository_items(&attack_with_everything(sandbox), &folder)
        })
        .run_in_folder("project/vendor/evil"),
        HostileStore::untrusted(GROUP, "a repository below the project", |sandbox| {
            arrange_worked_in_clone(sandbox)?;
            let mut items = attack_with_everything(sandbox);
            items.push(files::new_root_marker("0197b000-0000-7000-8000-00000000beef"));
            create_repository(&sandbox.dir.join("project/vendor/evil"), &items)
        })
        .run_in_folder("project/vendor/evil"),
        HostileStore::untrusted(GROUP, "a submodule with a store", |sandbox| {
            arrange_worked_in_clone(sandbox)?;
            let mut items = attack_with_everything(sandbox);
            items.push(files::new_root_marker("0197b000-0000-7000-8000-00000000beef"));
            let evil = sandbox.dir.join("evil");
            create_repository(&evil, &items)?;
            let url = evil.display().to_string();
            run_git(
                &sandbox.project_folder(),
                &[
                    "-c",
                    "protocol.file.allow=always",
                    "submodule",
                    "--quiet",
                    "add",
                    "--force",
                    &url,
                    "vendor/evil",
                ],
            )?;
            Ok(fs::remove_dir_all(evil)?)
        })
        .run_in_folder("project/vendor/evil"),
        HostileStore::trusted(GROUP, "a worktree of a hostile branch", |sandbox| {
            arrange_worked_in_clone(sandbox)?;
            let worktree = sandbox.dir.join("worktree").display().to_string();
            run_git(&sandbox.project_folder(), &["worktree", "add", "--quiet", "-b", "evil", &worktree])?;
            create_repository_items(&attack_with_everything(sandbox), Path::new(&worktree))?;
            commit_all(Path::new(&worktree))
        })
        .run_in_folder("worktree")
        .may_write_in("project"),
    ]
}

fn stores_with_foreign_owner() -> Vec<HostileStore> {
    const GROUP: &str = "foreign-owned";
    let owned = |name: &'static str, given: &'static [&'static str], mode: u32| {
        HostileStore::untrusted(GROUP, name, move |sandbox| {
            arrive_by_trusted_clone(sandbox, &attack_with_everything(sandbox))?;
            chown_to_user(sandbox, TestUser::Nobody, &["."])?;
            chown_to_user(sandbox, TestUser::OtherUser, given)?;
            fs::set_permissions(sandbox.dir.join(given[0]), fs::Permissions::from_mode(mode))?;
            Ok(())
        })
        .run_by(TestUser::Nobody)
    };
    vec![
        owned("the project is somebody else's", &["project"], 0o777),
        owned("the store is somebody else's", &["project/.agent"], 0o777),
        owned("the records are somebody else's", &["project/.agent/context"], 0o777),
        owned("the state folder is somebody else's", &["state"], 0o777),
        owned("the trust records are somebody else's", &["state/throughline"], 0o777),
        HostileStore::untrusted(GROUP, "anybody may write the state folder", |sandbox| {
            arrive_by_trusted_clone(sandbox, &attack_with_everything(sandbox))?;
            set_mode(&sandbox.state_folder(), 0o777)
        }),
        HostileStore::untrusted(GROUP, "anybody may write the trust records", |sandbox| {
            arrive_by_trusted_clone(sandbox, &attack_with_everything(sandbox))?;
            set_mode(&sandbox.state_folder().join("trust"), 0o777)?;
            set_mode(&sandbox.state_folder().join("trust").join(format!("{PROJECT_ID}.json")), 0o666)
        }),
        HostileStore::untrusted(GROUP, "root works in somebody else's project", |sandbox| {
            arrive_by_trusted_clone(sandbox, &attack_with_everything(sandbox))?;
            chown_to_user(sandbox, TestUser::OtherUser, &["project"])
        })
        .run_by(TestUser::Root),
        HostileStore::untrusted(GROUP, "anybody may write the project", |sandbox| {
            arrive_by_trusted_clone(sandbox, &attack_with_everything(sandbox))?;
            set_mode(&sandbox.project_folder(), 0o777)
        }),
    ]
}

fn stores_in_repositories() -> Vec<HostileStore> {
    const GROUP: &str = "git";
    let configured = |name: &'static str, config: fn(&str) -> Vec<(&'static str, String)>| {
        HostileStore::trusted(GROUP, name, move |sandbox| {
            arrive_by_pull(sandbox, &attack_with_everything(sandbox))?;
            let script = sandbox.dir.join("outside/git-runs-me");
            let canary = files::canaries_folder(sandbox).join("git");
            fs::write(&script, format!("#!/bin/sh\ntouch {}\ncat\n", canary.display()))?;
            set_mode(&script, 0o755)?;
            let script = script.display().to_string();
            for (key, value) in config(&script) {
                run_git(&sandbox.project_folder(), &["config", key, &value])?;
            }
            fs::write(
                sandbox.project_folder().join(".gitattributes"),
                "* filter=evil diff=evil merge=evil\n",
            )?;
            fs::write(sandbox.project_folder().join("src/a.rs"), "fn b() {}\n")?;
            Ok(())
        })
    };
    vec![
        configured("core.fsmonitor names a command", |script| vec![("core.fsmonitor", script.to_owned())]),
        configured("a filter names a command", |script| {
            vec![("filter.evil.clean", script.to_owned()), ("filter.evil.process", script.to_owned())]
        }),
        configured("a diff driver names a command", |script| {
            vec![
                ("diff.external", script.to_owned()),
                ("diff.evil.textconv", script.to_owned()),
                ("diff.evil.command", script.to_owned()),
            ]
        }),
        configured("pager, editor and hooks name a command", |script| {
            vec![
                ("core.pager", script.to_owned()),
                ("core.editor", script.to_owned()),
                ("core.sshCommand", script.to_owned()),
                ("pager.status", script.to_owned()),
                ("core.hooksPath", Path::new(script).parent().unwrap_or(Path::new("/")).display().to_string()),
                ("alias.status", format!("!{script}")),
                ("gpg.program", script.to_owned()),
            ]
        }),
        HostileStore::trusted(GROUP, "post-index-change and other git hooks", |sandbox| {
            arrive_by_pull(sandbox, &attack_with_everything(sandbox))?;
            let canary = files::canaries_folder(sandbox).join("git-hook");
            for name in ["post-index-change", "fsmonitor-watchman", "reference-transaction", "post-checkout"] {
                let hook = sandbox.project_folder().join(".git/hooks").join(name);
                fs::create_dir_all(sandbox.project_folder().join(".git/hooks"))?;
                fs::write(&hook, format!("#!/bin/sh\ntouch {}\n", canary.display()))?;
                set_mode(&hook, 0o755)?;
            }
            fs::write(sandbox.project_folder().join("src/a.rs"), "fn b() {}\n")?;
            Ok(())
        }),
        HostileStore::untrusted(GROUP, "an embedded bare repository", |sandbox| {
            arrive_by_clone(sandbox, &attack_with_everything(sandbox))?;
            let bare = sandbox.project_folder().join("docs");
            for folder in ["objects", "refs", "info"] {
                fs::create_dir_all(bare.join(folder))?;
            }
            let canary = files::canaries_folder(sandbox).join("bare");
            let config = format!(
                "[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = {}\n\tfsmonitor = touch {}\n",
                sandbox.project_folder().display(),
                canary.display()
            );
            fs::write(bare.join("config"), config)?;
            Ok(fs::write(bare.join("HEAD"), "ref: refs/heads/main\n")?)
        })
        .run_in_folder("project/docs")
        .may_write_in("project"),
        HostileStore::trusted(GROUP, ".git is a file that points to another repository", |sandbox| {
            arrive_by_trusted_clone(sandbox, &attack_with_everything(sandbox))?;
            create_repository(&sandbox.dir.join("other"), &[])?;
            fs::remove_dir_all(sandbox.project_folder().join(".git"))?;
            Ok(fs::write(sandbox.project_folder().join(".git"), "gitdir: ../other/.git\n")?)
        }),
        HostileStore::untrusted(GROUP, ".git is a file that points to a trusted project's worktrees", |sandbox| {
            arrange_worked_in_clone(sandbox)?;
            let evil = sandbox.dir.join("evil");
            create_repository_items(&attack_with_everything(sandbox), &evil)?;
            create_repository_items(&[files::new_root_marker(PROJECT_ID)], &evil)?;
            Ok(fs::write(evil.join(".git"), "gitdir: ../project/.git/worktrees/evil\n")?)
        })
        .run_in_folder("evil"),
        HostileStore::trusted(GROUP, "FIFOs in .git", |sandbox| {
            arrive_by_trusted_clone(sandbox, &attack_with_everything(sandbox))?;
            for name in ["HEAD", "index", "config", "packed-refs", "info/exclude"] {
                make_fifo(&sandbox.project_folder().join(".git").join(name))?;
            }
            Ok(())
        }),
        HostileStore::trusted(GROUP, "FIFOs among the records", |sandbox| {
            arrive_by_trusted_clone(sandbox, &attack_with_everything(sandbox))?;
            for name in [
                &format!("loops/{}.md", files::LOOP_ID),
                "indexes/active-loop.json",
                "state/live.json",
                "config.toml",
                &format!("workstreams/{}/steps.md", files::WORKSTREAM_ID),
                &format!("packets/{}.md", files::PACKET_ID),
                &format!("agents/{}.context.md", files::ROLE_NAME),
                &format!("sessions/{SANDBOX_SESSION_ID}.jsonl"),
            ] {
                make_fifo(&sandbox.store_folder().join(name))?;
            }
            Ok(())
        }),
        HostileStore::trusted(GROUP, ".git is a huge file", |sandbox| {
            arrive_by_trusted_clone(sandbox, &attack_with_everything(sandbox))?;
            fs::remove_dir_all(sandbox.project_folder().join(".git"))?;
            make_huge_file(&sandbox.project_folder().join(".git"))
        }),
        HostileStore::trusted(GROUP, "huge records", |sandbox| {
            arrive_by_trusted_clone(sandbox, &attack_with_everything(sandbox))?;
            for name in ["indexes/active-loop.json", "state/live.json", "config.toml", "indexes/receipts.jsonl"] {
                make_huge_file(&sandbox.store_folder().join(name))?;
            }
            make_huge_file(&sandbox.journal_path())
        }),
        HostileStore::untrusted(GROUP, "a huge marker", |sandbox| {
            arrive_by_trusted_clone(sandbox, &attack_with_everything(sandbox))?;
            make_huge_file(&sandbox.store_folder().join("root.json"))
        }),
    ]
}

fn stores_with_environment() -> Vec<HostileStore> {
    const GROUP: &str = "environment";
    let forged = |name: &'static str, at: &'static str, value: &'static str, state: &'static str| {
        HostileStore::untrusted(GROUP, name, move |sandbox| {
            arrive_by_clone(sandbox, &attack_with_everything(sandbox))?;
            write_trust(&sandbox.dir.join(at).join("throughline"), &sandbox.project_folder(), PROJECT_ID)
        })
        .with_state_home(value, state)
    };
    vec![
        forged("XDG_STATE_HOME is in the project", "project/.state", "@/project/.state", "project/.state"),
        forged("XDG_STATE_HOME is relative", "project/.state", ".state", "home/.local"),
        forged(
            "XDG_STATE_HOME is the store",
            "project/.agent/context",
            "@/project/.agent/context",
            "project/.agent/context",
        ),
        HostileStore::untrusted(GROUP, "XDG_STATE_HOME is a world-writable folder", |sandbox| {
            arrive_by_clone(sandbox, &attack_with_everything(sandbox))?;
            write_trust(&sandbox.dir.join("shared/throughline"), &sandbox.project_folder(), PROJECT_ID)?;
            set_mode(&sandbox.dir.join("shared"), 0o777)?;
            set_mode(&sandbox.dir.join("shared/throughline"), 0o777)
        })
        .with_state_home("@/shared", "shared"),
        HostileStore::untrusted(GROUP, "XDG_STATE_HOME is a link into the project", |sandbox| {
            arrive_by_clone(sandbox, &attack_with_everything(sandbox))?;
            write_trust(
                &sandbox.project_folder().join(".state/throughline"),
                &sandbox.project_folder(),
                PROJECT_ID,
            )?;
            Ok(symlink(sandbox.project_folder().join(".state"), sandbox.dir.join("statelink"))?)
        })
        .with_state_home("@/statelink", "project/.state"),
    ]
}

fn stores_with_identities() -> Vec<HostileStore> {
    const GROUP: &str = "identity";
    vec![
        HostileStore::untrusted(GROUP, "the marker of a trusted project, copied", |sandbox| {
            arrange_worked_in_clone(sandbox)?;
            create_repository_items(&files::harmless_items(), &sandbox.dir.join("copy"))?;
            create_repository_items(&attack_with_everything(sandbox), &sandbox.dir.join("copy"))
        })
        .run_in_folder("copy"),
        HostileStore::untrusted(GROUP, "another project where a trusted one was", |sandbox| {
            arrange_worked_in_clone(sandbox)?;
            fs::remove_dir_all(sandbox.dir.join("upstream"))?;
            fs::remove_dir_all(sandbox.project_folder())?;
            create_repository_items(&files::harmless_items(), &sandbox.project_folder())?;
            create_repository_items(&attack_with_everything(sandbox), &sandbox.project_folder())?;
            create_repository_items(
                &[files::new_root_marker("0197b000-0000-7000-8000-00000000beef")],
                &sandbox.project_folder(),
            )
        }),
        HostileStore::untrusted(GROUP, "the marker changed to another project after trust", |sandbox| {
            arrive_by_pull(sandbox, &attack_with_everything(sandbox))?;
            create_repository_items(
                &[files::new_root_marker("0197b000-0000-7000-8000-00000000beef")],
                &sandbox.project_folder(),
            )
        }),
        HostileStore::untrusted(GROUP, "a marker whose project_id is a path", |sandbox| {
            arrive_by_clone(sandbox, &attack_with_everything(sandbox))?;
            create_repository_items(
                &[files::new_root_marker("../../../outside/run")],
                &sandbox.project_folder(),
            )
        }),
        HostileStore::untrusted(GROUP, "a marker of a newer version", |sandbox| {
            arrive_by_trusted_clone(sandbox, &attack_with_everything(sandbox))?;
            let marker = sandbox.store_folder().join("root.json");
            let text = fs::read_to_string(&marker)?;
            Ok(fs::write(&marker, text.replace("\"schema_version\": 1", "\"schema_version\": 99"))?)
        }),
        HostileStore::untrusted(GROUP, "trusted, then moved to another path", |sandbox| {
            arrange_worked_in_clone(sandbox)?;
            create_repository_items(&attack_with_everything(sandbox), &sandbox.project_folder())?;
            Ok(fs::rename(sandbox.project_folder(), sandbox.dir.join("moved"))?)
        })
        .run_in_folder("moved"),
        HostileStore::untrusted(GROUP, "trust was withdrawn", |sandbox| {
            arrive_by_pull(sandbox, &attack_with_everything(sandbox))?;
            sandbox.run_successfully(&["trust", "--revoke"], b"").map(drop)
        }),
        HostileStore::trusted(GROUP, "merged after trust", |sandbox| {
            arrange_worked_in_clone(sandbox)?;
            let upstream = sandbox.dir.join("upstream");
            create_repository_items(&attack_with_everything(sandbox), &upstream)?;
            commit_all(&upstream)?;
            create_repository_items(
                &[files::RepositoryItem::File("mine.txt".into(), "mine\n".into())],
                &sandbox.project_folder(),
            )?;
            run_git(&sandbox.project_folder(), &["add", "mine.txt"])?;
            run_git(&sandbox.project_folder(), &["commit", "--quiet", "--message", "mine"])?;
            run_git(&sandbox.project_folder(), &["pull", "--quiet", "--no-rebase", "--no-edit"])?;
            Ok(fs::remove_dir_all(upstream)?)
        }),
        HostileStore::trusted(GROUP, "stashed by somebody, popped by the user", |sandbox| {
            arrange_worked_in_clone(sandbox)?;
            create_repository_items(&attack_with_everything(sandbox), &sandbox.project_folder())?;
            run_git(&sandbox.project_folder(), &["add", "--force", "--all"])?;
            run_git(&sandbox.project_folder(), &["stash", "--quiet"])?;
            trust_project(sandbox)?;
            run_git(&sandbox.project_folder(), &["stash", "pop", "--quiet", "--index"])
        }),
    ]
}

fn move_out_of_project(sandbox: &Sandbox, path: &str) -> Result<()> {
    let from = sandbox.project_folder().join(path);
    let to = sandbox.dir.join("outside").join(format!("moved-{}", path.replace('/', "-")));
    if from.exists() {
        fs::rename(&from, &to)?;
    } else {
        fs::create_dir_all(&to)?;
        fs::create_dir_all(from.parent().context("the path has no parent folder")?)?;
    }
    Ok(symlink(to, from)?)
}

fn chown_to_user(sandbox: &Sandbox, user: TestUser, paths: &[&str]) -> Result<()> {
    let owner = format!("{0}:{0}", user.id());
    for path in paths {
        let mut chown = Command::new("chown");
        chown.args(["-R", "-h", &owner]).arg(sandbox.dir.join(path));
        ensure!(chown.status().context("starting chown")?.success(), "setting up the sandbox: chown {path}");
    }
    Ok(())
}

fn set_mode(path: &Path, mode: u32) -> Result<()> {
    Ok(fs::set_permissions(path, fs::Permissions::from_mode(mode))?)
}

fn make_fifo(path: &Path) -> Result<()> {
    fs::create_dir_all(path.parent().context("the path has no parent folder")?)?;
    if path.symlink_metadata().is_ok() {
        fs::remove_file(path)?;
    }
    ensure!(
        Command::new("mkfifo").arg(path).status()?.success(),
        "setting up the sandbox: mkfifo {}",
        path.display()
    );
    Ok(())
}

/// Makes a file one gigabyte long without using disk space.
fn make_huge_file(path: &Path) -> Result<()> {
    fs::create_dir_all(path.parent().context("the path has no parent folder")?)?;
    let file = fs::OpenOptions::new().create(true).append(true).open(path)?;
    Ok(file.set_len(1 << 30)?)
}
