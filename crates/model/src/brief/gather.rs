//! The facts of a digest, and those that features add, as candidates.

use std::collections::BTreeSet;

use super::candidate::{Candidate, Class};
use super::paths::Endings;
use super::{Material, Occasion};
use crate::digest::{Digest, Failure, FileUse, Prompt, SUBSTANTIAL};
use crate::event::TodoStatus;
use crate::render::{block, code, inline, path, quoted};
use crate::text::{cut, fingerprint};

/// How much of a command makes it known, with a little to spare.
const COMMAND: usize = 66;

pub(super) fn candidates(material: &Material) -> Vec<Candidate> {
    let mut gathering = Gathering { material, all: Vec::new() };
    gathering.records();
    gathering.prompts();
    gathering.todos();
    gathering.failures();
    gathering.files();
    gathering.answers();
    gathering.commands();
    gathering.all
}

struct Gathering<'m> {
    material: &'m Material<'m>,
    all: Vec<Candidate>,
}

impl Gathering<'_> {
    fn add(&mut self, class: Class, id: String, forms: Vec<String>) -> &mut Candidate {
        let place = self.all.iter().filter(|known| known.class == class).count();
        let at = self.all.len();
        self.all.push(Candidate { id, class, place, kept: false, folder: None, forms });
        &mut self.all[at]
    }

    /// What the harness's own summary kept is before the agent anyway: first comes what it lost.
    fn is_kept(&self, text: &str) -> bool {
        self.material.occasion == Occasion::Compacted && self.material.digest.fresh_summary().contains(text)
    }

    /// What features add, in the order of their rows.
    fn records(&mut self) {
        for candidate in self.material.records {
            let place = self.all.iter().filter(|known| known.class == candidate.class).count();
            self.all.push(Candidate { place, ..candidate.clone() });
        }
        for problem in self.material.problems {
            let id = format!("problem:{:016x}", fingerprint([problem]));
            self.add(Class::Problems, id, vec![inline(problem, 200)]);
        }
    }

    /// What is being done: the newest prompt, the newest that says something, and the one the session began with.
    fn prompts(&mut self) {
        let digest = self.material.digest;
        if !digest.said.is_empty() {
            let forms = [160, 400, 1_000].map(|most| quoted(&digest.said, most));
            self.add(Class::Said, "said".to_owned(), forms.to_vec());
        }
        let mut later: Vec<&Prompt> = Vec::new();
        let mut told = BTreeSet::new();
        let (mut newest, mut substantial) = (false, false);
        for (i, prompt) in digest.prompts.iter().enumerate().rev() {
            // What was said twice is told where it was said last.
            if !told.insert(prompt.text.trim()) {
                continue;
            }
            let says = prompt.text.trim().chars().count() >= SUBSTANTIAL;
            let class = match is_about_the_harness(&prompt.text) {
                false if !newest || says && !substantial || i == 0 => Class::Asked,
                _ => Class::Earlier,
            };
            if class == Class::Earlier {
                later.push(prompt);
                continue;
            }
            let most = if newest { [70, 160, 300, 800] } else { [150, 300, 700, 2_000] };
            newest = true;
            substantial |= says;
            self.prompt(class, prompt, &most);
        }
        // Since the last compaction first: what came before was in an earlier brief. Words to the harness are the last
        // thing that anybody needs.
        later.sort_by_key(|prompt| (is_about_the_harness(&prompt.text), prompt.record <= digest.epoch));
        for prompt in later {
            self.prompt(Class::Earlier, prompt, &[70, 160, 300]);
        }
    }

    fn prompt(&mut self, class: Class, prompt: &Prompt, most: &[usize]) {
        let forms = most.iter().map(|most| quoted(&prompt.text, *most)).collect();
        self.add(class, format!("prompt:{}", prompt.record), forms);
    }

    fn todos(&mut self) {
        let digest = self.material.digest;
        let (mut open, mut done) = (Vec::new(), Vec::new());
        for todo in digest.todos.iter().filter(|todo| !todo.text.trim().is_empty()) {
            let id = format!("todo:{:016x}", fingerprint([&todo.id, &todo.text]));
            match todo.status {
                Some(TodoStatus::InProgress) => {
                    open.insert(0, (id, format!("{} (in progress)", quoted(&todo.text, 100))));
                }
                Some(TodoStatus::Completed) => done.push(quoted(&todo.text, 60)),
                _ => open.push((id, quoted(&todo.text, 100))),
            }
        }
        for (id, words) in open {
            self.add(Class::Todo, id, vec![words]);
        }
        if !done.is_empty() {
            // The last ones matter most, and are told in their order.
            let form = |most: usize| done[done.len().saturating_sub(most)..].join("; ");
            self.add(Class::Done, "done".to_owned(), vec![form(2), form(5), form(done.len())]);
        }
    }

    fn failures(&mut self) {
        let digest = self.material.digest;
        let mut failures: Vec<&Failure> = digest.failures.iter().rev().collect();
        // That a tool was used wrongly matters less than what the project's own commands say.
        failures.sort_by_key(|failure| (!failure.open, failure.record <= digest.epoch, !failure.is_command));
        for failure in failures {
            let class = if failure.open { Class::Failing } else { Class::Mended };
            self.add(class, format!("failure:{}", failure.record), failure_forms(failure));
        }
    }

    fn files(&mut self) {
        let Material { digest, gone, .. } = *self.material;
        let endings = Endings::of(digest.files.iter().map(|file| file.path.as_str()));
        let mut place = 0;
        for file in digest.ranked_files() {
            let class = match (file.edits, file.reads) {
                (0, 0) => Class::Named,
                (0, _) => Class::Read,
                _ => Class::Edited,
            };
            let (folder, name) = endings.split(&file.path);
            let gone = file.deleted || gone.contains(&file.path);
            let kept = self.is_kept(name);
            let candidate =
                self.add(class, format!("file:{}", cut(&file.path, 300)), file_forms(file, name, gone));
            candidate.folder = Some(if folder.is_empty() { String::new() } else { path(folder, 200) });
            candidate.kept = kept;
            // Edited and read ones are ranked together.
            if class != Class::Named {
                candidate.place = place;
                place += 1;
            }
        }
    }

    fn answers(&mut self) {
        for answer in self.material.digest.answers.iter().rev() {
            let id = format!("answer:{:016x}", fingerprint([&answer.question, &answer.answer]));
            let form =
                |most| format!("{} → {}", quoted(&answer.question, most), quoted(&answer.answer, most));
            self.add(Class::Answers, id, vec![form(90), form(240)]);
        }
    }

    fn commands(&mut self) {
        let digest: &Digest = self.material.digest;
        let mut told = BTreeSet::new();
        for command in digest.ranked_commands() {
            // Two that begin alike are the same to a reader.
            if !told.insert(inline(&command.command, COMMAND)) {
                continue;
            }
            let passed = command.runs.saturating_sub(command.failures);
            let runs = if passed > 1 { format!(" ({passed}×)") } else { String::new() };
            let forms = vec![
                code(&command.command, COMMAND),
                format!("{}{runs}", code(&command.command, COMMAND)),
                format!("{}{runs}", code(&command.command, 140)),
            ];
            let kept = self.is_kept(cut(&command.command, COMMAND));
            let id = format!("command:{}", inline(&command.command, 60));
            self.add(Class::Commands, id, forms).kept = kept;
        }
    }
}

