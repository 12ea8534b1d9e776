//! Fills in a packet from captured facts, by rules and without a model. The packet contains the same facts as a brief
//! for a new agent. Each fact appears once, below one of the packet's headings.

mod begin;
mod constraints;
mod continued;
mod files;
mod first_files;
mod git;
mod last_runs;
mod next;
mod repeat;
mod unknown_outcomes;

pub use begin::check_to_begin_with;
use continued::{ANSWERED_MESSAGE_TITLE, REPLIED_MESSAGE_TITLE, SUMMED_UP_TASK_TITLE};
pub use continued::{ContinuedPacket, ContinuedSession, is_title_of_finished_work};
use continued::{title_of_ended_loop, title_of_loop};
pub use git::GitFacts;
use jiff::Timestamp;
pub use next::REASON_TO_RUN_CHECK;
pub(super) use next::{NOTHING_OPEN_INTRO, UNTOUCHED_MESSAGE_STEP};
use serde_json::{Value, json};

use super::choose::{
    self, CheckRunForPacket, SuggestedFiles, bullet_list_or_none_recorded, describe_git,
    push_titled_bullet_list, suggested_files, time_of_prompt,
};
use super::{
    CONSTRAINTS_HEADING, CONTEXT_HEADING, DECISIONS_HEADING, INTENT_HEADING, NEXT_PROMPT_HEADING,
    NOTES_HEADING, PLAN_HEADING, PacketStatus, QUESTIONS_HEADING, RELEVANT_FILES_HEADING, RecordedCheck,
    USER_QUOTE_PREFIX, VALIDATORS_HEADING, words,
};
use crate::activity;
use crate::brief::{self, BriefFact, BriefOccasion, FactClass};
use crate::digest::{Digest, Failure, FileUse, Goal, Prompt};
use crate::document::Document;
use crate::effect::EffectKind;
use crate::event::TodoStatus;
use crate::prompt::{self, PromptKind};
use crate::render::{
    block_quote, format_path_or_code, in_backticks, in_quotation_marks, inline_for_model, quote_part,
};
use crate::statement;
use crate::text::{count_with_noun, outline_text};
use crate::time;

/// The text of a section for which no facts are recorded.
pub const NONE_RECORDED: &str = "_none recorded_";

/// The title of the list of calls that were running when the session ended.
pub(super) const UNFINISHED_CALLS_TITLE: &str = "Running when the session ended, outcome unknown";

/// The title above a message in which the agent asked a question that the user answered.
pub(super) const AGENT_QUESTION_TITLE: &str = "The agent's message and its question";

/// The maximum length of the facts about a session, not counting files and the goal.
const MAX_SESSION_FACTS_CHARS: usize = 7_500;

/// The maximum number of lines for commands that are not checks.
const MAX_LINES_OF_OTHER_COMMANDS: usize = 6;

/// The maximum number of earlier requests that are quoted.
const MAX_EARLIER_REQUESTS: usize = 4;

/// The maximum number of user instructions that are listed as constraints. If a brief contains more, all of them
/// are listed.
const MAX_USER_INSTRUCTIONS_LISTED: usize = 20;

/// The maximum length of a quoted instruction.
const MAX_INSTRUCTION_CHARS: usize = 320;

/// The maximum number of validators in addition to those that the user gave.
const MAX_VALIDATORS_ADDED_FROM_SESSION: usize = 4;

/// The maximum length of the quoted task. It is large because the task may be a plan.
const MAX_QUOTED_TASK_CHARS: usize = 4_000;

/// The maximum length of the quoted newest prompt.
const MAX_NEWEST_MESSAGE_CHARS: usize = 2_000;

/// The maximum length of the quoted request with which the session began.
const MAX_OPENING_REQUEST_CHARS: usize = 180;

/// The maximum length of a quoted earlier task.
const MAX_EARLIER_TASK_CHARS: usize = 300;

/// The maximum length of the quoted task if the newest prompt was sent during that task.
const MAX_CHARS_OF_INTERRUPTED_TASK: usize = 700;

/// The maximum length of a quoted call that the user refused.
const MAX_QUOTED_REFUSED_CALL_CHARS: usize = 100;

/// A prompt with fewer characters than this may refer to the prompt before it.
const MAX_REFERRING_PROMPT_CHARS: usize = 60;

/// The maximum length of the quoted question that the user answered by choosing an option.
const MAX_QUESTION_CHARS: usize = 320;

