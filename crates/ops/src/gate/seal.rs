//! `thru gate prompt` and `thru gate seal`: for whoever writes an output.

use std::path::{Path, PathBuf};

use model::document::Document;
use model::gate::{self, Ending, Reading, SENTINEL};
use serde::Serialize;
use store::{Dir, Durability, layout};

use super::Place;
use crate::{Error, Result, World};

#[derive(Clone, Debug, Serialize)]
pub struct Sealed {
    pub path: PathBuf,
    /// False when it was sealed before.
    pub changed: bool,
}

#[derive(Clone, Debug, Serialize)]
pub struct Prompt {
    pub path: PathBuf,
    pub text: String,
    /// Whether the run knows of this output.
    pub expected: bool,
}

/// What to put into the prompt of the sub-agent that writes `file` into the live run.
pub fn prompt(world: &World, file: &str) -> Result<Prompt> {
    let place = Place::find(world)?;
    let live = place.live()?.ok_or_else(|| place.no_live_run())?;
    model::id::Id::new(file).map_err(|bad| Error::Usage {
        what: bad.to_string(),
        hint: "an output is called like `review-security.md`".into(),
    })?;
    let path = live.run.path().join(file);
    let expected = match live.run.expected() {
        Err(store::Error::Absent { .. }) => false,
        expected => expected?.outputs.iter().any(|output| output.file == file),
    };
    Ok(Prompt { text: gate::instruction(&path.to_string_lossy()), path, expected })
}

/// Adds the last line to a file that is complete: an output of the live run by its name, or any file by its path.
pub fn seal(world: &World, file: &Path) -> Result<Sealed> {
    let path = place_of(world, file)?;
    let (Some(folder), Some(name)) = (path.parent(), path.file_name().and_then(|name| name.to_str())) else {
        return Err(Error::Usage {
            what: format!("{}: this is no name of a file", path.display()),
            hint: "name an output, such as `review-security.md`".into(),
        });
    };
    let dir = Dir::open(folder)?;
    let largest = usize::try_from(gate::LARGEST).unwrap_or(usize::MAX);
    let bytes = dir.read(name, largest)?;
    let reading = Reading::of(&bytes);
    if let Some(line) = reading.open_fence() {
        return Err(Error::Refused {
            what: format!("{}:{line}: this line opens a code fence that is never closed", path.display()),
            hint: "close it; a last line inside of it does not count".into(),
        });
    }
    match reading.ending() {
        Ending::Sealed => return Ok(Sealed { path, changed: false }),
        Ending::Empty => {
            return Err(Error::Refused {
                what: format!("{}: nothing is in it", path.display()),
                hint: "an output is sealed when it is complete".into(),
            });
        }
        Ending::Open | Ending::Fenced { .. } => {}
    }
    dir.write(name, &with_sentinel(bytes), Durability::Synced)?;
    Ok(Sealed { path, changed: true })
}

fn place_of(world: &World, file: &Path) -> Result<PathBuf> {
    let bare = file.components().count() == 1;
    if bare && let Ok(Some(live)) = Place::find(world).and_then(|place| place.live()) {
        let in_run = live.run.path().join(file);
        if in_run.symlink_metadata().is_ok() {
            return Ok(in_run);
        }
    }
    let path = world.need_cwd()?.join(file);
    match path.symlink_metadata() {
        Ok(_) => Ok(path),
        Err(_) => Err(Error::Absent {
            what: format!("{}: there is no such file, neither here nor in the live run", file.display()),
            hint: format!("`thru gate check` shows what is expected; {} names the live run", layout::LIVE),
        }),
    }
}

/// Behind a blank line, so that it is no part of a paragraph. What stands there stays as it is.
fn with_sentinel(bytes: Vec<u8>) -> Vec<u8> {
    let document = Document::parse(bytes);
    let end = document.line_end();
    let mut bytes = document.into_bytes();
    let ends = [end.repeat(2), end.to_owned()].iter().filter(|gap| bytes.ends_with(gap.as_bytes())).count();
    bytes.extend_from_slice(end.repeat(2 - ends).as_bytes());
    bytes.extend_from_slice(format!("{SENTINEL}{end}").as_bytes());
    bytes
}