/// The text of a file as data, in three lengths.
pub fn file_text(name: &str, content: &str) -> Vec<String> {
    let form = |most| match content.trim().contains('\n') {
        // Its lines say what belongs together: lists and code cannot be read without.
        true => format!("{}:\n{}", path(name, 200), block(content, most)),
        false => format!("{}: {}", path(name, 200), quoted(content, most)),
    };
    [400, 1_200, 4_000].map(form).to_vec()
}

/// `/compact`, `/model`: said to the harness, not to the agent.
fn is_about_the_harness(prompt: &str) -> bool {
    let words = prompt.trim();
    words.starts_with('/') && !words.contains(char::is_whitespace)
}

/// The first telling line, then more of them.
fn failure_forms(failure: &Failure) -> Vec<String> {
    let exit = failure.exit.map_or(String::new(), |exit| format!(" (exit {exit})"));
    let form = |command: usize, lines: usize, line: usize| {
        let what = match failure.is_command {
            true => code(&failure.run(), command),
            false => {
                let what = if failure.what.is_empty() {
                    String::new()
                } else {
                    format!(" {}", path(&failure.what, 200))
                };
                format!("{}{what}", path(&failure.tool, 40))
            }
        };
        let why: Vec<String> = failure.error.lines().take(lines).map(|text| code(text, line)).collect();
        let between = if why.is_empty() { "" } else { ": " };
        format!("{what}{exit}{between}{}", why.join(" "))
    };
    vec![form(COMMAND, 1, 64), form(COMMAND, 3, 70), form(COMMAND, 6, 80), form(200, 6, 300)]
}

fn file_forms(file: &FileUse, name: &str, gone: bool) -> Vec<String> {
    let name = path(name, 200);
    let often = (file.edits > 1).then(|| format!("{}×", file.edits));
    match (gone, often) {
        (true, _) => vec![format!("{name} (gone)")],
        (false, None) => vec![name],
        (false, Some(often)) => vec![name.clone(), format!("{name} ({often})")],
    }
}
