use model::event::EventName;
use model::failure;
use model::journal::{AGENT_MESSAGE_EVENT, EDIT_TEXTS_EVENT, JournalRecord, VALIDATOR_RUN_EVENT};
use model::render::one_line;
use model::time;
use ops::session::journal::{JournalReader, ListedSession, POLL_INTERVAL};
use ops::session::list::SessionChoiceReason;
use ops::{Error, Result, World};

use crate::clock;
use crate::output::{self, BAD, BOLD, DIM, OutputFormat};

/// Show what happened in a session, call by call
///
/// Without --session, shows the session of the harness that this shell runs in, or else the last session in this project
/// that did any work. A call that was reported twice is shown once. With --json, prints one record per line, as in the journal.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Use this session; the beginning of its id is enough
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// Keep printing new records until interrupted
    #[arg(long, short)]
    follow: bool,
    /// Print only the last N lines
    #[arg(long, short = 'n', value_name = "N")]
    limit: Option<usize>,
    /// Print only calls that failed
    #[arg(long)]
    failures: bool,
    /// List the sessions instead, each with its last prompt about the work, as in `thru status`; -n limits their number
    #[arg(long, conflicts_with_all = ["session", "follow", "failures"])]
    list: bool,
}

impl Args {
    fn includes_record(&self, record: &JournalRecord) -> bool {
        // Leave out the records of edit texts, because the calls that they belong to are listed anyway.
        record.event != EDIT_TEXTS_EVENT && (!self.failures || record.has_failed())
    }
}

pub fn run(world: &World, args: &Args, format: OutputFormat) -> Result<u8> {
    if args.list {
        list_sessions(world, args.limit, format)?;
        return Ok(0);
    }
    let mut reading = match args.session.as_deref() {
        None if args.follow => {
            let mut told = false;
            ops::session::journal::wait_for_session(world, || {
                if !std::mem::replace(&mut told, true) {
                    output::print_message(format_args!("{DIM}waiting for the first session here ...{DIM:#}"));
                }
            })?
        }
        session => match ops::session::journal::open_journal(world, session) {
            // As with the other lists, it is no error that there is nothing to show yet.
            Err(Error::NoRoot { .. }) if session.is_none() => {
                print_that_no_session_is_captured(format);
                return Ok(0);
            }
            opened => opened?,
        },
    };
    if format == OutputFormat::Text {
        print_title(world, &reading);
    }
    let line = |record: &JournalRecord| match format {
        OutputFormat::Json => String::from_utf8_lossy(&record.to_json_line()).into_owned(),
        OutputFormat::Text => format_record(record),
    };
    let line_while_read = |line: &str| match format {
        OutputFormat::Json => output::print_json_line_unless_closed(line),
        OutputFormat::Text => output::print_line_unless_closed(line),
    };
    // `--limit` and the sorting by time apply only to existing records, not to records that arrive with `--follow`.
    let mut known = Vec::new();
    reading.read_new_records(|record| match format {
        _ if !args.includes_record(record) => {}
        OutputFormat::Json => known.push(ShownRecord::from_record(record, line(record))),
        OutputFormat::Text => ShownRecord::from_record(record, line(record)).insert_by_time(&mut known),
    })?;
    let first = args.limit.map_or(0, |most| known.len().saturating_sub(most));
    if !known[first..].iter().all(|shown| line_while_read(&shown.line)) {
        return Ok(0);
    }
    loop {
        let mut heard = true;
        reading.read_new_records(|record| {
            if args.includes_record(record) {
                heard &= line_while_read(&line(record));
            }
        })?;
        if !args.follow || !heard {
            return Ok(0);
        }
        std::thread::sleep(POLL_INTERVAL);
        if let Some(next) = reading.open_journal_of_newer_session(world) {
            reading = next;
            if format == OutputFormat::Text {
                print_title(world, &reading);
            }
        }
    }
}

struct ShownRecord {
    at: String,
    id: String,
    /// The id of the call that follows this message from the agent. Empty if that id is unknown.
    before: String,
    /// The agent's message. Empty unless the record is a stop or a message from the transcript.
    agent_message: String,
    ends_turn: bool,
    is_late: bool,
    line: String,
}

impl ShownRecord {
    fn from_record(record: &JournalRecord, line: String) -> ShownRecord {
        let is_stop = record.event_name() == Some(EventName::Stop);
        let is_end = record.event_name() == Some(EventName::SessionEnd);
        let agent_message = if is_stop || record.event == AGENT_MESSAGE_EVENT {
            record.text.to_string()
        } else {
            String::new()
        };
        ShownRecord {
            at: record.ts.to_string(),
            id: record.id.to_string(),
            before: record.next_call.to_string(),
            agent_message,
            ends_turn: is_stop || is_end,
            is_late: !record.from.is_empty(),
            line,
        }
    }

    /// Inserts the record by its time. The transcript is read at a stop, so its records follow the stop in the journal,
    /// although they are older than the stop. A message that the stop repeats is shown once. Times have a resolution of
    /// one second, so a message is inserted before the call that follows it, if that call is shown.
    fn insert_by_time(self, known: &mut Vec<ShownRecord>) {
        let is_earlier = |other: &&ShownRecord| other.at > self.at || other.at == self.at && other.ends_turn;
        let later = if self.is_late { known.iter().rev().take_while(is_earlier).count() } else { 0 };
        let next_call = || known.iter().rposition(|other| other.id == self.before && !other.id.is_empty());
        let place = next_call().unwrap_or(known.len() - later);
        let is_same = |other: &ShownRecord| other.agent_message == self.agent_message && other.at >= self.at;
        let is_repeated =
            self.is_late && !self.agent_message.is_empty() && known.iter().rev().take(100).any(is_same);
        if !is_repeated {
            known.insert(place, self);
        }
    }
}

