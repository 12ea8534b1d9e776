use model::event::EventName;
use model::failure;
use model::journal::{Record, SAID};
use model::render::one_line;
use model::time;
use ops::Result;
use ops::World;
use ops::session::journal::{Listed, POLL, Reading};
use ops::session::list::Chosen;

use crate::clock;
use crate::output::{self, BAD, BOLD, DIM, Format};

/// Show what happened in a session, call by call
///
/// Without --session: the session of the harness around this shell, or else the newest here. A call that was reported
/// twice is shown once. With --json, one record per line, as in the journal.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The session; the beginning of its id is enough
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// Keep printing new records until interrupted
    #[arg(long, short)]
    follow: bool,
    /// Only the last N lines
    #[arg(long, short = 'n', value_name = "N")]
    limit: Option<usize>,
    /// Only calls that failed
    #[arg(long)]
    failures: bool,
    /// List the sessions instead; -n limits them too
    #[arg(long, conflicts_with_all = ["session", "follow", "failures"])]
    list: bool,
}

impl Args {
    fn is_wanted(&self, record: &Record) -> bool {
        !self.failures || record.ok == Some(false)
    }
}

pub fn run(world: &World, args: &Args, format: Format) -> Result<u8> {
    if args.list {
        list(world, args.limit, format)?;
        return Ok(0);
    }
    let mut reading = match args.session.as_deref() {
        None if args.follow => {
            let mut told = false;
            ops::session::journal::wait_for(world, || {
                if !std::mem::replace(&mut told, true) {
                    output::talk(format_args!("{DIM}waiting for the first session here ...{DIM:#}"));
                }
            })?
        }
        session => ops::session::journal::open(world, session)?,
    };
    if format == Format::Text {
        title(world, &reading);
    }
    let line = |record: &Record| match format {
        Format::Json => String::from_utf8_lossy(&record.line()).into_owned(),
        Format::Text => words(record),
    };
    let line_while_read = |line: &str| match format {
        Format::Json => output::json_line_while_read(line),
        Format::Text => output::line_while_read(line),
    };
    // Records that exist already are sorted and limited; records that arrive with `--follow` are not.
    let mut known = Vec::new();
    reading.read(|record| match format {
        _ if !args.is_wanted(record) => {}
        Format::Json => known.push(Shown::of(record, line(record))),
        Format::Text => Shown::of(record, line(record)).insert_by_time(&mut known),
    })?;
    let first = args.limit.map_or(0, |most| known.len().saturating_sub(most));
    if !known[first..].iter().all(|shown| line_while_read(&shown.line)) {
        return Ok(0);
    }
    loop {
        let mut heard = true;
        reading.read(|record| {
            if args.is_wanted(record) {
                heard &= line_while_read(&line(record));
            }
        })?;
        if !args.follow || !heard {
            return Ok(0);
        }
        std::thread::sleep(POLL);
        if let Some(next) = reading.next(world) {
            reading = next;
            if format == Format::Text {
                title(world, &reading);
            }
        }
    }
}

/// One line of the output.
struct Shown {
    at: String,
    /// What the agent said, if this is a stop or a text of the transcript.
    said: String,
    ends_turn: bool,
    is_late: bool,
    line: String,
}

impl Shown {
    fn of(record: &Record, line: String) -> Shown {
        let is_stop = record.event_name() == Some(EventName::Stop);
        let is_end = record.event_name() == Some(EventName::SessionEnd);
        let said = if is_stop || record.event == SAID { record.text.to_string() } else { String::new() };
        Shown {
            at: record.ts.to_string(),
            said,
            ends_turn: is_stop || is_end,
            is_late: !record.from.is_empty(),
            line,
        }
    }

