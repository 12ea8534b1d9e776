//! The prompt that a fresh agent starts from. It is short, because the packet's other sections accompany it.

use super::{Facts, NONE};
use crate::brief;
use crate::digest::FileUse;
use crate::loops::promise;
use crate::packet::choose::{self, goal_words};
use crate::packet::words;
use crate::prompt::Sort;
use crate::render::{code, inline, quoted};
use crate::statement;

/// The most characters of the goal that are repeated.
const GOAL_CHARS: usize = 320;

/// The most files that are named.
const MOST_FIRST_FILES: usize = 4;

/// The most of the last calls that are named to say where to continue.
const MOST_LAST_STEPS: usize = 3;

impl Facts<'_> {
    /// Returns the prompt: the goal, where to begin, what to open, and when the work is done. For the rest it refers to
    /// the packet.
    pub(super) fn next_prompt(&self) -> String {
        let mut parts = vec![format!("Goal: {}", self.goal_line())];
        parts.extend(self.first_step().map(|step| format!("Begin with: {step}.")));
        let files = self.first_files();
        if !files.is_empty() {
            parts.push(format!("Open first: {}.", files.join(", ")));
        }
        parts.extend(self.exit_criteria());
        if !self.told.is_empty() {
            let heeded = match self.constraints() == NONE {
                true => "",
                false => "; Constraints says what the user insists on",
            };
            parts.push(format!(
                "Intent has the user's own words; Context says what was done, what is at risk and what fails{heeded}."
            ));
        }
        parts.join("\n\n")
    }

    fn goal_line(&self) -> String {
        let purpose = self.material.purpose;
        match goal_words(&self.goal) {
            Some(goal) if !words::says_something(purpose) => match self.goal.accepted {
                // An approval is only clear with its question.
                Some(accepted) if !accepted.asks.is_empty() && goal.len() < GOAL_CHARS => {
                    format!(
                        "{}, in answer to {}",
                        quoted(goal, GOAL_CHARS),
                        quoted(&accepted.asks, GOAL_CHARS)
                    )
                }
                _ => quoted(goal, GOAL_CHARS),
            },
            _ => inline(purpose, 400),
        }
    }

    /// Returns the first step: the work in progress with its failures, or else the next todo, or what only the user can
    /// decide.
    fn first_step(&self) -> Option<String> {
        let digest = self.material.digest;
        if digest.records == 0 {
            return None;
        }
        let broken_off = digest
            .unfinished
            .first()
            .map(|call| format!("{}, which had begun and not finished", code(call, 200)));
        let failing =
            self.failing.first().map(|failure| format!("what fails: {}", code(&failure.run(), 120)));
        if digest.has_finished() && broken_off.is_none() && failing.is_none() {
            return Some(match self.open_questions().is_empty() {
                false => "the user's answer to what is under Open Questions".to_owned(),
                true => "the user: the agent had finished and waited for the next request".to_owned(),
            });
        }
        let asked = self.goal.newest.map_or(0, |newest| newest.record);
        let since = brief::last_steps(digest, MOST_LAST_STEPS);
        let announced = digest.said_last > asked && statement::announces(&digest.said);
        let under_way = match self.goal.newest {
            _ if digest.has_finished() => None,
            _ if self.is_checked() => Some(
                "what is left of the goal, if anything: the checks passed after the last edit".to_owned(),
            ),
            // The agent announced a step and has not begun it.
            _ if announced && since.is_empty() => Some(format!(
                "what the agent was about to do: {}",
                quoted(&statement::last_sentences(&digest.said, 160), 164)
            )),
            Some(_) if !digest.is_taken_up() && digest.said_last < asked => {
                Some("the user's newest message, under Intent: it has not been taken up yet".to_owned())
            }
            // The newest message was a remark, so the goal is the task it belongs to.
            Some(newest) if goal_words(&self.goal) != Some(newest.text.as_str()) => {
                let after =
                    if since.is_empty() { String::new() } else { format!(", after {}", since.join(", ")) };
                Some(format!("what was under way: {}{after}", quoted(&newest.text, 160)))
            }
            _ if !since.is_empty() => Some(format!("what comes after the last calls: {}", since.join(", "))),
            _ => None,
        };
        let steps: Vec<String> = broken_off.into_iter().chain(under_way).chain(failing).collect();
        match steps.is_empty() {
            false => Some(steps.join("; then ")),
            true => Some("where the agent was, under Where it stands in Context".to_owned()),
        }
    }

    /// Returns whether tests passed after the last edit for the current request, and nothing fails.
    fn is_checked(&self) -> bool {
        let asked = self.goal.newest.map_or(0, |newest| newest.record);
        let is_edited = self.material.digest.edited_after(asked).is_some();
        is_edited && self.failing.is_empty() && choose::passed_since_edits(&self.runs)
    }

    /// Returns the files to open first: those that the user chose, that a failure names, or that were in use for the
    /// newest message. Files of earlier work are listed below.
    fn first_files(&self) -> Vec<String> {
        let digest = self.material.digest;
        let named = |file: &&FileUse| {
            let name = file.path.rsplit('/').next().unwrap_or(&file.path);
            self.failing.iter().any(|failure| failure.error.contains(name))
        };
        let asked = self.goal.newest.map_or(0, |newest| newest.record);
        let mut used: Vec<&FileUse> =
            self.suggested.iter().copied().filter(|file| file.last > asked).collect();
        used.sort_by_key(|file| std::cmp::Reverse((named(file), file.edited_at > asked, file.last)));
        let failing = self.suggested.iter().copied().filter(named);
        let here = failing.chain(used).filter(|file| !file.outside && !self.is_gone(file));
        let mut paths: Vec<&str> = self.material.confirmed.iter().map(String::as_str).collect();
        for file in here.filter(|file| file.edits + file.reads > 0 && digest.records > 0) {
            if !paths.contains(&file.path.as_str()) {
                paths.push(&file.path);
            }
        }
        let most = MOST_FIRST_FILES.max(self.material.confirmed.len());
        paths.into_iter().take(most).map(|path| code(path, 120)).collect()
    }

    /// Returns what must be true at the end: what the user demanded, and the checks that were seen if files were edited
    /// for the current request.
    fn exit_criteria(&self) -> Option<String> {
        let digest = self.material.digest;
        let task = self.goal.task.filter(|_| !self.goal.is_answered);
        let asked = task.or(self.goal.newest).map_or(0, |prompt| prompt.record);
        // A question for which the agent edited files is a request.
        let is_question = self.goal.newest.is_some_and(|newest| {
            newest.sort() == Sort::Question && digest.edited_after(newest.record).is_none()
        }) && !words::says_something(self.material.purpose);
        let demanded = choose::demanded(&self.goal);
        let is_demanded = |command: &String| {
            self.material.validators.contains(command)
                || demanded.iter().any(|known| choose::is_same(known, command))
        };
        let fits = !is_question && digest.edited_after(asked).is_some();
        let commands = self.validator_commands();
        let commands = commands.iter().filter(|command| fits || is_demanded(command));
        let commands: Vec<String> = commands.take(3).map(|command| code(command, 120)).collect();
        let promise =
            self.material.promise.map(|promise| format!("the last message holds {}", promise::tag(promise)));
        let all: Vec<String> = (!commands.is_empty())
            .then(|| {
                format!("{} {}", commands.join(", "), if commands.len() == 1 { "passes" } else { "pass" })
            })
            .into_iter()
            .chain(promise)
            .collect();
        match (all.is_empty(), is_question) {
            (false, _) => Some(format!("Done when: the goal is met, and {}.", all.join(", and "))),
            (true, true) => Some("Done when: the question is answered.".to_owned()),
            (true, false) => None,
        }
    }
}