fn print_title(world: &World, reading: &JournalReader) {
    let how = match reading.session_choice {
        SessionChoiceReason::Named => "",
        SessionChoiceReason::Harness => " (the session of the harness that this shell runs in)",
        SessionChoiceReason::Guess => " (the last session that did any work here; --session chooses another)",
    };
    let zone = clock::time_zone_name(&time::to_rfc3339(world.now));
    output::print_message(format_args!("{DIM}session {}{how}, times in {zone}{DIM:#}", reading.session));
}

/// Returns a line like `19:22:03 Edit src/a.rs`.
fn format_record(record: &JournalRecord) -> String {
    let clock = clock::local_time_of_day(&record.ts);
    let what = if record.tool.is_empty() { record.event.as_ref() } else { record.tool.as_ref() };
    let named = record.agent.as_ref().filter(|agent| !agent.kind.is_empty());
    let who = named.map_or(String::new(), |agent| format!("{DIM}[{}]{DIM:#} ", one_line(&agent.kind, 24)));
    let detail = record_detail(record);
    format!("{DIM}{clock}{DIM:#}  {BOLD}{:<15}{BOLD:#} {who}{detail}", one_line(what, 15))
}

fn record_detail(record: &JournalRecord) -> String {
    let mut parts = Vec::new();
    if !record.command.is_empty() {
        parts.push(one_line(&record.command, 100));
    } else {
        let files: Vec<String> = record.files.iter().map(|file| one_line(&file.path, 80)).collect();
        parts.push(files.join(", "));
    }
    parts.push(one_line(&record.name, 40));
    // The task of a sub-agent comes before its answer, because the answer is longer.
    parts.push(one_line(&record.asked, 100));
    // A summary can begin with the model's analysis, which is not shown.
    let text = record.text.split_once("<summary>").filter(|_| record.event == "summary");
    let text =
        text.map_or(&*record.text, |(_, summary)| summary.split("</summary>").next().unwrap_or(summary));
    parts.push(one_line(text, 100));
    if record.has_failed() {
        // If the exit code of a failed call is 0, it is that of the last command in a pipe, so it is not shown.
        let exit = record.exit.filter(|exit| *exit != 0).map_or(String::new(), |exit| format!(" ({exit})"));
        let why = line_naming_error(&record.error);
        let is_refused = !record.command.is_empty() && record.is_refused();
        let how = if is_refused { "did not run" } else { "failed" };
        parts.push(format!("{BAD}{how}{exit}{BAD:#} {}", one_line(why, 100)));
    }
    if record.event == VALIDATOR_RUN_EVENT && record.ok == Some(true) {
        parts.push("passed".to_owned());
    }
    if !record.verdict.is_empty() {
        parts.push(format!("{}: {}", one_line(&record.output, 120), one_line(&record.verdict, 20)));
    }
    match record.todos.as_deref() {
        Some([one]) => parts.push(one_line(&one.text, 100)),
        Some(todos) => parts.push(format!("{} entries", todos.len())),
        None => {}
    }
    for answer in &record.answers {
        parts.push(format!("{} → {}", one_line(&answer.question, 60), one_line(&answer.answer, 60)));
    }
    parts.retain(|part| !part.is_empty());
    parts.join("  ")
}

/// Returns the line that names the error. In a Python traceback, that is the last line.
fn line_naming_error(error: &str) -> &str {
    let mut reasons = failure::reason_lines(error);
    let reason = if error.starts_with("Traceback") { reasons.last() } else { reasons.next() };
    reason.unwrap_or_default()
}

fn print_that_no_session_is_captured(format: OutputFormat) {
    if format == OutputFormat::Text {
        output::print_message("No session has been captured yet.");
    }
}

fn list_sessions(world: &World, limit: Option<usize>, format: OutputFormat) -> Result<()> {
    let mut sessions = ops::session::journal::list_sessions(world)?;
    sessions.truncate(limit.unwrap_or(usize::MAX));
    match format {
        OutputFormat::Json => output::print_json(&sessions),
        OutputFormat::Text if sessions.is_empty() => print_that_no_session_is_captured(format),
        OutputFormat::Text => {
            output::print_line(format_args!(
                "{DIM}{:<36}  {:<11}  {:<12}  {:<9}  {:>13}  last prompt{DIM:#}",
                "session", "harness", "last active", "state", "records"
            ));
            for ListedSession { session, harness, last_at, records, ended, title, .. } in &sessions {
                let ago =
                    time::parse_time(last_at).map_or(String::new(), |at| time::describe_age(at, world.now));
                let state = match ended.as_str() {
                    "" => "open",
                    "continued" => "continued",
                    "crashed" => "crashed",
                    _ => "ended",
                };
                let title = one_line(title, 60);
                let (id, harness) = (one_line(session, 40), one_line(harness, 11));
                let word = if *records == 1 { "record" } else { "records" };
                output::print_line(format_args!(
                    "{id:<36}  {harness:<11}  {ago:<12}  {state:<9}  {records:>5} {word:<7}  {DIM}{title}{DIM:#}"
                ));
            }
        }
    }
    Ok(())
}
