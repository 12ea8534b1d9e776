//! Rules that derive the effects of git commands from their arguments and output.

use super::command_output::{CommandOutput, is_commit_id};
use super::git_lines::{
    changed_files_in_status, commit_shown_by_log, commit_subject, new_commit_in_updating_line,
    parse_commit_line, parse_deleted_branch_line, parse_rebased_line, pushed_refs,
};
use super::parts::UnwrappedCommand;
use super::{
    Effect, EffectCollector, EffectKind, MAX_CHANGED_FILES_LIST_BYTES, MAX_EFFECT_PLACE_BYTES, SOME_CHANGES,
    has_flag, option_value,
};

pub(super) fn apply_git_rule(seen: &mut EffectCollector, part: &UnwrappedCommand) {
    let Some((verb, rest, folder)) = verb_arguments_and_folder(part) else { return };
    let git = GitCommand { collector: seen, command: part, arguments: rest, folder };
    match verb {
        "commit" => git.add_commit(),
        "cherry-pick" | "revert" => git.add_picked_commits(verb),
        "push" => git.add_push(),
        "merge" => git.add_merge(),
        "pull" => git.add_pull(),
        "rebase" => git.add_rebase(),
        "tag" => git.add_tag(),
        "branch" => git.add_branch(),
        "checkout" | "switch" => git.add_checkout(),
        "restore" => git.add_restore(),
        "reset" => git.add_reset(),
        "stash" => git.add_stash(),
        "status" => git.add_status(),
        "clean" => git.add_clean(),
        "worktree" => git.add_worktree(),
        "init" | "clone" => git.add_repository_creation(),
        _ => {}
    }
}

/// Returns the verb of a git command, its arguments and the folder in which it runs. Returns `None` if the command
/// changes nothing.
pub(super) fn verb_arguments_and_folder(part: &UnwrappedCommand) -> Option<(&str, &[String], String)> {
    let mut words = &part.words[1..];
    let mut folder = part.folder.clone();
    while let Some(word) = words.first().filter(|word| word.starts_with('-')) {
        let takes_value = matches!(word.as_str(), "-C" | "-c" | "--git-dir" | "--work-tree");
        if word == "-C" {
            folder = words.get(1).cloned().unwrap_or_default();
        }
        words = words.get(1 + usize::from(takes_value)..).unwrap_or_default();
    }
    let (verb, rest) = words.split_first()?;
    let changes_nothing = has_flag(rest, &["--dry-run", "--abort", "--quit", "-h", "--help"]);
    (!changes_nothing).then_some((verb.as_str(), rest, folder))
}

/// Returns the subject that the options of `git commit` give, or an empty string.
pub(super) fn subject_in_arguments(arguments: &[String]) -> String {
    // In `-qam text`, the value belongs to the last of the combined short options.
    let is_message = |word: &&str| {
        let options = word.strip_prefix('-').filter(|rest| !rest.starts_with('-'));
        options
            .and_then(|rest| rest.strip_suffix('m'))
            .is_some_and(|rest| rest.chars().all(|c| "aqsvne".contains(c)))
    };
    let option = arguments.iter().map(String::as_str).find(is_message).unwrap_or("-m");
    option_value(arguments, &[option, "-m", "--message"])
        .map(|text| commit_subject(&text))
        .unwrap_or_default()
}

struct GitCommand<'s, 'a, 'p> {
    collector: &'s mut EffectCollector<'a>,
    command: &'p UnwrappedCommand,
    arguments: &'p [String],
    folder: String,
}

