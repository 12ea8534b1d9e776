//! A packet filled by rule from what was captured: no model, no skeleton.

mod next;

use jiff::Timestamp;
use serde_json::{Value, json};

use super::choose::{
    at, check_words, ended, failing_words, git_words, is_narrow, list, or_none, runs, shown, suggested,
};
use super::{
    CONFIRMED, CONSTRAINTS, CONTEXT, Check, DECISIONS, FILES, INTENT, NEXT_PROMPT, NOTES, PLAN, QUESTIONS,
    SUGGESTED, Status, VALIDATORS, words,
};
use crate::checks::{self, Sort};
use crate::digest::{CommandUse, Digest, FileUse, Prompt};
use crate::document::Document;
use crate::event::TodoStatus;
use crate::render::{code, inline, path, quote, quoted, width};
use crate::text::count;
use crate::time;

/// What cannot be known is said to be so.
pub const NONE: &str = "_none recorded_";

/// A prompt shorter than this says little by itself.
const TELLING: usize = 20;

const PASSED: usize = 8;
const BETWEEN: usize = 6;

/// Where git stands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Git {
    /// Empty before the first commit.
    pub head: String,
    /// Empty when no branch is checked out.
    pub branch: String,
    /// Files that differ from HEAD, untracked ones included; None where that was not asked.
    pub dirty: Option<usize>,
}

/// Everything a packet is made of.
#[derive(Clone, Copy, Debug)]
pub struct Material<'a> {
    pub id: &'a str,
    pub purpose: &'a str,
    pub digest: &'a Digest,
    /// The harness's name in a packet, and what people call it.
    pub source: &'a str,
    pub harness: &'a str,
    pub transcript: Option<&'a str>,
    pub project_id: &'a str,
    pub git: Option<&'a Git>,
    pub now: Timestamp,
    /// Curated by the user.
    pub confirmed: &'a [String],
    /// From the records: decisions that still hold, and rules of the role that is bound.
    pub decisions: &'a [String],
    pub rules: &'a [String],
    /// Files that are not there any more, and those that git ignores.
    pub gone: &'a [String],
    pub ignored: &'a [String],
    /// Fingerprints of the files that are there.
    pub files_seen: &'a [(String, String)],
    /// Validators that the user asked for, before those seen.
    pub validators: &'a [String],
    pub promise: Option<&'a str>,
    pub max_iterations: i64,
}

/// What was worked out on the way, for whoever shows it.
#[derive(Clone, Debug)]
pub struct Draft {
    pub bytes: Vec<u8>,
    pub suggested: Vec<String>,
    /// How many commands fail, by what was seen.
    pub failing: usize,
    pub next_prompt: String,
}

pub fn compose(material: &Material) -> Draft {
    let facts = Facts::new(material);
    let next_prompt = facts.next_prompt();
    let sections = [
        (INTENT, facts.intent()),
        (CONTEXT, facts.context()),
        (CONSTRAINTS, facts.constraints()),
        (DECISIONS, facts.decisions()),
        (FILES, facts.files()),
        (NEXT_PROMPT, next_prompt.clone()),
        (PLAN, facts.plan()),
        (VALIDATORS, facts.validators()),
        (QUESTIONS, facts.questions()),
        (NOTES, facts.notes()),
    ];
    let mut text = String::new();
    for (heading, body) in sections {
        text.push_str(&format!("\n## {heading}\n\n{}\n", body.trim_end()));
    }
    let suggested: Vec<String> = facts.suggested.iter().map(|file| file.path.clone()).collect();
    let failing = facts.failing_now().len();
    Draft { bytes: facts.with_frontmatter(&text, &suggested), suggested, failing, next_prompt }
}

/// The material, sorted.
struct Facts<'a> {
    material: &'a Material<'a>,
    prompts: Vec<&'a Prompt>,
    suggested: Vec<&'a FileUse>,
    failing: Vec<&'a CommandUse>,
    /// Tests, builds and lints, the last run of each, newest first.
    checks: Vec<(Sort, &'a CommandUse)>,
}

