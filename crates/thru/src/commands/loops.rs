use std::path::PathBuf;

use clap::Subcommand;
use model::loops::log::{Entry, Event, Tokens};
use model::loops::{Ended, Outcome, Status, turn_words};
use model::render::one_line;
use model::time;
use ops::Result;
use ops::World;
use ops::features::loops::start::{self, Options, PacketValidators, Source};
use ops::features::loops::{Changed, List, Log, Resumption, Shown, Wanted};

use crate::ask::{self, Question};
use crate::output::{self, BAD, BOLD, DIM, Format, GOOD, WARN};

/// Feed a prompt to an agent again until a promise holds
///
/// A loop holds one session: whenever its agent would stop, it is given the prompt again, until its last message says
/// <promise>TEXT</promise> outside of code, the validators pass, or a limit is reached. Never another session, never a
/// sub-agent. Without an ID the commands mean the loop in the foreground; the beginning of an ID, or a part of its name,
/// is enough.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Start(StartArgs),
    /// List the loops of this project; ▶ marks those in the foreground
    List,
    /// Show a loop: where it stands, and its prompt
    Show {
        /// The loop: its id, the beginning of it or a part of its name; without, the one in the foreground
        id: Option<String>,
    },
    /// Put a loop into the foreground of a session; the one that was there waits
    Activate {
        /// The loop: its id, the beginning of it, or a part of its name
        id: String,
        #[command(flatten)]
        owner: OwnerArgs,
    },
    /// Make a loop your own that came from elsewhere: shows what it would feed and run, and asks
    ///
    /// A loop runs only where its user started it. One that came with a clone or a pull, that somebody changed, or that an
    /// older thru made, is never fed and never runs anything until it was adopted. Needs a terminal; refuses to run inside a
    /// harness.
    Adopt {
        /// The loop: its id, the beginning of it, or a part of its name
        id: String,
    },
    /// Let a loop rest; `resume` goes on
    Pause {
        /// The loop: its id, the beginning of it or a part of its name; without, the one in the foreground
        id: Option<String>,
    },
    /// Go on with a loop that was paused, or that a limit ended
    Resume {
        /// The loop: its id, the beginning of it or a part of its name; without, the one that is paused
        id: Option<String>,
        /// The new limit, counted from the loop's start; 0 is none
        #[arg(long, value_name = "N")]
        max_iterations: Option<u64>,
        /// How long it may take from now on, e.g. 2h or 1h30m
        #[arg(long = "for", value_name = "TIME", value_parser = seconds)]
        seconds: Option<i64>,
        #[command(flatten)]
        owner: OwnerArgs,
    },
    /// End a loop for good; takes effect at the session's next stop
    Cancel {
        /// The loop: its id, the beginning of it or a part of its name; without, the one in the foreground
        id: Option<String>,
    },
    /// Show what happened, iteration by iteration
    Log {
        /// The loop: its id, the beginning of it or a part of its name; without, the one in the foreground
        id: Option<String>,
    },
}

/// Start a loop and put it into the foreground
#[derive(Debug, clap::Args)]
#[command(group = clap::ArgGroup::new("source").required(true).args(["prompt", "from_packet", "file"]))]
struct StartArgs {
    /// What the agent is to do, again and again
    prompt: Vec<String>,
    /// Take prompt, promise and limit from this packet
    #[arg(long, value_name = "ID")]
    from_packet: Option<String>,
    /// Take the prompt from a file; - is stdin
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
    /// Most iterations, 30 unless said otherwise; the first run counts, 0 is no limit
    #[arg(long, value_name = "N")]
    max_iterations: Option<u64>,
    /// What the agent says when all is done; may be given more than once
    #[arg(long, value_name = "TEXT")]
    promise: Vec<String>,
    /// What the agent says when it cannot go on without you
    #[arg(long, value_name = "TEXT")]
    blocked_promise: Vec<String>,
    /// A shell line that must pass before a promise is believed; may be given more than once
    #[arg(long, value_name = "CMD")]
    validator: Vec<String>,
    /// Take the packet's validators too
    #[arg(long, requires = "from_packet")]
    with_validators: bool,
    /// How long it may take, e.g. 2h or 1h30m
    #[arg(long = "for", value_name = "TIME", value_parser = seconds)]
    seconds: Option<i64>,
    #[command(flatten)]
    owner: OwnerArgs,
}

