//! The files that evidence speaks of, as they were: one line each, and one hash over all of them.

use std::collections::BTreeMap;

use crate::plan::hash;

/// A file as it was looked at.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileState {
    pub size: u64,
    /// Nanoseconds since 1970, by the file system's clock.
    pub changed: i64,
    /// SHA-256 of its content; empty where there was no time to read it. Then size and time stand for it.
    pub hash: String,
}

/// By path below the checkout.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listing {
    pub files: BTreeMap<String, FileState>,
}

impl Listing {
    /// What an entry knows it by.
    pub fn tree(&self) -> String {
        let mut all = String::new();
        for (path, state) in &self.files {
            let FileState { size, changed, hash } = state;
            match hash.is_empty() {
                true => all.push_str(&format!("{size} {changed} {path}\0")),
                false => all.push_str(&format!("{hash} {path}\0")),
            }
        }
        hash(all.as_bytes())
    }

    /// The file that changed last comes first: in a listing that is out of date it is soon found.
    pub fn bytes(&self) -> Vec<u8> {
        let mut files: Vec<(&String, &FileState)> = self.files.iter().collect();
        files.sort_by_key(|(_, state)| std::cmp::Reverse(state.changed));
        let mut text = String::new();
        for (path, FileState { size, changed, hash }) in files {
            let hash = if hash.is_empty() { "-" } else { hash };
            // A path can hold a line end.
            let path = serde_json::to_string(path).unwrap_or_default();
            text.push_str(&format!("{hash} {size} {changed} {path}\n"));
        }
        text.into_bytes()
    }

    /// A line that cannot be read is an error: what is missing could be what changed.
    pub fn parse(bytes: &[u8]) -> Result<Listing, usize> {
        let mut files = BTreeMap::new();
        for (number, line) in bytes.split(|b| *b == b'\n').enumerate().filter(|(_, line)| !line.is_empty()) {
            let (path, state) = line_of(line).ok_or(number + 1)?;
            files.insert(path, state);
        }
        Ok(Listing { files })
    }
}

fn line_of(line: &[u8]) -> Option<(String, FileState)> {
    let mut parts = std::str::from_utf8(line).ok()?.splitn(4, ' ');
    let hash = parts.next()?;
    let (size, changed) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
    let path = serde_json::from_str(parts.next()?).ok()?;
    let is_hash = hash.len() == 64 && hash.bytes().all(|b| b.is_ascii_hexdigit());
    (hash == "-" || is_hash)
        .then(|| (path, FileState { size, changed, hash: hash.trim_start_matches('-').to_owned() }))
}
