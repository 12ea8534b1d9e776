//! Chooses which parts of a session go into a packet, and describes them.

use super::RecordedCheck;
use super::compose::{GitFacts, NONE_RECORDED, PacketMaterial};
use crate::brief::list_by_folder;
use crate::checkout_path::is_in_store;
use crate::digest::{Digest, Failure, FileUse, Goal, NewestRunOfCheck, Prompt, is_documentation};
use crate::prompt;
use crate::render::in_backticks;
use crate::run::{self, CommandKind, RunResult};
use crate::text::{count_with_noun, quoted_commands};

/// How many of git's uncommitted files are named.
const MAX_UNCOMMITTED_NAMED: usize = 5;

/// The maximum number of suggested files that were only read. All edited files are suggested.
const MAX_SUGGESTED_FILES_ONLY_READ: usize = 25;

/// The maximum number of suggested files that were only named in commands.
const MAX_SUGGESTED_FILES_ONLY_NAMED: usize = 5;

/// The files that a packet suggests. The most useful file comes first.
#[derive(Debug, Default)]
pub struct SuggestedFiles<'a> {
    pub files: Vec<&'a FileUse>,
    /// How many files were left out because too many files were only read or only named.
    pub left_out: usize,
}

/// Returns every edited file and the most useful of the files that were only read or named.
pub fn suggested_files<'a>(material: &PacketMaterial<'a>) -> SuggestedFiles<'a> {
    let files = &material.digest.files;
    // Folders that were searched are skipped. So are relative names whose full path is also in the list.
    let is_folder = |file: &FileUse| files.iter().any(|other| is_path_below_folder(&other.path, &file.path));
    let is_tail = |file: &FileUse| files.iter().any(|other| is_below_folder_ending(&other.path, &file.path));
    let is_down = |file: &FileUse| {
        file.deleted
            || file.was_missing
            || material.ignored.contains(&file.path)
            || material.missing_files.contains(&file.path)
    };
    let mut ranked = material.digest.ranked_files();
    // Move missing or ignored files, and files outside the project, to the end. The sort is stable.
    ranked.sort_by_key(|file| (is_down(file), file.is_outside_checkout));
    let goal = material.digest.current_goal();
    let task = goal
        .task_prompt
        .filter(|_| !goal.is_answered)
        .or(goal.newest_prompt)
        .map_or(0, |prompt| prompt.record);
    let (mut read, mut named, mut left_out) = (0, 0, 0);
    ranked.retain(|file| {
        let only_guessed = !file.is_edited() && file.reads == 0;
        let is_git = file.path.split('/').any(|part| part == ".git");
        let is_noise = is_tail(file) || is_down(file) || file.is_outside_checkout || file.deleted || is_git;
        let is_record = !file.is_edited() && is_in_store(&file.path);
        if file.edits == 0 && is_folder(file) || only_guessed && is_noise || is_record {
            return false;
        }
        // Files that were only named in commands are kept only if they belong to the current task.
        if only_guessed {
            if file.last_use_record <= task {
                return false;
            }
            named += 1;
            left_out += usize::from(named > MAX_SUGGESTED_FILES_ONLY_NAMED);
            return named <= MAX_SUGGESTED_FILES_ONLY_NAMED;
        }
        if file.is_edited() {
            return true;
        }
        if is_down(file) {
            return false;
        }
        read += 1;
        left_out += usize::from(read > MAX_SUGGESTED_FILES_ONLY_READ);
        read <= MAX_SUGGESTED_FILES_ONLY_READ
    });
    SuggestedFiles { files: ranked, left_out }
}

fn is_path_below_folder(path: &str, folder: &str) -> bool {
    path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
}

fn is_below_folder_ending(path: &str, end: &str) -> bool {
    path.strip_suffix(end).is_some_and(|rest| rest.ends_with('/'))
}

/// The last run of a check.
#[derive(Debug)]
pub struct CheckRunForPacket<'d> {
    /// The command that repeats the check from the top of the checkout.
    pub command: String,
    check_use: &'d NewestRunOfCheck,
    /// Whether a file was edited after the run.
    edited_since: bool,
    /// Whether a file that is not documentation was edited after the run.
    code_edited_since: bool,
}

