use std::io::IsTerminal;
use std::path::PathBuf;
use std::process::Command as Process;

use clap::Subcommand;
use model::finding::Level;
use model::packet::Status;
use model::render::one_line;
use model::text::count;
use model::time;
use ops::Error;
use ops::Mode;
use ops::Result;
use ops::World;
use ops::features::packets::{Checked, Edit, Edited, Row};

use crate::output::{self, BAD, DIM, Format, GOOD, Stream, WARN};

/// Larger than any packet a person reads.
const LARGEST: usize = 4 * 1024 * 1024;

/// How many are listed unless asked otherwise.
const SHOWN: usize = 40;

/// Look at packets and change them
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// All packets, the one changed last first
    List {
        /// Only those with this status
        #[arg(long, value_name = "STATUS", value_parser = ["draft", "active", "done", "blocked"])]
        status: Option<String>,
        /// At most this many; 0 for all. Without it 40, and all with --json
        #[arg(long, short = 'n', value_name = "N")]
        limit: Option<usize>,
    },
    /// Print a packet, without escape sequences and characters that cannot be seen
    Show {
        /// The packet: its id, the beginning of it, or a part of its name
        id: String,
        /// Every byte of the file; not to a terminal, which would act on escape sequences
        #[arg(long, conflicts_with = "json")]
        raw: bool,
    },
    /// Say where a packet is; on a terminal open it in $EDITOR
    Open {
        /// The packet: its id, the beginning of it, or a part of its name
        id: String,
        /// Only print the path
        #[arg(long)]
        path: bool,
    },
    /// Take work on a packet up again
    Activate {
        /// The packet: its id, the beginning of it, or a part of its name
        id: String,
    },
    /// The packet's work is done
    Done {
        /// The packet: its id, the beginning of it, or a part of its name
        id: String,
    },
    /// The packet's work cannot go on
    Block {
        /// The packet: its id, the beginning of it, or a part of its name
        id: String,
        /// Why not
        #[arg(long, value_name = "TEXT")]
        reason: String,
    },
    /// Files that matter, whatever the ranking says
    Confirm {
        /// The packet: its id, the beginning of it, or a part of its name
        id: String,
        /// Seen from here, or from the project's folder
        #[arg(required = true, value_name = "FILE")]
        files: Vec<String>,
    },
    /// Take files off the confirmed ones
    Unconfirm {
        /// The packet: its id, the beginning of it, or a part of its name
        id: String,
        /// Seen from here, or from the project's folder
        #[arg(required = true, value_name = "FILE")]
        files: Vec<String>,
    },
    /// Replace the text of one section by what is on stdin; no other byte changes
    Set {
        /// The packet: its id, the beginning of it, or a part of its name
        id: String,
        /// The section's heading, or the start of a standard heading: Intent, Context, Next, …
        #[arg(long, value_name = "HEADING")]
        section: String,
    },
    /// Say what is off with a packet, or with all of them
    Validate {
        /// The packet; or --all
        #[arg(required_unless_present = "all")]
        id: Option<String>,
        /// Every packet there is
        #[arg(long, conflicts_with = "id")]
        all: bool,
    },
    /// Make a packet of a handoff that somebody else wrote
    Import {
        /// A markdown file; it stays as it is
        file: PathBuf,
        /// Only say what would be made
        #[arg(long)]
        dry_run: bool,
    },
}

pub fn run(world: &World, args: &Args, format: Format) -> Result<u8> {
    let edit = |id: &str, edit: Edit| {
        print_edited(&ops::features::packets::edit(world, id, edit)?, format);
        Ok(0)
    };
    match &args.command {
        Command::List { status, limit } => list(world, status.as_deref(), *limit, format),
        Command::Show { id, raw } => show(world, id, *raw, format),
        Command::Open { id, path } => open(world, id, *path, format),
        Command::Activate { id } => edit(id, Edit::Status(Status::Active)),
        Command::Done { id } => edit(id, Edit::Status(Status::Done)),
        Command::Block { id, reason } => edit(id, Edit::Block { reason }),
        Command::Confirm { id, files } => edit(id, Edit::Confirm(&absolute(world, files))),
        Command::Unconfirm { id, files } => edit(id, Edit::Unconfirm(&absolute(world, files))),
        Command::Set { id, section } => edit(id, Edit::Section { heading: section, text: &stdin()? }),
        Command::Validate { id, .. } => validate(world, id.as_deref(), format),
        Command::Import { file, dry_run } => import(world, file, *dry_run, format),
    }
}

/// What is typed in a subfolder is seen from there; a path that is in the record as it stands is left so.
pub fn absolute(world: &World, files: &[String]) -> Vec<String> {
    let seen_from_here = |file: &String| match &world.cwd {
        Some(cwd) if cwd.join(file).exists() => cwd.join(file).to_string_lossy().into_owned(),
        _ => file.clone(),
    };
    files.iter().map(seen_from_here).collect()
}

fn stdin() -> Result<String> {
    let bytes = ops::input::stdin(LARGEST)?;
    String::from_utf8(bytes).map_err(|_| Error::Usage {
        what: "stdin is no UTF-8".into(),
        hint: "a packet is a text file; give it text".into(),
    })
}

fn list(world: &World, status: Option<&str>, limit: Option<usize>, format: Format) -> Result<u8> {
    let most = match (limit, format) {
        (Some(0), _) | (None, Format::Json) => usize::MAX,
        (Some(limit), _) => limit,
        (None, Format::Text) => SHOWN,
    };
    let (rows, all) = ops::features::packets::list(world, status.and_then(Status::parse), most)?;
    match format {
        Format::Json => output::json(&rows),
        Format::Text if rows.is_empty() => {
            let of = status.map_or(String::new(), |status| format!(" with status {status}"));
            output::talk(format_args!(
                "No packets{of} here yet. `thru handoff \"what is to be finished\"` makes one."
            ));
        }
        Format::Text => {
            print_rows(&rows, world);
            if all > rows.len() {
                output::talk(format_args!(
                    "{DIM}and {}; -n 0 shows all{DIM:#}",
                    count(all - rows.len(), "older one")
                ));
            }
        }
    }
    Ok(0)
}