#[derive(Debug, clap::Args)]
struct OwnerArgs {
    /// The session to hold, instead of the one this runs in
    #[arg(long, value_name = "ID", conflicts_with = "next")]
    session: Option<String>,
    /// Hold the next session that starts here
    #[arg(long)]
    next: bool,
}

impl OwnerArgs {
    fn wanted(&self) -> Wanted<'_> {
        match &self.session {
            Some(session) => Wanted::Session(session),
            None if self.next => Wanted::Next,
            None => Wanted::Here,
        }
    }
}

fn seconds(text: &str) -> std::result::Result<i64, String> {
    time::seconds(text).ok_or_else(|| "write it like 2h, 90m or 1h30m".to_owned())
}

pub fn run(world: &World, args: &Args, format: Format) -> Result<u8> {
    match &args.command {
        Command::Start(args) => changed(&start(world, args)?, "Started", format),
        Command::List => list(&ops::features::loops::list(world)?, world, format),
        Command::Show { id } => show(world, id.as_deref(), format)?,
        Command::Activate { id, owner } => {
            changed(
                &ops::features::loops::activate(world, id, owner.wanted())?,
                "In the foreground:",
                format,
            );
        }
        Command::Adopt { id } => adopt(world, id, format)?,
        Command::Pause { id } => {
            changed(&ops::features::loops::pause(world, id.as_deref())?, "Paused", format);
        }
        Command::Resume { id, max_iterations, seconds, owner } => {
            let how =
                Resumption { max_iterations: *max_iterations, seconds: *seconds, owner: owner.wanted() };
            changed(&ops::features::loops::resume(world, id.as_deref(), how)?, "Resumed", format);
        }
        Command::Cancel { id } => {
            changed(&ops::features::loops::cancel(world, id.as_deref())?, "Cancelled", format);
        }
        Command::Log { id } => log(&ops::features::loops::log(world, id.as_deref())?, format),
    }
    Ok(0)
}

fn start(world: &World, args: &StartArgs) -> Result<Changed> {
    let words = args.prompt.join(" ");
    let prompt = match (&args.from_packet, &args.file) {
        (Some(packet), _) => Source::Packet(packet),
        (None, Some(file)) => Source::File(file),
        (None, None) => Source::Words(&words),
    };
    start::run(
        world,
        &Options {
            prompt,
            max_iterations: args.max_iterations,
            promises: args.promise.clone(),
            blocked: args.blocked_promise.clone(),
            validators: args.validator.clone(),
            packet_validators: if args.with_validators {
                PacketValidators::Take
            } else {
                PacketValidators::Show
            },
            seconds: args.seconds,
            owner: args.owner.wanted(),
        },
    )
}

fn adopt(world: &World, id: &str, format: Format) -> Result<()> {
    let adoption = ops::features::loops::to_adopt(world, id)?;
    let command = format!("thru loop adopt {}", adoption.shown.id);
    let question = Question { refusal: "the loop is not adopted", command: &command };
    if adoption.shown.started_here {
        output::line(format_args!("{} was started here; there is nothing to adopt", adoption.shown.id));
        return Ok(());
    }
    question.need_person(format)?;
    show_adoption(&adoption.shown);
    question.ask("Feed this and run these commands on this machine?")?;
    changed(&ops::features::loops::adopt(world, &adoption)?, "Adopted", format);
    Ok(())
}

/// Everything that the answer is about, whole.
fn show_adoption(shown: &Shown) {
    output::line(format_args!("{BOLD}{}{BOLD:#}, {}, {}", shown.id, state(shown), shown.standing()));
    output::line("At every stop the agent would be given this:");
    ask::show_text(&shown.prompt);
    match shown.validators.is_empty() {
        true => output::line("No command would be run."),
        false => output::line("When it gives its promise, these commands would be run by sh:"),
    }
    for command in &shown.validators {
        ask::show_text(command);
    }
    output::line(how_it_ends(shown));
}

fn changed(changed: &Changed, what: &str, format: Format) {
    if format == Format::Json {
        return output::json(changed);
    }
    let Changed { shown, notes, .. } = changed;
    let what = if changed.changed { what } else { "Nothing to change:" };
    output::line(format_args!("{GOOD}{what}{GOOD:#} {BOLD}{}{BOLD:#}, {}", shown.id, shown.standing()));
    if shown.status == Status::Active {
        output::line(format_args!("{}", how_it_ends(shown)));
    }
    for note in notes {
        output::talk(format_args!("{WARN}note:{WARN:#} {}", one_line(note, 400)));
    }
}