impl CheckRunForPacket<'_> {
    pub fn to_recorded_check(&self) -> RecordedCheck {
        RecordedCheck {
            command: self.command.clone(),
            ok: self.check_use.last_result == RunResult::Passed,
            unknown: self.check_use.last_result == RunResult::Unknown,
            edited_since: self.edited_since,
            at: self.check_use.at.clone(),
        }
    }

    /// Describes the run, as in `passed at …, before the last edits` and ``failed (exit 2) at …: `why` ``.
    pub fn describe(&self) -> String {
        let NewestRunOfCheck { last_result: ended, exit, at, result_line: result, counts, .. } =
            self.check_use;
        let how = match (ended, exit) {
            (RunResult::Failed, Some(exit)) => format!("failed (exit {exit})"),
            (RunResult::Unknown, _) if counts.tests_run() == Some(0) => "ran no tests".to_owned(),
            (RunResult::Unknown, _) => "ran, but its result was not seen".to_owned(),
            (ended, _) => ended.name().to_owned(),
        };
        let at = if at.is_empty() { String::new() } else { format!(" at {at}") };
        let since = if self.edited_since { ", before the last edits" } else { "" };
        // The runner may have printed several summaries, one of which does not state the result of the whole run.
        let is_result_of_some = run::counts_only_some_tests(result, *counts);
        let why = match (result.is_empty() || is_result_of_some, counts.is_none()) {
            (false, _) => format!(": {}", in_backticks(result, 200)),
            (true, false) if is_result_of_some => format!(": {counts}"),
            _ => String::new(),
        };
        format!("{how}{at}{since}{why}")
    }

    /// Returns whether the output shows that the command does not exist.
    pub fn is_command_missing(&self) -> bool {
        const MISSING_MESSAGES: [&str; 7] = [
            "No rule to make target",
            "command not found",
            "Missing script",
            "no such command",
            "no such file or directory",
            "unknown command",
            "no task ",
        ];
        let NewestRunOfCheck { last_result: ended, result_line: result, counts, .. } = self.check_use;
        let is_missing = *ended == RunResult::Failed && !counts.has_failed_tests();
        is_missing && MISSING_MESSAGES.iter().any(|words| result.contains(words))
    }

    fn is_run_of(&self, check: &run::ProjectCheck) -> bool {
        run::checks_of_command(&self.check_use.run, &self.check_use.folder)
            .first()
            .is_some_and(|known| known.identity_key() == check.identity_key())
    }

    pub fn has_passed(&self) -> bool {
        self.check_use.last_result == RunResult::Passed
    }

    pub fn is_before_last_edit(&self) -> bool {
        self.edited_since
    }

    /// Like `is_before_last_edit`, but edits of documentation do not count.
    pub fn is_before_last_code_edit(&self) -> bool {
        self.code_edited_since
    }

    /// Returns whether only some of the tests ran. Such a run does not show that the work is done.
    pub fn is_partial_test_run(&self) -> bool {
        run::checks_of_command(&self.check_use.run, "").first().is_some_and(run::is_partial_test_run)
    }
}

/// Returns the last run of each test, build and lint. Tests come first, and newer runs come before older ones.
pub fn last_check_runs(digest: &Digest) -> Vec<CheckRunForPacket<'_>> {
    let run = |used| {
        let used: &NewestRunOfCheck = used;
        let edited = digest.files_changed_after_check(used.last_run_record);
        CheckRunForPacket {
            command: command_with_cd(used),
            check_use: used,
            edited_since: digest.are_files_changed_since || !edited.is_empty(),
            code_edited_since: digest.are_files_changed_since
                || edited.iter().any(|path| !is_documentation(path)),
        }
    };
    digest.check_runs().into_iter().filter(|used| used.check_kind.is_check()).map(run).collect()
}

/// Returns the command, preceded by `cd FOLDER` if needed. If the folder's path is absolute, `cd FOLDER` is left
/// out, because that path would be useless on another machine.
fn command_with_cd(used: &NewestRunOfCheck) -> String {
    let NewestRunOfCheck { folder, run, .. } = used;
    if folder.is_empty() || folder.starts_with('/') { run.clone() } else { format!("cd {folder} && {run}") }
}

