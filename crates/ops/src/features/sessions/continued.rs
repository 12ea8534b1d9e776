//! Finds the earlier work that a session continues if its user only said “continue”. This is the work of the session
//! that the first brief described. After a compaction, nothing else tells the agent what that work was.

use model::brief::{BriefOccasion, BriefSection, Candidate};
use model::digest::{Digest, Prompt};
use model::id::Id;
use model::packet::{ContinuedPacket, ContinuedSession, QuotedMessage, is_purpose_part_of_message, words};
use model::prompt::{self, PromptKind};
use model::redact::RedactOptions;
use model::render::{format_path_or_code, in_quotation_marks};
use model::score::ScoreSignal;
use store::Store;

use crate::features::packets::claimed;
use crate::features::{BriefContext, loops, sessions};
use crate::session::sent;

pub const CONTINUED_WORK_BRIEF_SECTION: BriefSection = BriefSection {
    section_position: 1,
    rank_step_per_form: 4,
    name: "continued",
    title: "Earlier work being continued",
    signal: ScoreSignal::Activity,
};

/// The user may have said only “continue” in several sessions in a row. At most this many sessions are traced back to
/// find the original task.
const MAX_SESSIONS_FOLLOWED: usize = 4;

/// Earlier work that a session continues.
enum EarlierWork {
    /// The session in which the user gave the task.
    Request(Id, Box<Digest>),
    /// The unfinished packet that an earlier session picked up.
    Packet(Id, ContinuedPacket),
}

/// Returns the work that the described session continues, unless the user has given it another task since.
pub fn continued_work_candidate(context: &BriefContext) -> Option<Candidate> {
    if context.occasion == BriefOccasion::Replayed {
        return None;
    }
    let (store, described) = (context.project.store, context.described_session?);
    let redact = context.project.settings.redact_options();
    // If the session is still at work, the packet section of the brief already describes its packet.
    if matches!(context.occasion, BriefOccasion::Started | BriefOccasion::Asked)
        && let Some((packet, is_done)) = packet_of_session(store, described, redact)
    {
        return Some(packet_candidate("the session", &packet, is_done));
    }
    let (session, digest) = match earlier_work(store, described, redact)? {
        EarlierWork::Request(session, digest) => (session, digest),
        EarlierWork::Packet(session, packet) => {
            let short = model::activity::short_session_id(session.as_str());
            return Some(packet_candidate(&format!("session {short}"), &packet, false));
        }
    };
    let goal = digest.current_goal();
    let goal = &goal.task_prompt.or(goal.newest_prompt)?.text;
    let short = model::activity::short_session_id(session.as_str());
    let place = sessions::describe_other_worktree(&context.project, &digest);
    let place = place.map_or(String::new(), |worktree| format!(", in {worktree},"));
    let asked =
        |most: usize| format!("in session {short}{place} the user asked {}", in_quotation_marks(goal, most));
    let mut forms = vec![asked(160), asked(600)];
    if !digest.last_message.is_empty() {
        forms.push(format!(
            "{}; its last message: {}",
            asked(600),
            in_quotation_marks(&digest.last_message, 400)
        ));
    }
    forms.dedup();
    let mut candidate = Candidate::new(&CONTINUED_WORK_BRIEF_SECTION, format!("continued:{session}"), "");
    candidate.forms = forms;
    candidate.strings_stating_fact = vec![goal.clone()];
    Some(candidate)
}

/// Returns the request or the purpose that a session continues, if its own user only said “continue”.
pub(crate) fn continued_request(store: &Store, session: &Id, redact: RedactOptions) -> Option<String> {
    let digest = match earlier_work(store, session, redact)? {
        EarlierWork::Request(_, digest) => digest,
        EarlierWork::Packet(_, packet) => return Some(packet.goal),
    };
    let goal = digest.current_goal();
    Some(goal.task_prompt.or(goal.newest_prompt)?.text.clone())
}

/// If the user only said “continue” in `session`, returns the earlier session whose work it continues.
pub(crate) fn continued_session(
    store: &Store,
    session: &Id,
    redact: RedactOptions,
) -> Option<ContinuedSession> {
    match earlier_work(store, session, redact)? {
        EarlierWork::Request(_, digest) => ContinuedSession::from_digest(&digest),
        EarlierWork::Packet(session, packet) => {
            Some(ContinuedSession::from_packet(session.as_str(), &packet))
        }
    }
}