fn how_it_ends(shown: &Shown) -> String {
    let of = |outcome: Outcome| {
        let texts = shown.promises.iter().filter(move |promise| promise.outcome == outcome);
        texts
            .map(|promise| format!("<promise>{}</promise>", one_line(&promise.text, 200)))
            .collect::<Vec<_>>()
            .join(" or ")
    };
    let (done, blocked) = (of(Outcome::Done), of(Outcome::Blocked));
    let mut parts = Vec::new();
    if !done.is_empty() {
        let checks = if shown.validators.is_empty() { "" } else { " and the validators pass" };
        parts.push(format!("It ends when the agent says {done}{checks}"));
    }
    if !blocked.is_empty() {
        parts.push(format!("it pauses at {blocked}"));
    }
    if shown.max_iterations > 0 {
        parts.push(format!("after {} iterations", shown.max_iterations));
    }
    if let Some(deadline) = &shown.deadline {
        parts.push(format!("at {deadline}"));
    }
    if done.is_empty() {
        return match parts.is_empty() {
            true => "It ends when it gets nowhere, or is cancelled.".to_owned(),
            false => format!("It ends {}.", parts.join(", or ")),
        };
    }
    format!("{}.", parts.join(", or "))
}

fn list(list: &List, world: &World, format: Format) {
    if format == Format::Json {
        return output::json(list);
    }
    if list.loops.is_empty() && list.damaged.is_empty() {
        output::talk("No loop yet; `thru loop start` begins one.");
    }
    let wide = |of: &dyn Fn(&Shown) -> usize| list.loops.iter().map(of).max().unwrap_or(0);
    let (id, state, done, holder) = (
        wide(&|shown| shown.id.len()),
        wide(&|shown| state(shown).len()),
        wide(&|shown| shown.progress().len()),
        wide(&|shown| whose(shown).len()),
    );
    for shown in &list.loops {
        let mark = match (shown.foreground, shown.waiting) {
            (true, _) => "▶",
            (false, true) => "▷",
            (false, false) => " ",
        };
        let style = match shown.status {
            _ if is_foreign(shown) => WARN,
            Status::Active if is_behind(shown) => WARN,
            Status::Active => GOOD,
            Status::Paused => WARN,
            Status::Done | Status::Cancelled => DIM,
        };
        let ago = time::parse(&shown.updated_at).map_or(String::new(), |at| time::ago(at, world.now));
        let rest = match shown.promises.first() {
            Some(promise) => format!("{ago:<12}  {DIM}{}{DIM:#}", one_line(&promise.text, 40)),
            None => ago,
        };
        output::line(format_args!(
            "{GOOD}{mark}{GOOD:#} {BOLD}{:<id$}{BOLD:#}  {style}{:<state$}{style:#}  {:>done$}  {:<holder$}  {rest}",
            shown.id,
            self::state(shown),
            shown.progress(),
            whose(shown),
        ));
    }
    if let Some(behind) = list.loops.iter().find(|shown| is_behind(shown)) {
        output::talk(format_args!(
            "{DIM}`thru loop activate {}` puts one that waits into the foreground{DIM:#}",
            behind.id
        ));
    }
    list.loops.iter().for_each(tell_foreign);
    for damaged in &list.damaged {
        output::talk(format_args!("{BAD}damaged:{BAD:#} {}", one_line(damaged, 400)));
    }
}

/// Never fed: the user did not start it on this machine.
fn is_foreign(shown: &Shown) -> bool {
    !shown.started_here && matches!(shown.status, Status::Active | Status::Paused)
}

fn tell_foreign(shown: &Shown) {
    if is_foreign(shown) {
        output::talk(format_args!(
            "{WARN}note:{WARN:#} {} was not started here, so it is never fed; `thru loop adopt {0}` shows what it would \
             feed and run, and asks",
            shown.id
        ));
    }
}

/// Active, and nobody is held by it: another loop has its session, or it waits behind another for the next one.
fn is_behind(shown: &Shown) -> bool {
    shown.status == Status::Active && shown.started_here && !shown.foreground && !shown.waiting
}