/// The maximum length of a quotation from a proposal that the user accepted.
const MAX_PROPOSAL_CHARS: usize = 2_000;

/// The input from which a packet is composed.
#[derive(Clone, Copy, Debug)]
pub struct PacketMaterial<'a> {
    pub id: &'a str,
    pub purpose: &'a str,
    /// Whether the purpose is the session's own request. Otherwise, a person gave the purpose.
    pub is_purpose_from_session: bool,
    pub digest: &'a Digest,
    /// The harness's name as it is written in packets.
    pub source: &'a str,
    pub harness: &'a str,
    pub transcript: Option<&'a str>,
    pub project_id: &'a str,
    /// The state of the session's own checkout, or `None` if that checkout does not use git or does not exist on this
    /// machine.
    pub git: Option<&'a GitFacts>,
    /// Whether the session ran in another project. If so, its files are not this project's files.
    pub is_of_other_project: bool,
    pub now: Timestamp,
    /// Files that the user chose.
    pub confirmed: &'a [String],
    /// The decisions in force.
    pub decisions: &'a [String],
    /// The rules of the session's role.
    pub role_rules: &'a [String],
    /// Files that no longer exist.
    pub missing_files: &'a [String],
    pub ignored: &'a [String],
    /// The paths and fingerprints of the existing files.
    pub files_seen: &'a [(String, String)],
    /// The validators that the user gave. They come before observed checks.
    pub validators: &'a [String],
    pub promise: Option<&'a str>,
    pub max_iterations: i64,
    /// The prompt of the loop that is active in the session, or empty if there is none.
    pub loop_prompt: &'a str,
    /// The id of that loop, if its session has ended or crashed.
    pub loop_left_behind: Option<&'a str>,
    /// The prompt of the loop that last ran in the session and is paused or has ended, or empty if there is none.
    pub ended_loop_prompt: &'a str,
    /// Says that this loop is paused or has ended, and why.
    pub end_of_loop: &'a str,
    /// The workstream that the session works on, with its manifest and its next step, or empty if there is none.
    pub workstream: &'a str,
    /// Another session's packet, which this session picked up and is working on.
    pub continued: Option<&'a ContinuedPacket>,
    /// The earlier session whose work this session continues without a packet.
    pub continued_session: Option<&'a ContinuedSession>,
}

/// A composed packet, with data for displaying it.
#[derive(Clone, Debug)]
pub struct PacketDraft {
    pub bytes: Vec<u8>,
    pub suggested: Vec<String>,
    /// The number of commands whose last run failed.
    pub failing: usize,
    /// The number of commands that failed and ran again after a change, with a result that nobody saw.
    pub unseen: usize,
    pub next_prompt: String,
}

pub fn compose_packet(material: &PacketMaterial) -> PacketDraft {
    let facts = PacketFacts::new(material);
    let next_prompt = facts.next_prompt();
    let sections = [
        (INTENT_HEADING, facts.intent_section()),
        (CONTEXT_HEADING, facts.context_section()),
        (CONSTRAINTS_HEADING, facts.constraints_section()),
        (DECISIONS_HEADING, facts.decisions_section()),
        (RELEVANT_FILES_HEADING, facts.files_section()),
        (NEXT_PROMPT_HEADING, next_prompt.clone()),
        (PLAN_HEADING, facts.plan_section()),
        (VALIDATORS_HEADING, facts.validators_section()),
        (QUESTIONS_HEADING, bullet_list_or_none_recorded(&facts.open_questions())),
        (NOTES_HEADING, facts.notes_section()),
    ];
    let mut text = String::new();
    for (heading, body) in sections {
        text.push_str(&format!("\n## {heading}\n\n{}\n", body.trim()));
    }
    let suggested: Vec<String> = facts.suggested.iter().map(|file| file.path.clone()).collect();
    let digest = material.digest;
    let of_session = facts.failing.iter().filter_map(|failure| digest.unseen_run_after(failure));
    let of_earlier = digest.failures_of_earlier_sessions.iter().filter_map(|it| it.unseen_run.clone());
    let unseen = of_session.chain(of_earlier).filter(|run| run.is_after_changes).count();
    // The packet may have no room for some failures. Both numbers count those as well.
    let failing = facts.failing.len() + digest.failures_of_earlier_sessions.len() - unseen;
    PacketDraft { bytes: facts.with_frontmatter(&text, &suggested), suggested, failing, unseen, next_prompt }
}

