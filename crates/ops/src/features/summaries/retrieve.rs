//! `thru swarm retrieve`: prints the original of a summarised output.

use model::render::one_line;
use model::summary::{self, ArchivedOutput, ORIGINAL_KEPT_DAYS};
use serde::Serialize;
use store::Store;

use crate::project::Project;
use crate::{Error, Result, World};

/// An original, or the requested part of one.
#[derive(Clone, Debug, Serialize)]
pub struct RetrievedOriginal {
    pub id: String,
    /// The size of the whole original in bytes.
    pub bytes: usize,
    /// The number of lines in the whole original.
    pub lines: usize,
    /// The number of the first line in `text`, counted from 1, or `None` if `picks` selected the lines.
    pub first_line: Option<usize>,
    pub shown_lines: usize,
    pub text: String,
}

/// How many lines to skip, and how many to show.
#[derive(Clone, Copy, Debug, Default)]
pub struct LinePage {
    pub offset: usize,
    pub limit: Option<usize>,
}

/// Returns a page of an original's lines. If `picks` is given, the page contains only the lines for which it returns
/// true, each with its number. `picks` is a function so that hooks do not link a regular-expression crate.
pub fn retrieve_original(
    world: &World,
    id: &str,
    page: LinePage,
    picks: Option<&dyn Fn(&str) -> bool>,
) -> Result<RetrievedOriginal> {
    let project = Project::find_for_reading(world)?;
    if !summary::is_output_id(id) {
        return Err(Error::Usage {
            what: format!("{} is not the id of an output", one_line(id, 80)),
            hint: "an id looks like o-0123456789abcdef; a summary shows it in its first and last lines"
                .into(),
        });
    }
    let Some(bytes) = project.store.read_original(id)? else {
        return Err(missing_original_error(&project.store, id));
    };
    // thru stores valid UTF-8, but somebody may have edited the file.
    let text = String::from_utf8_lossy(&bytes);
    let all: Vec<&str> = text.split_inclusive('\n').collect();
    let is_wanted = |line: &str| picks.is_none_or(|picks| picks(line.trim_end_matches('\n')));
    let wanted = all.iter().enumerate().filter(|(_, line)| is_wanted(line));
    let shown: Vec<(usize, &&str)> =
        wanted.skip(page.offset).take(page.limit.unwrap_or(usize::MAX)).collect();
    let text = match picks {
        None => shown.iter().map(|(_, line)| **line).collect(),
        Some(_) => {
            shown.iter().map(|(i, line)| format!("{}: {}\n", i + 1, line.trim_end_matches('\n'))).collect()
        }
    };
    Ok(RetrievedOriginal {
        id: id.to_owned(),
        bytes: bytes.len(),
        lines: all.len(),
        first_line: shown.first().filter(|_| picks.is_none()).map(|(i, _)| i + 1),
        shown_lines: shown.len(),
        text,
    })
}

fn missing_original_error(store: &Store, id: &str) -> Error {
    let archived = store.list_archived_originals().unwrap_or_default();
    match archived.into_iter().rev().find(|one| one.id == id) {
        Some(ArchivedOutput { ts, digest, bytes, .. }) => Error::Absent {
            what: format!(
                "the output {id} was removed on {}: originals are kept for {ORIGINAL_KEPT_DAYS} days. It had {bytes} bytes and the SHA-256 {}",
                one_line(&ts, 40),
                one_line(&digest, 64)
            ),
            hint: "rerun the command that printed it".into(),
        },
        None => Error::Absent {
            what: format!("there is no output {id}"),
            hint: "the id is shown in the summary; the output is stored only in the project in which the summary was made".into(),
        },
    }
}