fn whose(shown: &Shown) -> String {
    match (&shown.session, shown.waiting) {
        (_, true) => "next session".to_owned(),
        (Some(session), _) => ops::features::loops::short(session),
        (None, false) => "-".to_owned(),
    }
}

/// `paused (limit)`, `active (waits)`, `active (not started here)`.
fn state(shown: &Shown) -> String {
    if is_foreign(shown) {
        return format!("{} (not started here)", shown.status.name());
    }
    if is_behind(shown) {
        return format!("{} (waits)", shown.status.name());
    }
    match shown.ended_reason.filter(|reason| *reason != Ended::Cancelled) {
        Some(reason) => format!("{} ({})", shown.status.name(), reason.name()),
        None => shown.status.name().to_owned(),
    }
}

fn show(world: &World, id: Option<&str>, format: Format) -> Result<()> {
    let (shown, text) = ops::features::loops::show(world, id)?;
    if format == Format::Json {
        output::json(&shown);
        return Ok(());
    }
    output::text(&text);
    tell_foreign(&shown);
    Ok(())
}

fn log(log: &Log, format: Format) {
    if format == Format::Json {
        return output::json(log);
    }
    let Log { shown, entries, torn } = log;
    output::line(format_args!("{BOLD}{}{BOLD:#}  {}, {}", shown.id, state(shown), shown.standing()));
    let mut day = "";
    for entry in entries {
        let (date, clock) = entry.ts.split_at_checked(10).unwrap_or((&entry.ts, ""));
        if date != day {
            output::line(format_args!("{DIM}{date}{DIM:#}"));
            day = date;
        }
        print_entry(entry, clock.trim_matches(['T', 'Z']));
    }
    if *torn > 0 {
        output::talk(format_args!("{WARN}note:{WARN:#} {torn} lines of the log cannot be read"));
    }
}

/// `19:24:10    2  fed again  ended without the promise (2 files changed, 7 calls; 12.3k tokens in, 1.1k out)`
fn print_entry(entry: &Entry, clock: &str) {
    let (style, word) = match entry.event {
        Event::Started => (GOOD, "started"),
        Event::Claimed => (GOOD, "claimed"),
        Event::Fed => (DIM, "fed again"),
        Event::Ended if entry.reason == Some(Ended::Promise) => (GOOD, "done"),
        Event::Ended => (WARN, "ended"),
        Event::Paused => (WARN, "paused"),
        Event::Resumed => (GOOD, "resumed"),
        Event::Activated => (GOOD, "activated"),
        Event::Moved => (DIM, "moved on"),
        Event::Cancelled => (WARN, "cancelled"),
    };
    let session =
        || entry.session.as_ref().map(|session| format!("session {}", ops::features::loops::short(session)));
    let reason =
        entry.reason.filter(|reason| *reason != Ended::Cancelled).map(|reason| reason.name().to_owned());
    let mut parts: Vec<String> = match entry.event {
        Event::Fed => Vec::new(),
        Event::Ended => reason.into_iter().collect(),
        _ => session().into_iter().collect(),
    };
    parts.extend(Some(one_line(&entry.detail, 300)).filter(|detail| !detail.is_empty()));
    let tokens = entry
        .tokens
        .map(|Tokens { input, output }| format!("{} tokens in, {} out", thousands(input), thousands(output)));
    let work = [Some(turn_words(entry.changed, entry.calls)).filter(|words| !words.is_empty()), tokens];
    let work = work.into_iter().flatten().collect::<Vec<_>>().join("; ");
    let work = if work.is_empty() { String::new() } else { format!("  {DIM}{work}{DIM:#}") };
    output::line(format_args!(
        "{DIM}{clock}{DIM:#}  {:>4}  {style}{word:<9}{style:#}  {}{work}",
        entry.iteration,
        parts.join(": ")
    ));
    let files: Vec<String> = entry.files.iter().map(|file| one_line(file, 80)).collect();
    if !files.is_empty() {
        let more = entry.changed.unwrap_or(0).saturating_sub(files.len());
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        output::line(format_args!("{DIM}{:27}{}{more}{DIM:#}", "", files.join(", ")));
    }
}

/// `950`, `12.3k`.
fn thousands(n: u64) -> String {
    if n < 1_000 { n.to_string() } else { format!("{:.1}k", n as f64 / 1_000.0) }
}