    /// Inserts the record at its time. The transcript is read at a stop, so what only the transcript contains is
    /// recorded after that stop. Words that the stop repeats are shown once.
    fn insert_by_time(self, known: &mut Vec<Shown>) {
        let is_earlier = |other: &&Shown| other.at > self.at || other.at == self.at && other.ends_turn;
        let later = if self.is_late { known.iter().rev().take_while(is_earlier).count() } else { 0 };
        let place = known.len() - later;
        let is_same = |other: &Shown| other.said == self.said && other.at >= self.at;
        let is_repeated = self.is_late && !self.said.is_empty() && known.iter().rev().take(100).any(is_same);
        if !is_repeated {
            known.insert(place, self);
        }
    }
}

fn title(world: &World, reading: &Reading) {
    let how = match reading.chosen {
        Chosen::Named => "",
        Chosen::Harness => " (of the harness around this shell)",
        Chosen::Guess => " (the newest here; --session names another)",
    };
    let zone = clock::zone_name(&time::rfc3339(world.now));
    output::talk(format_args!("{DIM}session {}{how}, times in {zone}{DIM:#}", reading.session));
}

/// Returns a line like `19:22:03 Edit src/a.rs`.
fn words(record: &Record) -> String {
    let clock = clock::time_of_day(&record.ts);
    let what = if record.tool.is_empty() { record.event.as_ref() } else { record.tool.as_ref() };
    let named = record.agent.as_ref().filter(|agent| !agent.kind.is_empty());
    let who = named.map_or(String::new(), |agent| format!("{DIM}[{}]{DIM:#} ", one_line(&agent.kind, 24)));
    let detail = detail(record);
    format!("{DIM}{clock}{DIM:#}  {BOLD}{:<15}{BOLD:#} {who}{detail}", one_line(what, 15))
}

fn detail(record: &Record) -> String {
    let mut parts = Vec::new();
    if !record.command.is_empty() {
        parts.push(one_line(&record.command, 100));
    } else {
        let files: Vec<String> = record.files.iter().map(|file| one_line(&file.path, 80)).collect();
        parts.push(files.join(", "));
    }
    parts.push(one_line(&record.name, 40));
    // The task of a sub-agent comes before its answer, which is longer.
    parts.push(one_line(&record.asked, 100));
    // A summary can begin with the model's analysis.
    let text = record.text.split_once("<summary>").filter(|_| record.event == "summary");
    parts.push(one_line(text.map_or(&*record.text, |(_, summary)| summary), 100));
    if record.ok == Some(false) {
        let exit = record.exit.map_or(String::new(), |exit| format!(" ({exit})"));
        let why = reason(&record.error);
        parts.push(format!("{BAD}failed{exit}{BAD:#} {}", one_line(why, 100)));
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

/// Returns the line that names the error. In a Python traceback that is the last one.
fn reason(error: &str) -> &str {
    let mut reasons = failure::reasons(error);
    let reason = if error.starts_with("Traceback") { reasons.last() } else { reasons.next() };
    reason.unwrap_or_default()
}

fn list(world: &World, limit: Option<usize>, format: Format) -> Result<()> {
    let mut sessions = ops::session::journal::list(world)?;
    sessions.truncate(limit.unwrap_or(usize::MAX));
    match format {
        Format::Json => output::json(&sessions),
        Format::Text if sessions.is_empty() => output::talk("No session has been captured yet."),
        Format::Text => {
            for Listed { session, harness, last_at, records, ended, title, .. } in &sessions {
                let ago = time::parse(last_at).map_or(String::new(), |at| time::ago(at, world.now));
                let state = match ended.as_str() {
                    "" => "open",
                    "continued" => "continued",
                    "crashed" => "crashed",
                    _ => "ended",
                };
                let title = one_line(title, 60);
                let (id, harness) = (one_line(session, 40), one_line(harness, 11));
                let word = if *records == 1 { "record" } else { "records" };
                output::line(format_args!(
                    "{id:<36}  {harness:<11}  {ago:<12}  {state:<9}  {records:>5} {word:<7}  {DIM}{title}{DIM:#}"
                ));
            }
        }
    }
    Ok(())
}
