//! The prompt that a fresh agent starts from.

use super::{Facts, TELLING};
use crate::checks::Sort;
use crate::event::TodoStatus;
use crate::loops::promise;
use crate::packet::choose::{bullets, failing_words, fit, git_words, shown};
use crate::render::{code, inline, quoted, width};
use crate::text::count;

impl Facts<'_> {
    /// Goal, where things stand, what to open, what not to redo, when it is done: within [`PROMPT_CAP`], the least
    /// needed left out first.
    pub(super) fn next_prompt(&self) -> String {
        let material = self.material;
        let mut parts: Vec<(u8, usize, String)> = Vec::new();
        let mut add = |rank: u8, text: String| {
            if !text.is_empty() {
                parts.push((rank, parts.len(), text));
            }
        };
        add(0, format!("Goal: {}", inline(material.purpose, 400)));
        if let Some(last) = self.prompts.last() {
            // `yes` and `3` answer something: what they answer to is of more use.
            let before =
                self.prompts.iter().rev().skip(1).find(|prompt| width(prompt.text.trim()) >= TELLING);
            let before = before.filter(|_| width(last.text.trim()) < TELLING);
            let before =
                before.map_or(String::new(), |p| format!(", and before that {}", quoted(&p.text, 350)));
            add(1, format!("The user's last words on it: {}{before}", quoted(&last.text, 450)));
        }
        if let [first, _, ..] = self.prompts.as_slice() {
            add(6, format!("It began with: {}", quoted(&first.text, 250)));
        }
        add(2, self.state());
        if !material.digest.said.is_empty() {
            add(5, format!("The agent before you said last: {}", quoted(&material.digest.said, 450)));
        }
        let unfinished: Vec<String> =
            material.digest.unfinished.iter().take(3).map(|call| code(call, 200)).collect();
        add(3, bullets("Running when the session broke off:", &unfinished));
        let open: Vec<String> =
            material.digest.open_todos().take(6).map(|todo| inline(&todo.text, 120)).collect();
        add(3, bullets("Still to do:", &open));
        let failing: Vec<String> = self.failing_now().into_iter().take(4).map(failing_words).collect();
        add(3, bullets("Failing when last run:", &failing));
        add(4, bullets("Open these first:", &self.first_files()));
        let done = self.not_to_redo();
        add(7, bullets("Done already, not to be redone:", &done));
        let questions = self.open_questions();
        add(6, bullets("Asked by the agent and not answered:", &questions));
        add(2, self.exit_criteria());
        fit(parts)
    }

    fn state(&self) -> String {
        let mut facts = self.seen();
        if let Some(git) = self.material.git {
            facts.push(git_words(git));
        }
        format!("Where things stand: {}.", facts.join("; "))
    }

    fn seen(&self) -> Vec<String> {
        let digest = self.material.digest;
        if digest.session.is_empty() && digest.records == 0 {
            return vec!["not known, as nothing was captured of a session".to_owned()];
        }
        let edited = digest.files.iter().filter(|file| file.edits > 0).count();
        let mut facts = vec![format!("{} edited", count(edited, "file"))];
        let tests = self.checks.iter().filter(|(sort, _)| *sort == Sort::Test);
        match tests.max_by_key(|(_, used)| used.last) {
            Some((_, used)) => {
                facts.push(format!(
                    "{} {}",
                    code(shown(used), 80),
                    if used.ok { "passed" } else { "failed" }
                ));
            }
            None => facts.push("no test run was seen".to_owned()),
        }
        facts
    }

    fn first_files(&self) -> Vec<String> {
        let chosen = self.material.confirmed;
        let here = self.suggested.iter().filter(|file| !file.outside && !self.is_gone(file));
        let here = here.filter(|file| !chosen.contains(&file.path));
        chosen
            .iter()
            .map(|path| code(path, 120))
            .chain(here.map(|file| code(&file.path, 120)))
            .take(8)
            .collect()
    }

    fn not_to_redo(&self) -> Vec<String> {
        let todos = &self.material.digest.todos;
        let done = todos.iter().filter(|todo| todo.status == Some(TodoStatus::Completed));
        done.rev().take(5).map(|todo| inline(&todo.text, 100)).collect()
    }

    fn exit_criteria(&self) -> String {
        let commands: Vec<String> =
            self.validator_commands().iter().take(3).map(|command| code(command, 120)).collect();
        let promise =
            self.material.promise.map(|promise| format!("the last message holds {}", promise::tag(promise)));
        let all: Vec<String> = (!commands.is_empty())
            .then(|| {
                format!("{} {}", commands.join(", "), if commands.len() == 1 { "passes" } else { "pass" })
            })
            .into_iter()
            .chain(promise)
            .collect();
        if all.is_empty() {
            return "Done when: the goal is met, and it was seen to work (no check was recorded).".to_owned();
        }
        format!("Done when: the goal is met, and {}.", all.join(", and "))
    }
}