/// The facts that are taken from the material to compose the sections of a packet.
struct PacketFacts<'a> {
    material: &'a PacketMaterial<'a>,
    goal: Goal<'a>,
    brief_facts: Vec<BriefFact>,
    suggested: Vec<&'a FileUse>,
    /// How many read or named files were left out of `suggested`.
    suggested_left_out: usize,
    failing: Vec<&'a Failure>,
    /// The last run of each test, build and lint. Tests come first, and newer runs come before older ones.
    check_runs: Vec<CheckRunForPacket<'a>>,
}

impl<'a> PacketFacts<'a> {
    fn new(material: &'a PacketMaterial<'a>) -> PacketFacts<'a> {
        let brief = brief::BriefMaterial {
            occasion: BriefOccasion::Asked,
            digest: material.digest,
            hook_problems: &[],
            missing_files: material.missing_files,
            feature_candidates: &[],
            scoring: None,
        };
        PacketFacts::with_brief_facts(material, brief::facts_for_packet(&brief, MAX_SESSION_FACTS_CHARS))
    }

    fn with_brief_facts(material: &'a PacketMaterial<'a>, brief_facts: Vec<BriefFact>) -> PacketFacts<'a> {
        let digest = material.digest;
        let SuggestedFiles { files: suggested, left_out: suggested_left_out } = suggested_files(material);
        PacketFacts {
            material,
            goal: digest.current_goal(),
            brief_facts,
            suggested,
            suggested_left_out,
            failing: digest.open_failures().collect(),
            check_runs: choose::last_check_runs(digest),
        }
    }

    fn facts_of_class(&self, class: FactClass) -> impl Iterator<Item = &BriefFact> {
        self.brief_facts.iter().filter(move |fact| fact.class == class)
    }

    fn with_frontmatter(&self, body: &str, suggested: &[String]) -> Vec<u8> {
        let PacketMaterial { id, purpose, source, digest, transcript, git, now, project_id, .. } =
            *self.material;
        let now = time::to_rfc3339(now);
        let mut document = Document::parse(body.as_bytes());
        let files_seen: serde_json::Map<String, Value> =
            self.material.files_seen.iter().map(|(path, digest)| (path.clone(), json!(digest))).collect();
        let seen: Vec<RecordedCheck> =
            self.validator_commands().iter().filter_map(|command| self.last_result_of(command)).collect();
        let mut entries: Vec<(&str, Value)> = vec![
            ("id", json!(id)),
            ("created_at", json!(now)),
            ("updated_at", json!(now)),
            ("status", json!(PacketStatus::Draft.name())),
            ("purpose", json!(inline_for_model(purpose, 300))),
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
        if let Some(GitFacts { head, branch, uncommitted_files, fingerprint_of_changes }) = git {
            entries.extend((!head.is_empty()).then(|| ("head", json!(head))));
            entries.push(("branch", json!(branch)));
            entries.extend(uncommitted_files.as_ref().map(|files| ("dirty", json!(files.len()))));
            entries.extend(fingerprint_of_changes.as_ref().map(|seen| ("changes_seen", json!(seen))));
        }
        entries.push(("files_seen", Value::Object(files_seen)));
        entries.push(("checks_seen", json!(seen)));
        for (key, value) in entries {
            // Setting an entry cannot fail here, because the keys are valid.
            let _ = document.set_frontmatter_entry(key, value);
        }
        document.into_bytes()
    }

    /// Returns the purpose, if it is informative, followed by the goal in the user's words.
    fn intent_section(&self) -> String {
        let mut text = String::new();
        let purpose = self.material.purpose;
        let is_told = self.is_in_goal(purpose);
        let is_purpose = words::says_what_to_do(purpose) || self.is_purpose_given_by_person(purpose);
        if is_purpose && !is_told || self.goal.newest_prompt.is_none() {
            text.push_str(&format!("{}\n", inline_for_model(purpose, 1_000)));
        }
        let mut add = |title: &str, when: String, words: &str, most: usize| {
            let words = words::without_pasted_output(words);
            text.push_str(&format!(
                "\n{title}{when}:\n\n{}\n",
                block_quote(&outline_text(&words, most), most)
            ));
        };
        let loops = [
            (title_of_loop(self.material.loop_left_behind), self.material.loop_prompt),
            (title_of_ended_loop(self.material.end_of_loop), self.material.ended_loop_prompt),
        ];
        for (title, prompt) in loops.into_iter().filter(|(_, prompt)| !prompt.is_empty()) {
            add(&title, String::new(), prompt, MAX_QUOTED_TASK_CHARS);
        }
        let Goal { newest_prompt: newest, accepted_proposal: accepted, is_answered, .. } = self.goal;
        let task = self.material.digest.task_explaining_newest_prompt();
        let digest = self.material.digest;
        let is_over =
            digest.has_finished() && newest.is_some_and(|newest| digest.last_message_record > newest.record);
        let is_task = |first: &&Prompt| task.is_some_and(|task| task.record == first.record);
        if let Some(first) = self.material.digest.opening_request_of_finished_work().filter(|it| !is_task(it))
        {
            let title =
                prompt::shorten_request(&prompt::title_of_message(&first.text), MAX_OPENING_REQUEST_CHARS);
            add(digest.label_of_opening_request(), time_of_prompt(first), &title, MAX_EARLIER_TASK_CHARS);
        }
        let leads =
            is_answered || newest.is_some_and(|newest| self.material.digest.is_quoted_before_task(newest));
        let add_task = |add: &mut dyn FnMut(&str, String, &str, usize), most: usize| {
            let title = match is_answered {
                true => SUMMED_UP_TASK_TITLE,
                false => "The task, as the user gave it",
            };
            // If the agent has summed up a plan, quoting the plan's title is enough.
            let left = |prompt: &Prompt| {
                let left = self.material.digest.remaining_sections(&prompt.text, prompt.record);
                match is_answered {
                    true => prompt::title_if_long(&left),
                    // If the task is only context for the newest message, what was pasted into it is not needed.
                    false if leads => prompt::words_before_paste(&left),
                    false => left.into_owned(),
                }
            };
            task.into_iter().for_each(|task| add(title, time_of_prompt(task), &left(task), most));
        };
        if !leads {
            add_task(&mut add, MAX_QUOTED_TASK_CHARS);
        }
        if let Some(accepted) = accepted {
            let chosen =
                newest.and_then(|newest| statement::option_named_by_answer(&accepted.text, &newest.text));
            let title = match (chosen, accepted.closing_question.is_empty()) {
                (Some(_), true) => "Of the agent's proposals, the user chose".to_owned(),
                (Some(_), false) => {
                    let asks = in_quotation_marks(&accepted.closing_question, MAX_QUESTION_CHARS);
                    format!("The agent asked {asks}, and the user chose")
                }
                (None, true) => "The agent proposed, and the user agreed".to_owned(),
                (None, false) => AGENT_QUESTION_TITLE.to_owned(),
            };
            let asks = if accepted.text.contains(&accepted.closing_question) {
                ""
            } else {
                accepted.closing_question.as_str()
            };
            let whole = format!("{}\n{asks}", accepted.text);
            match chosen {
                // The agent's last message says what became of a proposal that was carried out.
                None if is_over && accepted.has_clear_question() => {
                    let asks = accepted.closing_question.as_str();
                    add("The agent had asked", String::new(), asks, MAX_QUESTION_CHARS);
                }
                chosen => {
                    add(&title, String::new(), chosen.unwrap_or(whole.trim_end()), MAX_PROPOSAL_CHARS);
                }
            }
        }
        if let Some(newest) = newest {
            let (title, most) = match (task.is_some() || accepted.is_some(), newest.refused_call.is_empty()) {
                (false, true) => ("The user asked".to_owned(), MAX_QUOTED_TASK_CHARS),
                (true, true) if is_over => {
                    let is_question = newest.prompt_kind() == PromptKind::Question;
                    let title = if is_question { ANSWERED_MESSAGE_TITLE } else { REPLIED_MESSAGE_TITLE };
                    (title.to_owned(), MAX_NEWEST_MESSAGE_CHARS)
                }
                (true, true) => ("The user's newest message".to_owned(), MAX_NEWEST_MESSAGE_CHARS),
                (_, false) => (
                    format!(
                        "The user's last message, which refused {}",
                        in_backticks(&newest.refused_call, MAX_QUOTED_REFUSED_CALL_CHARS)
                    ),
                    MAX_NEWEST_MESSAGE_CHARS,
                ),
            };
            let means = self.material.digest.agent_words_after_bare_slash_command(newest).map(|said| {
                let beginning = statement::first_sentences(said.split(": ").next().unwrap_or(said), 160);
                format!(" (the agent began with {})", quote_part(&beginning, said, 164))
            });
            let title = format!("{title}{}", means.unwrap_or_default());
            add(
                &title,
                time_of_prompt(newest),
                &self.material.digest.remaining_sections(&newest.text, newest.record),
                most,
            );
        }
        if let Some(continued) = self.material.continued {
            let title = format!(
                "The session picked up packet {}, which says",
                format_path_or_code(&continued.id, 128)
            );
            add(&title, String::new(), &continued.goal_with_messages(), MAX_QUOTED_TASK_CHARS);
        }
        if let Some(continued) = self.material.continued_session {
            let title = format!(
                "The session continues session {}, in which the user asked",
                activity::short_session_id(&continued.id)
            );
            add(&title, String::new(), &continued.request, MAX_QUOTED_TASK_CHARS);
        }
        if let Some(before) = self.material.digest.message_explaining_newest_prompt() {
            let first = before.text.trim().lines().next().unwrap_or_default();
            let refused = match before.refused_command() {
                "" => String::new(),
                call => format!(", refusing {}", in_backticks(call, MAX_QUOTED_REFUSED_CALL_CHARS)),
            };
            let title = format!("Sent before that{refused}");
            add(&title, time_of_prompt(before), first, MAX_EARLIER_TASK_CHARS);
        }
        if leads && !self.is_task_over() {
            // A short prompt such as "Do it again" makes no sense without the prompt to which it refers, so more of
            // the task is quoted.
            let refers =
                newest.is_some_and(|newest| newest.text.chars().count() < MAX_REFERRING_PROMPT_CHARS);
            let has_instruction =
                task.is_some_and(|task| !prompt::instruction_sentences(&task.text).is_empty());
            let most = match (is_answered, refers) {
                (false, true) => MAX_QUOTED_TASK_CHARS,
                // An instruction in the task may still apply, so more of the task is quoted.
                (true, false) if has_instruction => MAX_CHARS_OF_INTERRUPTED_TASK,
                (true, false) => MAX_EARLIER_TASK_CHARS,
                (true, true) | (false, false) => MAX_CHARS_OF_INTERRUPTED_TASK,
            };
            add_task(&mut add, most);
        }
        text
    }

    /// Returns whether the task is over: the agent has summed it up, and a commit or a pull request was made after the
    /// task and before the newest request. A long task is never over, because it is a plan whose rules may still apply.
    fn is_task_over(&self) -> bool {
        let is_request =
            |prompt: &&Prompt| matches!(prompt.prompt_kind(), PromptKind::Task | PromptKind::Question);
        let newest = self.goal.newest_prompt.filter(is_request).map_or(0, |newest| newest.record);
        let is_published = |task: &Prompt| {
            self.material.digest.effects.iter().any(|used| {
                matches!(used.effect.kind, EffectKind::Commit | EffectKind::PullRequest)
                    && (task.record..newest).contains(&used.record)
            })
        };
        let task = self.goal.task_prompt.filter(|task| task.text.len() < MAX_QUOTED_TASK_CHARS / 10);
        self.goal.is_answered && task.is_some_and(is_published)
    }

    /// Returns whether the goal contains the purpose. If `thru sweep` wrote the packet, the purpose is the beginning of
    /// the request.
    fn is_in_goal(&self, purpose: &str) -> bool {
        let words = purpose.trim_end_matches('…');
        let goals = [self.goal.newest_prompt, self.goal.task_prompt];
        goals.into_iter().flatten().any(|prompt| inline_for_model(&prompt.text, 1_000).starts_with(words))
    }

    /// Returns whether a person gave the purpose. A purpose such as "go on" does not count.
    fn is_purpose_given_by_person(&self, purpose: &str) -> bool {
        !self.material.is_purpose_from_session && words::is_purpose_given_by_person(purpose)
    }

    /// Returns whether a fact states only the branch and the commit. The section's last line about git states both
    /// anyway.
    fn is_told_by_git(&self, fact: &BriefFact) -> bool {
        let parts = fact.text.strip_prefix("Git: ").filter(|_| fact.id == "git:state").unwrap_or_default();
        let mut parts = parts.split("; ");
        let is_told =
            |part: &str| part.starts_with("branch ") || part.starts_with("HEAD ") && !part.contains(',');
        self.material.git.is_some() && parts.all(is_told)
    }

    /// Returns whether git's current state contradicts a recorded fact. Git's state takes precedence.
    fn is_refuted_by_git(&self, fact: &BriefFact) -> bool {
        matches!(fact.id.as_str(), "risk:uncommitted" | "risk:earlier")
            && self.material.git.is_some_and(GitFacts::is_clean)
    }

    /// Returns the agent's last message, unless a fact already contains it.
    fn last_message(&self) -> Option<String> {
        let said = inline_for_model(&self.material.digest.last_message, 1_000);
        // The fact `said` contains the last message, unless it starts with "Working on the newest message".
        let holds =
            |fact: &BriefFact| fact.id == "said" && !fact.text.starts_with("Working on the newest message");
        // An accepted proposal is already quoted as part of the goal, so it is not repeated.
        let is_goal = self
            .goal
            .accepted_proposal
            .is_some_and(|said| said.record == self.material.digest.last_message_record);
        let is_told = is_goal || self.brief_facts.iter().any(holds);
        (!said.is_empty() && !is_told).then(|| in_quotation_marks(&said, 1_000))
    }

    /// Describes the current state in the same way as a brief. The goal, the user's instructions and the checks have
    /// their own headings in a packet.
    fn context_section(&self) -> String {
        let Digest { session, first_at, last_at, compactions, .. } = self.material.digest;
        let mut text = String::new();
        if self.material.digest.record_count == 0 {
            text.push_str("No session was captured.\n");
        }
        let mut titles: Vec<&str> = Vec::new();
        for class in self.brief_facts.iter().map(|fact| fact.class) {
            // Facts of these classes are printed elsewhere. Earlier requests are added at the end.
            let elsewhere =
                matches!(class, FactClass::Goal | FactClass::Words | FactClass::Checks | FactClass::Earlier);
            if elsewhere || titles.contains(&class.title()) {
                continue;
            }
            titles.push(class.title());
            let facts = self.brief_facts.iter().filter(|fact| fact.class.title() == class.title());
            // Leave out facts that are stated elsewhere: todos in the Plan section, changes next to their files,
            // unfinished calls in a separate list, and the branch and the commit in the last line.
            let is_elsewhere = |fact: &BriefFact| {
                matches!(fact.id.as_str(), "todos" | "unfinished")
                    || fact.id.starts_with("change:")
                    || self.is_told_by_git(fact)
            };
            let facts = facts.filter(|fact| !is_elsewhere(fact) && !self.is_refuted_by_git(fact));
            let mut lines: Vec<String> = facts.map(|fact| fact.text.clone()).collect();
            let is_background = class == FactClass::Commands;
            if let Some(more) =
                lines.len().checked_sub(MAX_LINES_OF_OTHER_COMMANDS).filter(|n| is_background && *n > 0)
            {
                lines.truncate(MAX_LINES_OF_OTHER_COMMANDS);
                lines.push(format!("+{more} more"));
            }
            push_titled_bullet_list(&mut text, class.title(), lines);
        }
        push_titled_bullet_list(&mut text, FactClass::Earlier.title(), self.earlier_requests());
        push_titled_bullet_list(&mut text, "The agent's last message", self.last_message());
        let begun = self.material.digest.unfinished_calls();
        push_titled_bullet_list(&mut text, UNFINISHED_CALLS_TITLE, begun.map(|call| in_backticks(call, 300)));
        let git = match (self.material.git, self.material.is_of_other_project) {
            (Some(git), _) => format!("\nGit, when this was written: {}.\n", describe_git(git)),
            (None, false) => "\nNot in git.\n".to_owned(),
            (None, true) => String::new(),
        };
        text.push_str(&git);
        if !session.is_empty() {
            let compacted = match compactions {
                0 => String::new(),
                1 => ", compacted once".to_owned(),
                n => format!(", compacted {n} times"),
            };
            let session = format_path_or_code(session, 60);
            text.push_str(&format!(
                "\nSession {session} in {}, {first_at} to {last_at}{compacted}.\n",
                self.material.harness
            ));
        }
        text
    }

    /// Returns the newest of the earlier requests, then the first one, which says what the session is about.
    fn earlier_requests(&self) -> Option<String> {
        let digest = self.material.digest;
        let quoted: Vec<String> =
            [digest.message_explaining_newest_prompt(), digest.task_explaining_newest_prompt()]
                .into_iter()
                .flatten()
                .map(|prompt| format!("prompt:{}", prompt.record))
                .collect();
        let facts = self.facts_of_class(FactClass::Earlier).filter(|fact| !quoted.contains(&fact.id));
        let all: Vec<&str> = facts.map(|fact| fact.text.as_str()).collect();
        let newest = all.len().min(MAX_EARLIER_REQUESTS - 1);
        let first = all.last().filter(|_| all.len() > newest);
        let told: Vec<&str> = all[..newest].iter().chain(first).copied().collect();
        (!told.is_empty()).then(|| told.join("; "))
    }

    fn plan_section(&self) -> String {
        let digest = self.material.digest;
        // A todo list that a later request has superseded is left out.
        let todos =
            digest.open_todos().filter(|todo| digest.are_todos_current() && !digest.is_todo_done(todo));
        let lines: Vec<String> = todos
            .map(|todo| {
                let mark = if todo.status == Some(TodoStatus::InProgress) { " (in progress)" } else { "" };
                format!("- [ ] {}{mark}", inline_for_model(&todo.text, 300))
            })
            .collect();
        let todos = match (lines.is_empty(), brief::note_on_old_todos(digest).trim()) {
            (true, _) => String::new(),
            (false, "") => lines.join("\n"),
            (false, note) => format!("{note}\n\n{}", lines.join("\n")),
        };
        match (self.material.workstream, todos.is_empty()) {
            ("", true) => NONE_RECORDED.to_owned(),
            ("", false) => todos,
            (workstream, true) => format!("Workstream {workstream}"),
            (workstream, false) => format!("Workstream {workstream}\n\n{todos}"),
        }
    }

    fn validators_section(&self) -> String {
        let commands = self.validator_commands();
        let words = |command: &String| {
            let by_user = self.material.validators.contains(command)
                || choose::checks_demanded_by_user(&self.goal)
                    .iter()
                    .any(|known| choose::is_same_command(known, command));
            let asked = if by_user { ", asked for by the user" } else { "" };
            let seen =
                self.last_run_of(command).map_or(String::new(), |run| format!(" — {}", run.describe()));
            format!("- [ ] {}{asked}{seen}", in_backticks(command, 300))
        };
        let promise = self.material.promise;
        let promise =
            promise.map(|promise| format!("- [ ] the agent can say {}", in_quotation_marks(promise, 200)));
        let lines: Vec<String> = commands.iter().map(words).chain(promise).collect();
        if lines.is_empty() { NONE_RECORDED.to_owned() } else { lines.join("\n") }
    }

    fn notes_section(&self) -> String {
        let mut lines = Vec::new();
        if self.material.digest.unread_transcript_bytes > 0 {
            lines.push(format!(
                "{} KiB of the transcript was skipped as too old",
                self.material.digest.unread_transcript_bytes / 1024
            ));
        }
        lines.extend(self.material.digest.describe_missing_journal());
        if self.material.digest.unreadable_lines > 0 {
            let records = count_with_noun(
                usize::try_from(self.material.digest.unreadable_lines).unwrap_or(usize::MAX),
                "record",
            );
            lines
                .push(format!("{records} of the session could not be read (damaged, or cut off by a crash)"));
        }
        bullet_list_or_none_recorded(&lines)
    }

    /// Returns the validators without duplicates: those that the user gave, then checks demanded in the user's
    /// prompts, then observed tests, then builds and lints. A check that failed in an earlier session is not among them,
    /// because that session may have worked on something else. Such a check is listed as failing.
    fn validator_commands(&self) -> Vec<String> {
        let mut commands: Vec<String> = self.material.validators.to_vec();
        let is_missing =
            |command: &str| self.last_run_of(command).is_some_and(CheckRunForPacket::is_command_missing);
        for command in choose::checks_demanded_by_user(&self.goal) {
            if !is_missing(&command) && !commands.iter().any(|known| choose::covers_command(known, &command))
            {
                commands.push(command);
            }
        }
        let most = commands.len().max(self.material.validators.len() + MAX_VALIDATORS_ADDED_FROM_SESSION);
        // A wider check makes a narrower one superfluous only if it has run.
        let is_covered = |known: &String, command: &str| {
            choose::covers_command(known, command)
                && (self.last_run_of(known).is_some() || choose::is_same_command(known, command))
        };
        for run in choose::runs_worth_repeating(&self.check_runs, &self.failing) {
            if commands.len() < most && !commands.iter().any(|known| is_covered(known, &run.command)) {
                commands.push(run.command.clone());
            }
        }
        commands
    }
}