fn print_rows(rows: &[Row], world: &World) {
    let width = rows.iter().map(|row| row.id.len()).max().unwrap_or(0).min(70);
    for row in rows {
        let (style, status) = match row.status {
            Some(Status::Active) => (GOOD, "active"),
            Some(Status::Blocked) => (WARN, "blocked"),
            Some(status) => (DIM, status.name()),
            None => (BAD, "unknown"),
        };
        let ago = time::parse(&row.updated_at).map_or(String::new(), |at| time::ago(at, world.now));
        let claimed = if row.claimed_by.is_empty() {
            String::new()
        } else {
            format!("  {DIM}claimed by {}{DIM:#}", one_line(&row.claimed_by, 40))
        };
        output::line(format_args!(
            "{:<width$}  {style}{status:<7}{style:#}  {DIM}{ago:<12}{DIM:#}  {}{claimed}",
            row.id,
            one_line(&row.purpose, 70)
        ));
    }
}

fn show(world: &World, id: &str, raw: bool, format: Format) -> Result<u8> {
    if raw && Stream::Out.is_terminal() {
        return Err(Error::Refused {
            what: "--raw prints escape sequences as they are, and stdout is a terminal".into(),
            hint: "leave --raw out, or send the bytes elsewhere: `thru packet show --raw ID > FILE`".into(),
        });
    }
    let shown = ops::features::packets::show(world, id)?;
    match format {
        Format::Json => {
            let text = String::from_utf8_lossy(shown.document.bytes());
            output::json(&serde_json::json!({ "path": shown.path, "packet": shown.packet, "text": text }));
        }
        Format::Text if raw => output::data(shown.document.bytes()),
        Format::Text => output::text(&String::from_utf8_lossy(shown.document.bytes())),
    }
    Ok(0)
}

fn open(world: &World, id: &str, only_path: bool, format: Format) -> Result<u8> {
    let shown = ops::features::packets::show(world, id)?;
    let editor = (world.var)("VISUAL").or_else(|| (world.var)("EDITOR")).filter(|editor| !editor.is_empty());
    let at_terminal = std::io::stdin().is_terminal() && Stream::Out.is_terminal();
    match (format, editor) {
        (Format::Json, _) => output::json(&serde_json::json!({ "path": shown.path })),
        (Format::Text, Some(editor)) if at_terminal && !only_path => {
            // People put arguments into the variable: `code --wait`.
            let line = format!("{} \"$1\"", editor.to_string_lossy());
            let ended = Process::new("sh").args(["-c", &line, "sh"]).arg(&shown.path).status();
            let ended = ended.map_err(|e| Error::stream("the editor", "start", &e))?;
            return Ok(u8::from(!ended.success()));
        }
        _ => output::line(shown.path.display()),
    }
    Ok(0)
}

fn print_edited(edited: &Edited, format: Format) {
    let Edited { shown, note, covered } = edited;
    match format {
        Format::Json => output::json(
            &serde_json::json!({ "path": shown.path, "packet": shown.packet, "covered": covered, "note": note }),
        ),
        Format::Text => {
            let status = shown.packet.status.map_or("unknown", Status::name);
            output::line(format_args!("{}  {GOOD}{status}{GOOD:#}", shown.id));
        }
    }
    if let Some(note) = note {
        output::talk(format_args!("{DIM}note:{DIM:#} {note}"));
    }
    if *covered {
        tell_covered();
    }
}

/// Who gave a secret should know that it does not stand there.
pub fn tell_covered() {
    output::talk(format_args!(
        "{WARN}note:{WARN:#} a secret was redacted before the text was written; `thru redact` shows how a text is redacted"
    ));
}

fn validate(world: &World, id: Option<&str>, format: Format) -> Result<u8> {
    let checked = ops::features::packets::validate(world, id)?;
    let invalid = checked.iter().filter(|one| !one.valid).count();
    match format {
        Format::Json => output::json(&checked),
        Format::Text => {
            checked.iter().for_each(print_checked);
            if id.is_none() {
                let fine = checked.len() - invalid;
                output::talk(format_args!("{} valid, {invalid} not", count(fine, "packet")));
            }
        }
    }
    Ok(u8::from(invalid > 0))
}

fn print_checked(one: &Checked) {
    let errors = one.findings.iter().filter(|finding| finding.level == Level::Error).count();
    let (style, word) = if one.valid { (GOOD, "valid") } else { (BAD, "not valid") };
    let others = one.findings.len() - errors;
    let others = if others == 0 { String::new() } else { format!(" ({})", count(others, "remark")) };
    output::line(format_args!("{}  {style}{word}{style:#}{others}", one.id));
    one.findings.iter().for_each(|finding| output::line(output::finding(finding)));
}

fn import(world: &World, file: &std::path::Path, dry_run: bool, format: Format) -> Result<u8> {
    let imported =
        ops::features::packets::import(world, file, if dry_run { Mode::DryRun } else { Mode::Write })?;
    match format {
        Format::Json => output::json(&imported),
        Format::Text => {
            let how = match (imported.known, dry_run) {
                (true, _) => "was made of these bytes before",
                (false, true) => "would be made",
                (false, false) => "made",
            };
            output::line(format_args!("{}  {DIM}{how}{DIM:#}", imported.id));
        }
    }
    if imported.covered {
        tell_covered();
    }
    Ok(0)
}