impl<'a> Facts<'a> {
    fn new(material: &'a Material<'a>) -> Facts<'a> {
        let digest = material.digest;
        let failing: Vec<&CommandUse> = digest.open_failures().collect();
        Facts {
            material,
            prompts: words::real(&digest.prompts),
            suggested: suggested(material),
            failing,
            checks: runs(digest),
        }
    }

    fn with_frontmatter(&self, body: &str, suggested: &[String]) -> Vec<u8> {
        let Material { id, purpose, source, digest, transcript, git, now, project_id, .. } = *self.material;
        let now = time::rfc3339(now);
        let mut document = Document::parse(body.as_bytes());
        let files_seen: serde_json::Map<String, Value> =
            self.material.files_seen.iter().map(|(path, digest)| (path.clone(), json!(digest))).collect();
        let seen: Vec<Check> = self
            .validator_commands()
            .iter()
            .filter_map(|command| {
                let (_, used) = self.checks.iter().find(|(_, used)| shown(used) == *command)?;
                Some(Check { command: command.clone(), ok: used.ok, at: used.at.clone() })
            })
            .collect();
        let mut entries: Vec<(&str, Value)> = vec![
            ("id", json!(id)),
            ("created_at", json!(now)),
            ("updated_at", json!(now)),
            ("status", json!(Status::Draft.name())),
            ("purpose", json!(inline(purpose, 300))),
            ("source", json!(source)),
            ("session_id", json!(digest.session)),
        ];
        entries.extend(transcript.map(|path| ("transcript_path", json!(path))));
        entries.extend([
            ("relevant_files_confirmed", json!(self.material.confirmed)),
            ("relevant_files_suggested", json!(suggested)),
            ("validators", json!(self.validator_commands())),
            ("loop_promise", self.material.promise.map_or(Value::Null, |promise| json!(promise))),
            ("loop_max_iterations", json!(self.material.max_iterations)),
            ("project_id", json!(project_id)),
        ]);
        if let Some(Git { head, branch, dirty }) = git {
            entries.extend((!head.is_empty()).then(|| ("head", json!(head))));
            entries.push(("branch", json!(branch)));
            entries.extend(dirty.map(|dirty| ("dirty", json!(dirty))));
        }
        entries.push(("files_seen", Value::Object(files_seen)));
        entries.push(("checks_seen", json!(seen)));
        for (key, value) in entries {
            // Every key here is one; setting it cannot fail.
            let _ = document.set(key, value);
        }
        document.into_bytes()
    }

    fn intent(&self) -> String {
        let mut text = format!("{}\n", inline(self.material.purpose, 1_000));
        match self.prompts.as_slice() {
            [] => {}
            [only] => {
                text.push_str(&format!("\nThe user asked{}:\n\n{}\n", at(only), quote(&only.text, 1_500)));
            }
            [first, .., last] => {
                text.push_str(&format!(
                    "\nThe user began with{}:\n\n{}\n",
                    at(first),
                    quote(&first.text, 1_200)
                ));
                let between: Vec<String> = self.prompts[1..self.prompts.len() - 1]
                    .iter()
                    .rev()
                    .filter(|prompt| width(prompt.text.trim()) >= TELLING)
                    .take(BETWEEN)
                    .map(|prompt| quoted(&prompt.text, 160))
                    .collect();
                list(&mut text, "asked in between (newest first)", between);
                text.push_str(&format!("\nand said last{}:\n\n{}\n", at(last), quote(&last.text, 1_500)));
            }
        }
        text
    }

    fn context(&self) -> String {
        let Digest { session, first_at, last_at, compactions, said, .. } = self.material.digest;
        let mut text = String::new();
        if !session.is_empty() {
            let compacted = match compactions {
                0 => String::new(),
                1 => ", compacted once".to_owned(),
                n => format!(", compacted {n} times"),
            };
            let session = path(session, 60);
            text.push_str(&format!(
                "Session {session} in {}, {first_at} to {last_at}{compacted}.\n",
                self.material.harness
            ));
        }
        let edited = self.edited();
        list(&mut text, &format!("Edited ({})", count(edited.len(), "file")), edited);
        let of = |sort: Sort| {
            self.checks.iter().filter(move |(s, _)| *s == sort).map(|(_, used)| check_words(used))
        };
        list(&mut text, "Tests, as last seen", of(Sort::Test).take(6));
        list(&mut text, "Builds and lints, as last seen", of(Sort::Build).chain(of(Sort::Lint)).take(6));
        let (passed_since, failing): (Vec<&CommandUse>, Vec<&CommandUse>) =
            self.failing.iter().filter(|used| !self.is_shown(used)).partition(|used| self.passed_since(used));
        list(&mut text, "Failed when last run, and not passed since", failing.into_iter().map(failing_words));
        list(
            &mut text,
            "Failed, but passed later: in other words, or within a wider run",
            passed_since.into_iter().map(failing_words),
        );
        let passed = self.material.digest.commands.iter().rev();
        let passed = passed.filter(|used| used.ok && checks::sort(&used.command).is_none());
        list(
            &mut text,
            "Last commands that passed",
            passed.take(PASSED).map(|used| code(&used.command, 160)),
        );
        list(&mut text, "The harness's own list", self.todos());
        if !said.is_empty() {
            text.push_str(&format!("\nThe agent said last:\n\n{}\n", quote(said, 1_500)));
        }
        let unfinished = &self.material.digest.unfinished;
        list(
            &mut text,
            "Begun and not finished when the session broke off",
            unfinished.iter().map(|call| code(call, 300)),
        );
        text.push_str(&match self.material.git {
            Some(git) => format!("\nGit: {}.\n", git_words(git)),
            None => "\nNot in git.\n".to_owned(),
        });
        text
    }

    fn constraints(&self) -> String {
        let mut lines: Vec<String> = self.material.rules.iter().map(|rule| inline(rule, 300)).collect();
        for (wish, prompt) in words::wishes(&self.prompts) {
            lines.push(format!("{} (the user{})", quoted(wish, 300), at(prompt)));
        }
        or_none(&lines)
    }

    fn decisions(&self) -> String {
        let mut lines: Vec<String> =
            self.material.decisions.iter().map(|decision| inline(decision, 400)).collect();
        for answer in self.material.digest.answers.iter().rev() {
            let (question, answer) = (quoted(&answer.question, 200), quoted(&answer.answer, 300));
            lines.push(format!("Asked {question}, the user answered {answer}"));
        }
        or_none(&lines)
    }

    fn files(&self) -> String {
        let confirmed: Vec<String> = self
            .material
            .confirmed
            .iter()
            .map(|path| format!("{} — chosen by the user", code(path, 300)))
            .collect();
        let suggested: Vec<String> = self.suggested.iter().map(|file| self.file_words(file)).collect();
        format!("### {CONFIRMED}\n\n{}\n\n### {SUGGESTED}\n\n{}", or_none(&confirmed), or_none(&suggested))
    }

    fn plan(&self) -> String {
        let todos = self.material.digest.open_todos();
        let lines: Vec<String> = todos
            .map(|todo| {
                let mark = if todo.status == Some(TodoStatus::InProgress) { " (in progress)" } else { "" };
                format!("- [ ] {}{mark}", inline(&todo.text, 300))
            })
            .collect();
        if lines.is_empty() { NONE.to_owned() } else { lines.join("\n") }
    }

    fn validators(&self) -> String {
        let lines: Vec<String> = self
            .validator_commands()
            .iter()
            .map(|command| {
                let seen =
                    self.checks.iter().find(|(_, used)| shown(used) == *command).map(|(_, used)| *used);
                format!(
                    "- [ ] {}{}",
                    code(command, 300),
                    seen.map_or(String::new(), |used| format!(" — {}", ended(used)))
                )
            })
            .chain(
                self.material
                    .promise
                    .map(|promise| format!("- [ ] the agent can say {}", quoted(promise, 200))),
            )
            .collect();
        if lines.is_empty() { NONE.to_owned() } else { lines.join("\n") }
    }

    fn questions(&self) -> String {
        or_none(&self.open_questions())
    }

    /// Only what nobody has spoken to since.
    fn open_questions(&self) -> Vec<String> {
        let digest = self.material.digest;
        let answered = self.prompts.last().is_some_and(|prompt| prompt.record > digest.said_last);
        if answered {
            Vec::new()
        } else {
            words::questions(&digest.said).iter().map(|q| inline(q, 300)).collect()
        }
    }

    fn notes(&self) -> String {
        let mut lines = Vec::new();
        if self.material.digest.unread > 0 {
            lines.push(format!(
                "{} KiB of the transcript lay too far back and were not read",
                self.material.digest.unread / 1024
            ));
        }
        lines.extend(self.material.digest.unread_words());
        or_none(&lines)
    }

    /// Without what has passed since, under another spelling or in a wider run.
    fn failing_now(&self) -> Vec<&'a CommandUse> {
        self.failing.iter().copied().filter(|used| !self.passed_since(used)).collect()
    }

    fn passed_since(&self, used: &CommandUse) -> bool {
        let mut later =
            self.material.digest.commands.iter().filter(|other| other.ok && other.last > used.last);
        later.any(|other| checks::settles(&other.command, other.passed, &used.command))
    }

    /// What the user asked for, then the tests that were seen, then builds and lints, each check once.
    fn validator_commands(&self) -> Vec<String> {
        let mut commands: Vec<String> = self.material.validators.to_vec();
        let broad = self.checks.iter().filter(|(_, used)| !is_narrow(&used.command));
        let narrow =
            self.checks.iter().filter(|(sort, used)| *sort == Sort::Test && is_narrow(&used.command));
        let tested = self.checks.iter().any(|(sort, used)| *sort == Sort::Test && !is_narrow(&used.command));
        for (_, used) in broad.chain(narrow.filter(|_| !tested)) {
            let command = shown(used).to_owned();
            let same = commands.iter().any(|known| checks::core(known) == checks::core(&command));
            if commands.len() < self.material.validators.len() + 5 && !same {
                commands.push(command);
            }
        }
        commands
    }

    /// Whether it is told among the checks.
    fn is_shown(&self, used: &CommandUse) -> bool {
        self.checks.iter().any(|(_, check)| check.command == used.command)
    }

    fn edited(&self) -> Vec<String> {
        let mut files: Vec<&FileUse> =
            self.material.digest.files.iter().filter(|file| file.edits > 0).collect();
        files.sort_by(|a, b| b.edits.cmp(&a.edits).then_with(|| a.path.cmp(&b.path)));
        let words = |file: &&FileUse| {
            let gone = if self.is_gone(file) { ", gone" } else { "" };
            format!("{} {}×{gone}", code(&file.path, 300), file.edits)
        };
        files.iter().map(words).collect()
    }

    fn todos(&self) -> Vec<String> {
        let words = |todo: &crate::journal::TodoField| {
            let status = match todo.status {
                Some(TodoStatus::Completed) => "done",
                Some(TodoStatus::InProgress) => "in progress",
                _ => "open",
            };
            format!("{}: {status}", inline(&todo.text, 200))
        };
        self.material.digest.todos.iter().map(words).collect()
    }

    fn file_words(&self, file: &FileUse) -> String {
        let mut why = Vec::new();
        for (n, word) in [(file.edits, "edited"), (file.reads, "read"), (file.guesses, "named in a command")]
        {
            match n {
                0 => {}
                1 => why.push(word.to_owned()),
                n => why.push(format!("{word} {n}×")),
            }
        }
        let name = file.path.rsplit('/').next().unwrap_or(&file.path);
        if let Some(used) = self.failing_now().into_iter().find(|used| used.error.contains(name)) {
            why.push(format!("the failing {} names it", code(shown(used), 60)));
        }
        for (is, word) in [
            (self.is_gone(file), "gone"),
            (file.outside, "outside of the project"),
            (self.material.ignored.contains(&file.path), "ignored by git"),
        ] {
            if is {
                why.push(word.to_owned());
            }
        }
        format!("{} — {}", code(&file.path, 300), why.join(", "))
    }

    fn is_gone(&self, file: &FileUse) -> bool {
        file.deleted || self.material.gone.contains(&file.path)
    }
}
