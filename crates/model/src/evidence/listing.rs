//! The recorded state of the files that evidence is bound to. A listing has one line for each file and is identified by
//! a hash.

use std::collections::BTreeMap;

use crate::plan::sha256_hex;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListedFileState {
    pub size: u64,
    /// The time of the last change, in nanoseconds since 1970.
    pub modified_ns: i64,
    /// The SHA-256 of the content, or empty if there was no time to read the file. In that case, only the size and the
    /// time of the last change are compared.
    pub hash: String,
}

/// The states of files, by path relative to the checkout.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileListing {
    pub files: BTreeMap<String, ListedFileState>,
}

impl FileListing {
    /// Returns the hash that identifies this listing in an entry.
    pub fn tree_hash(&self) -> String {
        let mut all = String::new();
        for (path, state) in &self.files {
            let ListedFileState { size, modified_ns, hash } = state;
            match hash.is_empty() {
                true => all.push_str(&format!("{size} {modified_ns} {path}\0")),
                false => all.push_str(&format!("{hash} {path}\0")),
            }
        }
        sha256_hex(all.as_bytes())
    }

    /// Returns the listing as lines. The most recently changed file comes first, so that a difference is found quickly.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut files: Vec<(&String, &ListedFileState)> = self.files.iter().collect();
        files.sort_by_key(|(_, state)| std::cmp::Reverse(state.modified_ns));
        let mut text = String::new();
        for (path, ListedFileState { size, modified_ns, hash }) in files {
            let hash = if hash.is_empty() { "-" } else { hash };
            // The path is written as a JSON string, because it can contain a line ending.
            let path = serde_json::to_string(path).unwrap_or_default();
            text.push_str(&format!("{hash} {size} {modified_ns} {path}\n"));
        }
        text.into_bytes()
    }

    /// Parses a listing. An unreadable line is an error, because its file may have changed. The error is the number
    /// of that line.
    pub fn parse(bytes: &[u8]) -> Result<FileListing, usize> {
        let mut files = BTreeMap::new();
        for (number, line) in bytes.split(|b| *b == b'\n').enumerate().filter(|(_, line)| !line.is_empty()) {
            let (path, state) = parse_listing_line(line).ok_or(number + 1)?;
            files.insert(path, state);
        }
        Ok(FileListing { files })
    }
}

fn parse_listing_line(line: &[u8]) -> Option<(String, ListedFileState)> {
    let mut parts = std::str::from_utf8(line).ok()?.splitn(4, ' ');
    let hash = parts.next()?;
    let (size, modified_ns) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
    let path = serde_json::from_str(parts.next()?).ok()?;
    let is_hash = hash.len() == 64 && hash.bytes().all(|b| b.is_ascii_hexdigit());
    (hash == "-" || is_hash)
        .then(|| (path, ListedFileState { size, modified_ns, hash: hash.trim_start_matches('-').to_owned() }))
}
