//! Reads the input of commands.

use std::path::Path;

use crate::{Error, Result};

/// Reads stdin. Returns an error if the input is longer than `max` bytes, so that an endless stream cannot use up the
/// memory.
pub fn read_stdin(max: usize) -> Result<Vec<u8>> {
    match store::read_stream(&mut std::io::stdin().lock(), Path::new("stdin"), max) {
        Err(store::Error::Damaged { .. }) => Err(Error::Usage {
            what: format!("stdin contains more than {} MB", max / 1024 / 1024),
            hint: "pass less input at once".into(),
        }),
        read => Ok(read?),
    }
}

/// Reads a system file, such as a time zone table.
pub fn read_system_file(path: &Path, max: usize) -> Result<Vec<u8>> {
    Ok(store::read_file_named_by_user(path, max)?)
}