impl<'a> GitCommand<'_, 'a, '_> {
    fn command_output(&self) -> &CommandOutput<'a> {
        self.collector.output
    }

    fn add_effect(&mut self, kind: EffectKind, what: &str, place: &str, id: &str) {
        // A repository that the same command line created is an experiment, so effects on it are not recorded.
        if self.collector.is_experiment {
            return;
        }
        let effect = Effect { folder: self.folder.clone(), ..Effect::new(kind, what, place, id) };
        self.collector.effects.push(effect);
    }

    fn operands(&self) -> Vec<&str> {
        self.arguments.iter().map(String::as_str).filter(|word| !word.starts_with('-')).collect()
    }

    /// Adds the complete list of changed files. A list that a filter or an option may have shortened says nothing about
    /// the files that it does not contain.
    fn add_status(mut self) {
        let is_whole = self.command.is_success_implied
            && self.arguments.is_empty()
            && self.command_output().contains_text("On branch ");
        let listed = changed_files_in_status(self.command_output().lines());
        if let Some(files) = listed.filter(|files| is_whole && files.len() <= MAX_CHANGED_FILES_LIST_BYTES) {
            self.add_effect(EffectKind::Status, &files, "", "");
        }
    }

    fn add_repository_creation(self) {
        self.collector.is_experiment |= self.collector.probably_succeeded(self.command)
            && self.command.words.iter().any(|word| word == "init");
    }

    fn add_commit(mut self) {
        let is_amend = has_flag(self.arguments, &["--amend"]);
        let kind = if is_amend { EffectKind::Amend } else { EffectKind::Commit };
        if let Some(line) = self.command_output().take_first_line(parse_commit_line) {
            self.add_effect(kind, line.subject, line.branch, line.id);
            if self.command.may_run_repeatedly {
                while let Some(line) = self.command_output().take_first_line(parse_commit_line) {
                    self.add_effect(kind, line.subject, line.branch, line.id);
                }
            }
            return;
        }
        let none =
            ["nothing to commit", "nothing added to commit", "no changes added to commit", "hook failed"];
        if none.iter().any(|words| self.command_output().contains_text(words)) {
            return;
        }
        // A pipe may have cut the output, but the part that is left can still prove a commit.
        let is_cut = self
            .command_output()
            .lines()
            .any(|line| line.contains(" changed, ") || line.starts_with(" create mode "));
        if !(is_cut || self.collector.probably_succeeded(self.command)) {
            return;
        }
        let subject = subject_in_arguments(self.arguments);
        let id = self.command_output().take_first_line(commit_shown_by_log).unwrap_or_default();
        self.add_effect(kind, &subject, "", id);
    }

    /// Adds one effect for each commit that was cherry-picked or reverted.
    fn add_picked_commits(mut self, verb: &str) {
        let mut any = false;
        while let Some(line) = self.command_output().take_first_line(parse_commit_line) {
            any = true;
            self.add_effect(EffectKind::Commit, line.subject, line.branch, line.id);
        }
        let is_open = has_flag(self.arguments, &["-n", "--no-commit", "--skip"])
            || self.command_output().contains_text("CONFLICT");
        if !any && !is_open && self.collector.probably_succeeded(self.command) {
            let what = format!("{verb} {}", self.operands().join(" "));
            self.add_effect(EffectKind::Commit, &what, "", "");
        }
    }

    fn add_push(mut self) {
        if has_flag(self.arguments, &["-n"]) {
            return;
        }
        let operands = self.operands();
        let remote = operands.first().copied().unwrap_or_default().to_owned();
        let updates = pushed_refs(self.command_output());
        if !updates.is_empty() {
            for update in updates {
                let place = if remote.is_empty() { update.to } else { remote.as_str() };
                self.add_effect(EffectKind::Push, &update.what, place, update.commit_range);
            }
            return;
        }
        if self.command_output().contains_text("Everything up-to-date") {
            let branch = operands.get(1).copied().unwrap_or_default().to_owned();
            self.add_effect(EffectKind::UpToDate, &branch, &remote, "");
        } else if !self.command_output().contains_text("rejected]")
            && self.collector.probably_succeeded(self.command)
        {
            let what = operands.get(1..).unwrap_or_default().join(" ");
            let what = if has_flag(self.arguments, &["--tags"]) { "tags".to_owned() } else { what };
            self.add_effect(EffectKind::Push, &what, &remote, "");
        }
    }

    fn add_merge(mut self) {
        // A merge that has to be committed is followed by `git commit`, which prints a line of its own.
        if has_flag(self.arguments, &["--no-commit", "--squash"]) {
            return;
        }
        if let Some(line) = self.command_output().take_first_line(parse_commit_line) {
            self.add_effect(EffectKind::Merge, line.subject, line.branch, line.id);
            return;
        }
        let none = [
            "CONFLICT",
            "Already up to date",
            "stopped before committing",
            "Squash commit",
            "Automatic merge failed",
        ];
        if none.iter().any(|words| self.command_output().contains_text(words)) {
            return;
        }
        let moved = self.command_output().take_first_line(new_commit_in_updating_line);
        let made = self
            .command_output()
            .lines()
            .any(|line| line.starts_with("Merge made by") || line == "Fast-forward");
        if made || moved.is_some() || self.collector.probably_succeeded(self.command) {
            let operands = self.operands();
            let what = option_value(self.arguments, &["-m"]);
            let named = operands
                .iter()
                .find(|word| what.as_deref() != Some(**word))
                .copied()
                .unwrap_or_default()
                .to_owned();
            self.add_effect(EffectKind::Merge, &named, "", moved.unwrap_or_default());
        }
    }

    fn add_pull(mut self) {
        if self.command_output().contains_text("CONFLICT")
            || self.command_output().contains_text("Already up to date")
        {
            return;
        }
        let moved = self.command_output().take_first_line(new_commit_in_updating_line);
        let rebased = self.command_output().take_first_line(parse_rebased_line);
        if moved.is_some() || rebased.is_some() {
            let what = self.operands().join(" ");
            self.add_effect(EffectKind::Pull, &what, rebased.unwrap_or_default(), moved.unwrap_or_default());
        }
    }

    fn add_rebase(mut self) {
        // Skip the lines that the steps of a rebase print. They look like the lines of new commits, but each step only
        // recreates an existing commit.
        while self.command_output().take_first_line(parse_commit_line).is_some() {}
        if let Some(branch) = self.command_output().take_first_line(parse_rebased_line) {
            let onto = self.operands().first().copied().unwrap_or_default().to_owned();
            self.add_effect(EffectKind::Rebase, &onto, branch, "");
        }
    }

    fn add_tag(mut self) {
        let operands = self.operands();
        let is_list = has_flag(
            self.arguments,
            &["-l", "--list", "-n", "--contains", "--points-at", "--sort", "-v", "--merged"],
        );
        if is_list || operands.is_empty() {
            return;
        }
        let message = option_value(self.arguments, &["-m", "-am", "-sm"]);
        let Some(name) = operands.iter().find(|word| message.as_deref() != Some(**word)) else { return };
        let name = (*name).to_owned();
        if has_flag(self.arguments, &["-d", "--delete"]) {
            let deleted = self
                .command_output()
                .take_first_line(|line| line.strip_prefix("Deleted tag '")?.split('\'').next());
            if deleted.is_some() || self.collector.probably_succeeded(self.command) {
                self.add_effect(EffectKind::Tag, &format!("deleted {}", deleted.unwrap_or(&name)), "", "");
            }
        } else if self.collector.probably_succeeded(self.command) {
            self.add_effect(EffectKind::Tag, &name, "", "");
        }
    }

    fn add_branch(mut self) {
        let mut any = false;
        while let Some((name, id)) = self.command_output().take_first_line(parse_deleted_branch_line) {
            any = true;
            self.add_effect(EffectKind::Branch, &format!("deleted {name}"), "", id);
        }
        let lists = [
            "-a",
            "-r",
            "-v",
            "-vv",
            "-l",
            "--list",
            "--show-current",
            "--contains",
            "--merged",
            "--no-merged",
            "--sort",
            "--format",
            "--points-at",
            "-u",
            "--set-upstream-to",
            "--unset-upstream",
            "--edit-description",
            "-av",
            "-avv",
            "-rv",
        ];
        let operands = self.operands();
        let is_list =
            self.arguments.iter().any(|word| lists.contains(&word.split('=').next().unwrap_or(word)));
        if any || is_list || operands.is_empty() || !self.collector.probably_succeeded(self.command) {
            return;
        }
        let names = operands.join(" ");
        if has_flag(self.arguments, &["-d", "-D", "--delete"]) {
            self.add_effect(EffectKind::Branch, &format!("deleted {names}"), "", "");
        } else if has_flag(self.arguments, &["-m", "-M", "--move"]) {
            self.add_effect(
                EffectKind::Branch,
                &format!("renamed to {}", operands.last().copied().unwrap_or_default().to_owned()),
                "",
                "",
            );
        } else {
            let name = operands[0].to_owned();
            self.add_effect(EffectKind::Branch, &name, "", "");
        }
    }

    fn add_checkout(mut self) {
        let quoted = |line: &'a str, before: &str| line.strip_prefix(before)?.strip_suffix('\'');
        if let Some(name) =
            self.command_output().take_first_line(|line| quoted(line, "Switched to a new branch '"))
        {
            self.add_effect(EffectKind::Branch, name, "", "");
            return;
        }
        if let Some(name) = self.command_output().take_first_line(|line| {
            quoted(line, "Switched to branch '").or_else(|| quoted(line, "Switched to and reset branch '"))
        }) {
            self.add_effect(EffectKind::Switch, name, "", "");
            return;
        }
        if let Some(id) = self
            .command_output()
            .take_first_line(|line| line.strip_prefix("HEAD is now at ")?.split(' ').next())
        {
            self.add_effect(EffectKind::Switch, "", "", id);
            return;
        }
        let new = option_value(self.arguments, &["-b", "-B", "-c", "-C", "--create"]);
        let behind = self.arguments.iter().position(|word| word == "--");
        let updated =
            self.command_output().lines().any(|line| line.starts_with("Updated ") && line.contains(" path"));
        if let Some(name) = new {
            if self.collector.probably_succeeded(self.command) {
                self.add_effect(EffectKind::Branch, &name, "", "");
            }
        } else if let Some(place) = behind.filter(|place| place + 1 < self.arguments.len()) {
            if updated || self.collector.probably_succeeded(self.command) {
                let files = self.arguments[place + 1..].join(" ");
                self.add_effect(EffectKind::Discard, &files, "", "");
            }
        } else if updated || self.operands() == ["."] {
            let files = self.operands().join(" ");
            self.add_effect(EffectKind::Discard, &files, "", "");
        } else if let [name] = self.operands()[..]
            && self.collector.probably_succeeded(self.command)
            && !self.command_output().contains_text("did not match")
        {
            let name = name.to_owned();
            self.add_effect(EffectKind::Switch, &name, "", "");
        }
    }

    fn add_restore(mut self) {
        let staged =
            has_flag(self.arguments, &["--staged", "-S"]) && !has_flag(self.arguments, &["--worktree", "-W"]);
        if !staged && self.collector.probably_succeeded(self.command) {
            let files = self.operands().join(" ");
            self.add_effect(EffectKind::Discard, &files, "", "");
        }
    }

    fn add_reset(mut self) {
        let hard = has_flag(self.arguments, &["--hard", "--keep", "--merge"]);
        let at = self
            .command_output()
            .take_first_line(|line| line.strip_prefix("HEAD is now at ")?.split(' ').next());
        let operands = self.operands();
        let to = operands.first().copied().unwrap_or_default().to_owned();
        // A reset without a commit, or with file names, only unstages files.
        let moves = !matches!(to.as_str(), "" | "HEAD")
            && operands.len() == 1
            && !has_flag(self.arguments, &["--"])
            && (to.contains(['~', '^', '@'])
                || is_commit_id(&to)
                || has_flag(self.arguments, &["--soft", "--mixed"]));
        if hard && (at.is_some() || self.collector.probably_succeeded(self.command)) {
            self.add_effect(EffectKind::Reset, &format!("--hard {to}"), "", at.unwrap_or_default());
        } else if moves && self.collector.probably_succeeded(self.command) {
            self.add_effect(EffectKind::Reset, &to, "", "");
        }
    }

    fn add_stash(mut self) {
        let verb = self.arguments.first().filter(|word| !word.starts_with('-'));
        let verb = verb.map_or("push", String::as_str).to_owned();
        match verb.as_str() {
            "push" | "save" => {
                let none = self.command_output().contains_text("No local changes to save");
                let saved = self
                    .command_output()
                    .take_first_line(|line| line.strip_prefix("Saved working directory and index state "));
                if saved.is_some() || !none && self.collector.probably_succeeded(self.command) {
                    let names = if verb == "push" { names_in_stash(self.arguments) } else { String::new() };
                    self.add_effect(EffectKind::Stash, saved.unwrap_or_default(), &names, "");
                }
            }
            "pop" | "apply" | "drop" | "clear" => {
                let kind = if matches!(verb.as_str(), "pop" | "apply") {
                    EffectKind::Unstash
                } else {
                    EffectKind::StashDrop
                };
                let dropped = self.command_output().take_first_line(|line| line.strip_prefix("Dropped "));
                if dropped.is_some() || self.collector.probably_succeeded(self.command) {
                    let stash = self.operands().get(1).copied().unwrap_or_default().to_owned();
                    self.add_effect(kind, &verb, &stash, "");
                }
            }
            _ => {}
        }
    }

    fn add_clean(mut self) {
        let forced = self.arguments.iter().any(|word| {
            word == "--force"
                || word.starts_with('-')
                    && !word.starts_with("--")
                    && word.contains('f')
                    && !word.contains('n')
        });
        if forced && self.collector.probably_succeeded(self.command) {
            self.add_effect(EffectKind::Discard, "untracked files", "", "");
        }
    }

    fn add_worktree(mut self) {
        let operands = self.operands();
        let Some(path) = operands.get(1).map(|path| (*path).to_owned()) else { return };
        if matches!(operands[0], "add" | "remove") && self.collector.probably_succeeded(self.command) {
            let what = if operands[0] == "add" { path } else { format!("removed {path}") };
            self.add_effect(EffectKind::Worktree, &what, "", "");
        }
    }
}

/// Returns the names that a `git stash push` is limited to, separated by spaces, or an empty string if it contains all
/// changes. If only git knows what it contains, returns [`SOME_CHANGES`].
fn names_in_stash(arguments: &[String]) -> String {
    let mut names = Vec::new();
    let mut rest = arguments.iter().map(String::as_str).skip_while(|word| *word == "push");
    while let Some(word) = rest.next() {
        match word {
            "--" => names.extend(rest.by_ref()),
            "-m" | "--message" => drop(rest.next()),
            "-p" | "--patch" | "-S" | "--staged" => return SOME_CHANGES.to_owned(),
            _ if word.starts_with("--pathspec-from-file") => return SOME_CHANGES.to_owned(),
            _ if !word.starts_with('-') => names.push(word),
            _ => {}
        }
    }
    let is_pattern = |name: &&str| name.contains(['*', '?', '[', '$', '`', ' ']) || name.starts_with(':');
    let names_text = names.join(" ");
    match names.iter().any(is_pattern) || names_text.len() > MAX_EFFECT_PLACE_BYTES {
        true => SOME_CHANGES.to_owned(),
        false => names_text,
    }
}
