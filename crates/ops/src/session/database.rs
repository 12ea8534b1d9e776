//! Reads sessions that a harness keeps in a database, through the harness's own program or else through `sqlite3`.
//! Never called in a hook, because it starts a process. Writes nothing.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use harness::{Database, HARNESSES, Harness, Transcript};
use model::id::Id;
use serde::Deserialize;

use crate::process::{self, Job};
use crate::setup::install::on_path;
use crate::{Error, Result, World};

/// How long a query may take. On a busy machine a harness's program needs seconds to start.
const PATIENCE: Duration = Duration::from_secs(60);

/// The largest output that is read. It is larger than any session. A longer output is refused, because a session
/// without its beginning would be wrong.
const LARGEST: usize = 128 * 1024 * 1024;

/// Keeps `sqlite3` from reading the user's `~/.sqliterc`, which may change its output format.
const SQLITE_OPTIONS: [&str; 4] = ["-init", "/dev/null", "-batch", "-readonly"];

/// A shell line that runs a program without its stderr.
const QUIET: &str = "exec \"$@\" 2>/dev/null";

/// A session, in the form of lines that its harness's reader understands, oldest first.
#[derive(Debug)]
pub struct Rows {
    pub harness: &'static Harness,
    pub lines: Vec<String>,
}

/// Finds the session in any harness's database; `None` if no database has it.
pub fn find(world: &World, session: &Id) -> Result<Option<Rows>> {
    for harness in HARNESSES {
        if let Some(rows) = of_harness(world, harness, session)? {
            return Ok(Some(rows));
        }
    }
    Ok(None)
}

/// Finds the session in the database of this harness; `None` if there is no such session, or no database.
pub fn of_harness(world: &World, harness: &'static Harness, session: &Id) -> Result<Option<Rows>> {
    let Transcript::Database(database) = &harness.transcript else { return Ok(None) };
    let Some(file) = file(world, database).filter(|file| file.is_file()) else { return Ok(None) };
    let query = database.query.replace("{session}", session.as_str());
    let own = on_path(world, harness.program);
    let lines = match own.map(|program| ask_own(&program, database, &query)).transpose()?.flatten() {
        Some(lines) => lines,
        None => ask_sqlite(on_path(world, "sqlite3").as_deref(), harness, &file, &query)?,
    };
    Ok((!lines.is_empty()).then_some(Rows { harness, lines }))
}

fn file(world: &World, database: &Database) -> Option<PathBuf> {
    let data = world.path("XDG_DATA_HOME").or_else(|| Some(world.path("HOME")?.join(".local/share")))?;
    let usual = data.join(database.file);
    // Joining an absolute path gives that path.
    match (world.var)(database.file_variable).filter(|named| !named.is_empty()) {
        Some(named) => Some(usual.parent()?.join(named)),
        None => Some(usual),
    }
}

/// Asks the harness's own program. Returns `None` if the answer has an unexpected form, because another version may
/// not know the command.
fn ask_own(program: &Path, database: &Database, query: &str) -> Result<Option<Vec<String>>> {
    #[derive(Deserialize)]
    struct Row {
        line: String,
    }
    let arguments = database.arguments.iter().map(|argument| argument.replace("{query}", query));
    let Some(output) = run(program, arguments.collect(), database.offline)? else { return Ok(None) };
    let rows: Option<Vec<Row>> = serde_json::from_slice(&output).ok();
    Ok(rows.map(|rows| rows.into_iter().map(|row| row.line).collect()))
}

fn ask_sqlite(sqlite: Option<&Path>, harness: &Harness, file: &Path, query: &str) -> Result<Vec<String>> {
    let unread = |what: String| Error::Refused {
        what: format!("{}: {what}", file.display()),
        hint: format!("put `{}` or `sqlite3` on the PATH, in a version that can read it", harness.program),
    };
    let Some(sqlite) = sqlite else {
        return Err(unread(format!(
            "reading a session of {} needs its program or sqlite3, and neither works",
            harness.title
        )));
    };
    let words =
        SQLITE_OPTIONS.into_iter().chain([&*file.to_string_lossy(), query]).map(str::to_owned).collect();
    let output = run(sqlite, words, &[])?
        .ok_or_else(|| unread(format!("sqlite3 cannot read this database of {}", harness.title)))?;
    Ok(String::from_utf8_lossy(&output).lines().map(str::to_owned).collect())
}

/// Returns what the program prints, or `None` if it fails.
fn run(program: &Path, arguments: Vec<String>, variables: &[(&str, &str)]) -> Result<Option<Vec<u8>>> {
    // The program's own hooks must not record this run.
    let variables = [("THROUGHLINE_HOOK", "1")].iter().chain(variables);
    let variables: Vec<(&str, OsString)> = variables.map(|(name, value)| (*name, value.into())).collect();
    let quiet = ["sh", "-c", QUIET, "sh"].map(str::to_owned);
    let argv: Vec<String> =
        quiet.into_iter().chain([program.to_string_lossy().into_owned()]).chain(arguments).collect();
    let job = Job {
        argv: &argv,
        folder: Path::new("/"),
        input: b"",
        variables: &variables,
        timeout: PATIENCE,
        keep: LARGEST + 1,
    };
    let output = process::run(&job).ok().filter(process::Ended::is_ok).map(|ended| ended.output);
    if output.as_ref().is_some_and(|output| output.len() > LARGEST) {
        return Err(Error::Refused {
            what: format!(
                "{}: what it prints of the session is more than {} MB",
                program.display(),
                LARGEST / 1024 / 1024
            ),
            hint:
                "what hooks have captured of a session needs no database; `thru journal --list` shows those"
                    .into(),
        });
    }
    Ok(output)
}
