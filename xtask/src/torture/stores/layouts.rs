//! Stores whose layout is the attack: links, foreign owners, stores in folders above and below, git, the
//! environment.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result, ensure};

use super::arrivals::{cloned, pulled, trusted};
use super::files::{self, PROJECT_ID, everything};
use super::machine::{
    commit, git, past_session, put, repository, trust, trust_at, worked_in_clone, write_trust,
};
use super::{Store, User};
use crate::sandbox::{SESSION, Sandbox};

pub fn stores() -> Vec<Store> {
    [links(), above(), below(), owners(), repositories(), environments(), identities()]
        .into_iter()
        .flatten()
        .collect()
}

/// Paths relative to the project that become links. The real file is moved out of the project.
const MOVED: &[&str] = &[
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

pub const LINKS: &str = "symlinked";

fn links() -> Vec<Store> {
    const GROUP: &str = LINKS;
    let moved = MOVED.iter().map(|&path| {
        Store::trusted(GROUP, format!("{path} is a link"), move |sandbox| {
            trusted(sandbox, &everything(sandbox))?;
            past_session(sandbox)?;
            move_outside(sandbox, path)
        })
    });
    let to_file = |path: &'static str| {
        Store::trusted(GROUP, format!("{path} is a link to a file"), move |sandbox| {
            trusted(sandbox, &everything(sandbox))?;
            let link = sandbox.project().join(path);
            fs::create_dir_all(link.parent().context("it lies in a folder")?)?;
            if link.exists() {
                fs::remove_file(&link)?;
            }
            Ok(symlink(sandbox.dir.join("outside/settings.json"), link)?)
        })
    };
    let committed = Store::untrusted(GROUP, ".claude/settings.local.json is a committed link", |sandbox| {
        let mut items = everything(sandbox);
        items.push(files::Item::Link(
            ".claude/settings.local.json".into(),
            "../../outside/settings.json".into(),
        ));
        cloned(sandbox, &items)
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

fn above() -> Vec<Store> {
    const GROUP: &str = "root above";
    // Puts a store into a folder above the project. Only that folder and its mode differ between the cases.
    let above = |name: &'static str, mode: u32, at: &'static str, cwd: &'static str| {
        Store::untrusted(GROUP, name, move |sandbox| {
            let folder = sandbox.dir.join(at);
            fs::create_dir_all(sandbox.dir.join(cwd))?;
            put(&files::harmless(), &folder)?;
            put(&everything(sandbox), &folder)?;
            // The folder is trusted as well, because a user could have trusted a shared folder by accident.
            trust_at(sandbox, &folder, PROJECT_ID)?;
            Ok(fs::set_permissions(folder, fs::Permissions::from_mode(mode))?)
        })
        .in_folder(cwd)
    };
    vec![
        above("in a world-writable folder with the sticky bit", 0o1777, "tmp", "tmp/project"),
        above("in a world-writable folder", 0o777, "tmp", "tmp/project"),
        above("in the user's home", 0o755, "home", "home/work/project"),
        above("in the parent of the user's home", 0o755, ".", "home/work/project"),
        Store::untrusted(GROUP, "above the git top level", |sandbox| {
            put(&files::harmless(), &sandbox.dir.join("work"))?;
            put(&everything(sandbox), &sandbox.dir.join("work"))?;
            trust_at(sandbox, &sandbox.dir.join("work"), PROJECT_ID)?;
            repository(&sandbox.dir.join("work/project"), &[])
        })
        .in_folder("work/project"),
    ]
}

fn below() -> Vec<Store> {
    const GROUP: &str = "nested";
    let nested = |name: &'static str, at: &'static str| {
        Store::untrusted(GROUP, name, move |sandbox| {
            worked_in_clone(sandbox)?;
            let folder = sandbox.dir.join(at);
            put(&[files::marker("0197b000-0000-7000-8000-00000000beef")], &folder)?;
            put(&everything(sandbox), &folder)
        })
        .in_folder(at)
    };
    vec![
        nested("a store in a dependency's folder", "project/node_modules/evil"),
        nested("a store in the user's store", "project/.agent/context/scratch/evil"),
        Store::untrusted(GROUP, "a copy of the project's marker in a folder below", |sandbox| {
            worked_in_clone(sandbox)?;
            let folder = sandbox.dir.join("project/vendor/evil");
            put(&files::harmless(), &folder)?;
            put(&everything(sandbox), &folder)
        })
        .in_folder("project/vendor/evil"),
        Store::untrusted(GROUP, "a repository below the project", |sandbox| {
            worked_in_clone(sandbox)?;
            let mut items = everything(sandbox);
            items.push(files::marker("0197b000-0000-7000-8000-00000000beef"));
            repository(&sandbox.dir.join("project/vendor/evil"), &items)
        })
        .in_folder("project/vendor/evil"),
        Store::untrusted(GROUP, "a submodule with a store", |sandbox| {
            worked_in_clone(sandbox)?;
            let mut items = everything(sandbox);
            items.push(files::marker("0197b000-0000-7000-8000-00000000beef"));
            let evil = sandbox.dir.join("evil");
            repository(&evil, &items)?;
            let url = evil.display().to_string();
            git(
                &sandbox.project(),
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
        .in_folder("project/vendor/evil"),
        Store::trusted(GROUP, "a worktree of a hostile branch", |sandbox| {
            worked_in_clone(sandbox)?;
            let worktree = sandbox.dir.join("worktree").display().to_string();
            git(&sandbox.project(), &["worktree", "add", "--quiet", "-b", "evil", &worktree])?;
            put(&everything(sandbox), Path::new(&worktree))?;
            commit(Path::new(&worktree))
        })
        .in_folder("worktree")
        .writes_in("project"),
    ]
}

fn owners() -> Vec<Store> {
    const GROUP: &str = "foreign-owned";
    let owned = |name: &'static str, given: &'static [&'static str], mode: u32| {
        Store::untrusted(GROUP, name, move |sandbox| {
            trusted(sandbox, &everything(sandbox))?;
            give(sandbox, User::Nobody, &["."])?;
            give(sandbox, User::Somebody, given)?;
            fs::set_permissions(sandbox.dir.join(given[0]), fs::Permissions::from_mode(mode))?;
            Ok(())
        })
        .run_by(User::Nobody)
    };
    vec![
        owned("the project is somebody else's", &["project"], 0o777),
        owned("the store is somebody else's", &["project/.agent"], 0o777),
        owned("the records are somebody else's", &["project/.agent/context"], 0o777),
        owned("the state folder is somebody else's", &["state"], 0o777),
        owned("the trust records are somebody else's", &["state/throughline"], 0o777),
        Store::untrusted(GROUP, "anybody may write the state folder", |sandbox| {
            trusted(sandbox, &everything(sandbox))?;
            set_mode(&sandbox.state(), 0o777)
        }),
        Store::untrusted(GROUP, "anybody may write the trust records", |sandbox| {
            trusted(sandbox, &everything(sandbox))?;
            set_mode(&sandbox.state().join("trust"), 0o777)?;
            set_mode(&sandbox.state().join("trust").join(format!("{PROJECT_ID}.json")), 0o666)
        }),
        Store::untrusted(GROUP, "root works in somebody else's project", |sandbox| {
            trusted(sandbox, &everything(sandbox))?;
            give(sandbox, User::Somebody, &["project"])
        })
        .run_by(User::Root),
        Store::untrusted(GROUP, "anybody may write the project", |sandbox| {
            trusted(sandbox, &everything(sandbox))?;
            set_mode(&sandbox.project(), 0o777)
        }),
    ]
}

fn repositories() -> Vec<Store> {
    const GROUP: &str = "git";
    let configured = |name: &'static str, config: fn(&str) -> Vec<(&'static str, String)>| {
        Store::trusted(GROUP, name, move |sandbox| {
            pulled(sandbox, &everything(sandbox))?;
            let script = sandbox.dir.join("outside/git-runs-me");
            let canary = files::canaries(sandbox).join("git");
            fs::write(&script, format!("#!/bin/sh\ntouch {}\ncat\n", canary.display()))?;
            set_mode(&script, 0o755)?;
            let script = script.display().to_string();
            for (key, value) in config(&script) {
                git(&sandbox.project(), &["config", key, &value])?;
            }
            fs::write(sandbox.project().join(".gitattributes"), "* filter=evil diff=evil merge=evil\n")?;
            fs::write(sandbox.project().join("src/a.rs"), "fn b() {}\n")?;
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
        Store::trusted(GROUP, "post-index-change and other git hooks", |sandbox| {
            pulled(sandbox, &everything(sandbox))?;
            let canary = files::canaries(sandbox).join("git-hook");
            for name in ["post-index-change", "fsmonitor-watchman", "reference-transaction", "post-checkout"] {
                let hook = sandbox.project().join(".git/hooks").join(name);
                fs::create_dir_all(sandbox.project().join(".git/hooks"))?;
                fs::write(&hook, format!("#!/bin/sh\ntouch {}\n", canary.display()))?;
                set_mode(&hook, 0o755)?;
            }
            fs::write(sandbox.project().join("src/a.rs"), "fn b() {}\n")?;
            Ok(())
        }),
        Store::untrusted(GROUP, "an embedded bare repository", |sandbox| {
            cloned(sandbox, &everything(sandbox))?;
            let bare = sandbox.project().join("docs");
            for folder in ["objects", "refs", "info"] {
                fs::create_dir_all(bare.join(folder))?;
            }
            let canary = files::canaries(sandbox).join("bare");
            let config = format!(
                "[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = {}\n\tfsmonitor = touch {}\n",
                sandbox.project().display(),
                canary.display()
            );
            fs::write(bare.join("config"), config)?;
            Ok(fs::write(bare.join("HEAD"), "ref: refs/heads/main\n")?)
        })
        .in_folder("project/docs")
        .writes_in("project"),
        Store::trusted(GROUP, ".git is a file that points to another repository", |sandbox| {
            trusted(sandbox, &everything(sandbox))?;
            repository(&sandbox.dir.join("other"), &[])?;
            fs::remove_dir_all(sandbox.project().join(".git"))?;
            Ok(fs::write(sandbox.project().join(".git"), "gitdir: ../other/.git\n")?)
        }),
        Store::untrusted(GROUP, ".git is a file that points to a trusted project's worktrees", |sandbox| {
            worked_in_clone(sandbox)?;
            let evil = sandbox.dir.join("evil");
            put(&everything(sandbox), &evil)?;
            put(&[files::marker(PROJECT_ID)], &evil)?;
            Ok(fs::write(evil.join(".git"), "gitdir: ../project/.git/worktrees/evil\n")?)
        })
        .in_folder("evil"),
        Store::trusted(GROUP, "FIFOs in .git", |sandbox| {
            trusted(sandbox, &everything(sandbox))?;
            for name in ["HEAD", "index", "config", "packed-refs", "info/exclude"] {
                fifo(&sandbox.project().join(".git").join(name))?;
            }
            Ok(())
        }),
        Store::trusted(GROUP, "FIFOs among the records", |sandbox| {
            trusted(sandbox, &everything(sandbox))?;
            for name in [
                &format!("loops/{}.md", files::LOOP),
                "indexes/active-loop.json",
                "state/live.json",
                "config.toml",
                &format!("workstreams/{}/steps.md", files::WORKSTREAM),
                &format!("packets/{}.md", files::PACKET),
                &format!("agents/{}.context.md", files::ROLE),
                &format!("sessions/{SESSION}.jsonl"),
            ] {
                fifo(&sandbox.store().join(name))?;
            }
            Ok(())
        }),
        Store::trusted(GROUP, ".git is a huge file", |sandbox| {
            trusted(sandbox, &everything(sandbox))?;
            fs::remove_dir_all(sandbox.project().join(".git"))?;
            huge(&sandbox.project().join(".git"))
        }),
        Store::trusted(GROUP, "huge records", |sandbox| {
            trusted(sandbox, &everything(sandbox))?;
            for name in ["indexes/active-loop.json", "state/live.json", "config.toml", "indexes/receipts.jsonl"] {
                huge(&sandbox.store().join(name))?;
            }
            huge(&sandbox.journal())
        }),
        Store::untrusted(GROUP, "a huge marker", |sandbox| {
            trusted(sandbox, &everything(sandbox))?;
            huge(&sandbox.store().join("root.json"))
        }),
    ]
}

fn environments() -> Vec<Store> {
    const GROUP: &str = "environment";
    let forged = |name: &'static str, at: &'static str, value: &'static str, state: &'static str| {
        Store::untrusted(GROUP, name, move |sandbox| {
            cloned(sandbox, &everything(sandbox))?;
            write_trust(&sandbox.dir.join(at).join("throughline"), &sandbox.project(), PROJECT_ID)
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
        Store::untrusted(GROUP, "XDG_STATE_HOME is a world-writable folder", |sandbox| {
            cloned(sandbox, &everything(sandbox))?;
            write_trust(&sandbox.dir.join("shared/throughline"), &sandbox.project(), PROJECT_ID)?;
            set_mode(&sandbox.dir.join("shared"), 0o777)?;
            set_mode(&sandbox.dir.join("shared/throughline"), 0o777)
        })
        .with_state_home("@/shared", "shared"),
        Store::untrusted(GROUP, "XDG_STATE_HOME is a link into the project", |sandbox| {
            cloned(sandbox, &everything(sandbox))?;
            write_trust(&sandbox.project().join(".state/throughline"), &sandbox.project(), PROJECT_ID)?;
            Ok(symlink(sandbox.project().join(".state"), sandbox.dir.join("statelink"))?)
        })
        .with_state_home("@/statelink", "project/.state"),
    ]
}

fn identities() -> Vec<Store> {
    const GROUP: &str = "identity";
    vec![
        Store::untrusted(GROUP, "the marker of a trusted project, copied", |sandbox| {
            worked_in_clone(sandbox)?;
            put(&files::harmless(), &sandbox.dir.join("copy"))?;
            put(&everything(sandbox), &sandbox.dir.join("copy"))
        })
        .in_folder("copy"),
        Store::untrusted(GROUP, "another project where a trusted one was", |sandbox| {
            worked_in_clone(sandbox)?;
            fs::remove_dir_all(sandbox.dir.join("upstream"))?;
            fs::remove_dir_all(sandbox.project())?;
            put(&files::harmless(), &sandbox.project())?;
            put(&everything(sandbox), &sandbox.project())?;
            put(&[files::marker("0197b000-0000-7000-8000-00000000beef")], &sandbox.project())
        }),
        Store::untrusted(GROUP, "the marker changed to another project after trust", |sandbox| {
            pulled(sandbox, &everything(sandbox))?;
            put(&[files::marker("0197b000-0000-7000-8000-00000000beef")], &sandbox.project())
        }),
        Store::untrusted(GROUP, "a marker whose project_id is a path", |sandbox| {
            cloned(sandbox, &everything(sandbox))?;
            put(&[files::marker("../../../outside/run")], &sandbox.project())
        }),
        Store::untrusted(GROUP, "a marker of a newer version", |sandbox| {
            trusted(sandbox, &everything(sandbox))?;
            let marker = sandbox.store().join("root.json");
            let text = fs::read_to_string(&marker)?;
            Ok(fs::write(&marker, text.replace("\"schema_version\": 1", "\"schema_version\": 99"))?)
        }),
        Store::untrusted(GROUP, "trusted, then moved to another path", |sandbox| {
            worked_in_clone(sandbox)?;
            put(&everything(sandbox), &sandbox.project())?;
            Ok(fs::rename(sandbox.project(), sandbox.dir.join("moved"))?)
        })
        .in_folder("moved"),
        Store::untrusted(GROUP, "trust was withdrawn", |sandbox| {
            pulled(sandbox, &everything(sandbox))?;
            sandbox.must(&["trust", "--revoke"], b"").map(drop)
        }),
        Store::trusted(GROUP, "merged after trust", |sandbox| {
            worked_in_clone(sandbox)?;
            let upstream = sandbox.dir.join("upstream");
            put(&everything(sandbox), &upstream)?;
            commit(&upstream)?;
            put(&[files::Item::File("mine.txt".into(), "mine\n".into())], &sandbox.project())?;
            git(&sandbox.project(), &["add", "mine.txt"])?;
            git(&sandbox.project(), &["commit", "--quiet", "--message", "mine"])?;
            git(&sandbox.project(), &["pull", "--quiet", "--no-rebase", "--no-edit"])?;
            Ok(fs::remove_dir_all(upstream)?)
        }),
        Store::trusted(GROUP, "stashed by somebody, popped by the user", |sandbox| {
            worked_in_clone(sandbox)?;
            put(&everything(sandbox), &sandbox.project())?;
            git(&sandbox.project(), &["add", "--force", "--all"])?;
            git(&sandbox.project(), &["stash", "--quiet"])?;
            trust(sandbox)?;
            git(&sandbox.project(), &["stash", "pop", "--quiet", "--index"])
        }),
    ]
}

fn move_outside(sandbox: &Sandbox, path: &str) -> Result<()> {
    let from = sandbox.project().join(path);
    let to = sandbox.dir.join("outside").join(format!("moved-{}", path.replace('/', "-")));
    if from.exists() {
        fs::rename(&from, &to)?;
    } else {
        fs::create_dir_all(&to)?;
        fs::create_dir_all(from.parent().context("it lies in a folder")?)?;
    }
    Ok(symlink(to, from)?)
}

fn give(sandbox: &Sandbox, user: User, paths: &[&str]) -> Result<()> {
    let owner = format!("{0}:{0}", user.id());
    for path in paths {
        let mut chown = Command::new("chown");
        chown.args(["-R", "-h", &owner]).arg(sandbox.dir.join(path));
        ensure!(chown.status().context("starting chown")?.success(), "setting the sandbox: chown {path}");
    }
    Ok(())
}

fn set_mode(path: &Path, mode: u32) -> Result<()> {
    Ok(fs::set_permissions(path, fs::Permissions::from_mode(mode))?)
}

fn fifo(path: &Path) -> Result<()> {
    fs::create_dir_all(path.parent().context("it lies in a folder")?)?;
    if path.symlink_metadata().is_ok() {
        fs::remove_file(path)?;
    }
    ensure!(
        Command::new("mkfifo").arg(path).status()?.success(),
        "setting the sandbox: mkfifo {}",
        path.display()
    );
    Ok(())
}

/// Creates a file of the largest possible size, without using disk space.
fn huge(path: &Path) -> Result<()> {
    fs::create_dir_all(path.parent().context("it lies in a folder")?)?;
    let file = fs::OpenOptions::new().create(true).append(true).open(path)?;
    Ok(file.set_len(1 << 30)?)
}