/// Returns the runs that show whether the work is done. Partial test runs are included only if there is no complete
/// one. Commands that do not exist, unknown results, failures that another check has shown to be fixed, and builds that
/// show nothing are left out.
pub fn runs_worth_repeating<'r, 'd>(
    runs: &'r [CheckRunForPacket<'d>],
    failing: &'r [&'d Failure],
) -> impl Iterator<Item = &'r CheckRunForPacket<'d>> {
    let is_test = |run: &&CheckRunForPacket| run.check_use.check_kind == CommandKind::Test;
    let tested = runs.iter().any(|run| is_test(&run) && !run.is_partial_test_run());
    let broad = runs.iter().filter(|run| !run.is_partial_test_run());
    let narrow = runs.iter().filter(move |run| !tested && is_test(run) && run.is_partial_test_run());
    let is_failing = |run: &CheckRunForPacket| {
        failing.iter().any(|failure| {
            run::checks_of_command(&failure.command_or_file, &failure.folder)
                .iter()
                .any(|check| run.is_run_of(check))
        })
    };
    let is_told = move |run: &&CheckRunForPacket| {
        run.check_use.check_kind != CommandKind::Build || is_build_worth_repeating(&run.command, tested)
    };
    broad.chain(narrow).filter(is_told).filter(move |run| match run.check_use.last_result {
        RunResult::Passed => true,
        RunResult::Failed => !run.is_command_missing() && is_failing(run),
        RunResult::Unknown => false,
    })
}

/// Returns whether a build helps to show that the work is done. If the tests are run as well, a build shows nothing
/// more, because tests also build the project. Commands that only prepare the checkout show nothing either.
fn is_build_worth_repeating(command: &str, is_tested: bool) -> bool {
    const PREPARING_WORDS: [&str; 6] = ["bootstrap", "generate", "install", "prepare", "seed", "setup"];
    let mut words = command.split(|c: char| !c.is_alphanumeric());
    !is_tested && !words.any(|word| PREPARING_WORDS.contains(&word))
}

/// Returns whether a complete test run has passed since the last edit.
pub fn has_full_test_run_passed_since_edits(runs: &[CheckRunForPacket]) -> bool {
    let passed =
        |run: &CheckRunForPacket| run.check_use.last_result == RunResult::Passed && !run.edited_since;
    runs.iter()
        .any(|run| run.check_use.check_kind == CommandKind::Test && !run.is_partial_test_run() && passed(run))
}

pub fn is_same_command(one: &str, other: &str) -> bool {
    let keys = |command: &str| {
        run::checks_of_command(command, "").iter().map(run::ProjectCheck::identity_key).collect::<Vec<_>>()
    };
    let keys = (keys(one), keys(other));
    one == other || !keys.0.is_empty() && keys.0 == keys.1
}

/// Returns the worst run among the checks in a command line, if each of them has also run separately. A failure is
/// worse than an unknown result, which is worse than a pass. Among equal results, a run before the last edits is worse
/// than a run after them. Otherwise, the older run is worse.
pub fn worst_run_of_parts<'r, 'd>(
    runs: &'r [CheckRunForPacket<'d>],
    command: &str,
) -> Option<&'r CheckRunForPacket<'d>> {
    let parts = run::checks_of_command(command, "");
    if parts.len() < 2 {
        return None;
    }
    let parts = parts.into_iter().filter(|part| part.check_kind.is_check());
    let run_of = |part: run::ProjectCheck| {
        runs.iter().find(|run| is_same_command(&run.command, &part.command_to_repeat))
    };
    let each: Option<Vec<&CheckRunForPacket>> = parts.map(run_of).collect();
    let strength = |run: &&CheckRunForPacket<'d>| {
        let ended = match run.check_use.last_result {
            RunResult::Failed => 0,
            RunResult::Unknown => 1,
            RunResult::Passed => 2,
        };
        (ended, !run.edited_since, run.check_use.last_run_record)
    };
    each?.into_iter().min_by_key(strength)
}

/// Returns whether a successful run of `wide` makes a run of `narrow` unnecessary.
pub fn covers_command(wide: &str, narrow: &str) -> bool {
    let (all, parts) = (run::checks_of_command(wide, ""), run::checks_of_command(narrow, ""));
    let is_in = |part: &run::ProjectCheck| {
        all.iter().any(|check| check.identity_key() == part.identity_key() || run::proves_fixed(check, part))
    };
    wide == narrow || !parts.is_empty() && parts.iter().all(is_in)
}