/// Returns the packet that a session picked up, and whether the packet is done by now. Returns `None` if the session
/// has any other request.
fn packet_of_session(store: &Store, session: &Id, redact: RedactOptions) -> Option<(ContinuedPacket, bool)> {
    let (mut packet, is_done) = claimed::picked_up_packet(store, session, redact)?;
    let digest = store.current_digest(session, |_| {}).ok()?;
    packet.constraints = packet.constraints_still_valid(&digest);
    words::are_about_packet(&digest.prompts).then_some((packet, is_done))
}

fn packet_candidate(who: &str, packet: &ContinuedPacket, is_done: bool) -> Candidate {
    let id = format_path_or_code(&packet.id, 128);
    let state = if is_done { ", which is done by now; its goal was" } else { "; its goal is" };
    // If the purpose is only a part of the first quoted message, show the whole message instead.
    let (goal, others) = match packet.quoted_messages.split_first() {
        Some((first, others)) if is_purpose_part_of_message(&packet.goal, &first.text) => {
            (&first.text, others)
        }
        _ => (&packet.goal, packet.quoted_messages.as_slice()),
    };
    // If the work is finished, show only the goal, because the other quoted messages would look like open work.
    let others = if is_done { &[] } else { others };
    let form = |most: usize, most_of_others: usize| {
        let quotes = others.iter().filter(|_| most_of_others > 0);
        let quotes = quotes.map(|other| format!("; it also quotes {}", quote_message(other, most_of_others)));
        let goal = in_quotation_marks(goal, most);
        format!("{who} picked up packet {id}{state} {goal}{}", quotes.collect::<String>())
    };
    let mut candidate = Candidate::new(&CONTINUED_WORK_BRIEF_SECTION, format!("continued:{}", packet.id), "");
    candidate.forms = vec![form(200, 0), form(400, 200), form(900, 600)];
    candidate.forms.dedup();
    candidate.strings_stating_fact = vec![goal.clone()];
    candidate
}

/// Quotes a message of a packet. An answer is quoted with the question and with both speakers, because neither makes
/// sense alone.
fn quote_message(message: &QuotedMessage, most: usize) -> String {
    let words = in_quotation_marks(&message.text, most);
    match &message.question {
        Some((_, asked)) => {
            format!("the user's {words}, in answer to the agent's {}", in_quotation_marks(asked, most))
        }
        None => words,
    }
}

/// Returns the earlier work that the described session continues, if its user only said “continue”. Returns `None` if the
/// described session has a task of its own, or if the earlier work is finished.
fn earlier_work(store: &Store, described: &Id, redact: RedactOptions) -> Option<EarlierWork> {
    let mut session = described.clone();
    for _ in 0..MAX_SESSIONS_FOLLOWED {
        // Read this small file first, because most sessions do not continue an earlier one.
        let before = sent::session_described_at_start(store, &session)?;
        let digest = store.current_digest(&session, |_| {}).ok()?;
        // A packet or a loop is a task, even if the user only typed "go".
        if !only_says_continue(&digest)
            || claimed::has_claimed_packet_of_other_session(store, &session)
            || loops::session::has_had_loop(store, &session)
        {
            return None;
        }
        if let Some((packet, is_done)) = packet_of_session(store, &before, redact) {
            return (!is_done).then_some(EarlierWork::Packet(before, packet));
        }
        let earlier = store.current_digest(&before, |_| {}).ok()?;
        if !only_says_continue(&earlier) {
            return Some(EarlierWork::Request(before, Box::new(earlier)));
        }
        session = before;
    }
    None
}

/// Returns whether the first prompt only says “continue” and no later prompt gives a task.
fn only_says_continue(digest: &Digest) -> bool {
    let prompts = words::prompts_about_work(&digest.prompts);
    let continues = |first: &Prompt| {
        first.prompt_kind() == PromptKind::Approval && prompt::continues_earlier_work(&first.text)
    };
    let gives_task = |prompt: &&Prompt| prompt.prompt_kind() == PromptKind::Task && !prompt.is_about_packet;
    prompts.first().is_some_and(|first| continues(first)) && !prompts.iter().any(gives_task)
}
