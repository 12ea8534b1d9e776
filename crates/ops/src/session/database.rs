//! Reads sessions that a harness keeps in a database, with the harness's own program or else with `sqlite3`. Reading
//! starts a process, so hooks never call this module. Nothing is written.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use harness::{HARNESSES, Harness, SessionDatabase, TranscriptSource};
use model::id::Id;
use serde::Deserialize;

use crate::process::{self, CommandJob};
use crate::setup::install::find_on_path;
use crate::{Error, Result, World};

/// How long a query may take. On a busy machine, a harness's program can take seconds to start.
const QUERY_TIMEOUT: Duration = Duration::from_secs(60);

/// The size limit of a query's output. Longer output is refused instead of being cut, because a session without its
/// beginning would be misleading.
const MAX_QUERY_OUTPUT_BYTES: usize = 128 * 1024 * 1024;

/// Options for `sqlite3`. They keep it from reading the user's `~/.sqliterc`, which may change the output format.
const SQLITE_OPTIONS: [&str; 4] = ["-init", "/dev/null", "-batch", "-readonly"];

/// A shell line that runs a program and discards its stderr.
const QUIET_SHELL_LINE: &str = "exec \"$@\" 2>/dev/null";

/// A session as a list of lines in the format of its harness's transcripts, oldest first.
#[derive(Debug)]
pub struct SessionRows {
    pub harness: &'static Harness,
    pub lines: Vec<String>,
}

/// Finds a session in the databases of all harnesses. Returns `None` if none of them contains it.
pub fn find_session_in_databases(world: &World, session: &Id) -> Result<Option<SessionRows>> {
    for harness in HARNESSES {
        if let Some(rows) = find_session_in_harness_database(world, harness, session)? {
            return Ok(Some(rows));
        }
    }
    Ok(None)
}

/// Finds a session in this harness's database. Returns `None` if the session or the database does not exist.
pub fn find_session_in_harness_database(
    world: &World,
    harness: &'static Harness,
    session: &Id,
) -> Result<Option<SessionRows>> {
    let TranscriptSource::Database(database) = &harness.transcript else { return Ok(None) };
    let Some(file) = database_path(world, database).filter(|file| file.is_file()) else { return Ok(None) };
    let query = database.query.replace("{session}", session.as_str());
    let own = find_on_path(world, harness.program);
    let lines = match own.map(|program| query_with_harness(&program, database, &query)).transpose()?.flatten()
    {
        Some(lines) => lines,
        None => query_with_sqlite(find_on_path(world, "sqlite3").as_deref(), harness, &file, &query)?,
    };
    Ok((!lines.is_empty()).then_some(SessionRows { harness, lines }))
}

fn database_path(world: &World, database: &SessionDatabase) -> Option<PathBuf> {
    let data = world
        .absolute_path_variable("XDG_DATA_HOME")
        .or_else(|| Some(world.absolute_path_variable("HOME")?.join(".local/share")))?;
    let usual = data.join(database.file);
    // If `named` is an absolute path, `join` returns it unchanged.
    match (world.read_variable)(database.file_variable).filter(|named| !named.is_empty()) {
        Some(named) => Some(usual.parent()?.join(named)),
        None => Some(usual),
    }
}

/// Runs the query with the harness's own program. Returns `None` if the output has an unexpected format, because
/// another version of the program may not support the command.
fn query_with_harness(
    program: &Path,
    database: &SessionDatabase,
    query: &str,
) -> Result<Option<Vec<String>>> {
    #[derive(Deserialize)]
    struct RowJson {
        line: String,
    }
    let arguments = database.arguments.iter().map(|argument| argument.replace("{query}", query));
    let Some(output) = run_program(program, arguments.collect(), database.offline_variables)? else {
        return Ok(None);
    };
    let rows: Option<Vec<RowJson>> = serde_json::from_slice(&output).ok();
    Ok(rows.map(|rows| rows.into_iter().map(|row| row.line).collect()))
}

fn query_with_sqlite(
    sqlite: Option<&Path>,
    harness: &Harness,
    file: &Path,
    query: &str,
) -> Result<Vec<String>> {
    let unread = |what: String| Error::Refused {
        what: format!("{}: {what}", file.display()),
        hint: format!(
            "put `{}` or `sqlite3` on the PATH, in a version that can read the database",
            harness.program
        ),
    };
    let Some(sqlite) = sqlite else {
        return Err(unread(format!(
            "reading a session of {} requires its program or sqlite3, but neither works",
            harness.title
        )));
    };
    let words =
        SQLITE_OPTIONS.into_iter().chain([&*file.to_string_lossy(), query]).map(str::to_owned).collect();
    let output = run_program(sqlite, words, &[])?
        .ok_or_else(|| unread(format!("sqlite3 cannot read this database of {}", harness.title)))?;
    Ok(String::from_utf8_lossy(&output).lines().map(str::to_owned).collect())
}

/// Returns what a program prints on stdout, or `None` if the program fails.
fn run_program(
    program: &Path,
    arguments: Vec<String>,
    variables: &[(&str, &str)],
) -> Result<Option<Vec<u8>>> {
    // This variable keeps the program's own hooks from recording this run.
    let variables = [("THROUGHLINE_HOOK", "1")].iter().chain(variables);
    let variables: Vec<(&str, OsString)> = variables.map(|(name, value)| (*name, value.into())).collect();
    let quiet = ["sh", "-c", QUIET_SHELL_LINE, "sh"].map(str::to_owned);
    let argv: Vec<String> =
        quiet.into_iter().chain([program.to_string_lossy().into_owned()]).chain(arguments).collect();
    let job = CommandJob {
        argv: &argv,
        folder: Path::new("/"),
        input: b"",
        variables: &variables,
        timeout: QUERY_TIMEOUT,
        kept_output_bytes: MAX_QUERY_OUTPUT_BYTES + 1,
    };
    let output =
        process::run_command(&job).ok().filter(process::EndedCommand::is_success).map(|ended| ended.output);
    if output.as_ref().is_some_and(|output| output.len() > MAX_QUERY_OUTPUT_BYTES) {
        return Err(Error::Refused {
            what: format!(
                "{}: its output for this session is larger than {} MB",
                program.display(),
                MAX_QUERY_OUTPUT_BYTES / 1024 / 1024
            ),
            hint: "sessions that hooks captured need no database; `thru journal --list` shows them".into(),
        });
    }
    Ok(output)
}