/// Returns the goal in the user's own words, or in the agent's words if the user only agreed.
pub fn goal_text<'d>(goal: &Goal<'d>) -> Option<&'d str> {
    let newest = goal.newest_prompt?;
    let task = goal.task_prompt.filter(|_| !goal.is_answered).map(|task| task.text.as_str());
    match (newest.prompt_kind(), goal.accepted_proposal) {
        // "Yes, but keep the name" is a remark about the task.
        (prompt::PromptKind::Task, Some(_))
            if prompt::begins_with_agreement(&newest.text) && task.is_some() =>
        {
            task
        }
        (prompt::PromptKind::Task | prompt::PromptKind::Question, _) => Some(&newest.text),
        (_, Some(accepted)) if !accepted.closing_question.is_empty() => Some(&newest.text),
        (prompt::PromptKind::Approval, Some(accepted)) => Some(&accepted.text),
        // "push it" is a goal, but a "yes" without a known proposal is not.
        (prompt::PromptKind::Remark, _) if !newest.is_sent_during_work => Some(&newest.text),
        (_, accepted) => task.or(accepted.map(|said| said.text.as_str())).or(Some(&newest.text)),
    }
}

/// Returns the work that a session is doing, for the title of its packet. "go on" and "yes" name no work, so the task
/// or the proposal to which they refer is returned instead. Returns `None` if the session's own messages name no work.
pub fn work_named_by_goal<'d>(goal: &Goal<'d>) -> Option<&'d str> {
    let is_approval = |prompt: &Prompt| prompt.prompt_kind() == prompt::PromptKind::Approval;
    if !is_approval(goal.newest_prompt?) {
        return goal_text(goal);
    }
    let task = goal.task_prompt.filter(|task| !is_approval(task)).map(|task| task.text.as_str());
    task.or(goal.accepted_proposal.map(|said| said.text.as_str()))
}

/// Returns the checks that the user's prompts contain as commands, in order. They are in backticks, such as `` `make
/// test` ``, or lines of a code block.
pub fn checks_demanded_by_user(goal: &Goal) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    // If the task is finished, the checks that were demanded for it no longer apply.
    let task = goal.task_prompt.filter(|_| !goal.is_answered);
    for prompt in [goal.newest_prompt, task].into_iter().flatten() {
        for command in quoted_commands(&prompt.text) {
            let is_check = run::command_kind(command).is_some_and(CommandKind::is_check);
            if is_check && !found.iter().any(|known| covers_command(known, command)) {
                found.push(command.to_owned());
            }
        }
    }
    found
}

pub fn describe_git(git: &GitFacts) -> String {
    let branch = if git.branch.is_empty() {
        "no branch".to_owned()
    } else {
        format!("branch {}", in_backticks(&git.branch, 100))
    };
    let head = git.head.get(..10).unwrap_or(&git.head);
    let uncommitted = match git.uncommitted_files.as_deref() {
        None => String::new(),
        Some([]) => ", nothing uncommitted".to_owned(),
        Some(files) => {
            let count = count_with_noun(files.len(), "file");
            format!(", {count} uncommitted: {}", name_uncommitted_files(files))
        }
    };
    let at = if head.is_empty() { ", before the first commit".to_owned() } else { format!(" at {head}") };
    format!("{branch}{at}{uncommitted}")
}

/// Names the first few uncommitted files and counts the others.
pub fn name_uncommitted_files(files: &[String]) -> String {
    list_by_folder(files.iter().map(String::as_str), MAX_UNCOMMITTED_NAMED)
}

pub fn time_of_prompt(prompt: &Prompt) -> String {
    let typed = prompt.note_on_command();
    if prompt.at.is_empty() { typed.to_owned() } else { format!("{typed}, {}", prompt.at) }
}

pub fn push_titled_bullet_list(text: &mut String, title: &str, lines: impl IntoIterator<Item = String>) {
    let mut lines = lines.into_iter().peekable();
    if lines.peek().is_some() {
        text.push_str(&format!("\n{title}:\n\n"));
        lines.for_each(|line| text.push_str(&format!("- {line}\n")));
    }
}

pub fn bullet_list_or_none_recorded(lines: &[String]) -> String {
    let lines: Vec<String> = lines.iter().map(|line| format!("- {line}")).collect();
    if lines.is_empty() { NONE_RECORDED.to_owned() } else { lines.join("\n") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn builds_that_show_whether_work_is_done() {
        for (command, is_tested, expected) in [
            ("go build ./...", false, true),
            ("go build ./...", true, false),
            ("mise run setup-repo", false, false),
            ("make install", false, false),
        ] {
            assert_eq!(is_build_worth_repeating(command, is_tested), expected, "{command}");
        }
    }
}
