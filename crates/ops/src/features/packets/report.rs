//! Packets for `thru status`.

use serde::Serialize;
use serde_json::json;
use store::layout;

use crate::Result;
use crate::features::{ProjectContext, StatusLine};

/// More are not counted: `thru status` must be fast, however many there are.
const COUNTED: usize = 500;

/// The number of packets, from a quick look at their folder.
#[derive(Clone, Debug, Serialize)]
struct Packets {
    count: usize,
    /// There are more, which were not counted.
    at_least: bool,
    /// The newest one, if all were seen.
    #[serde(skip_serializing_if = "Option::is_none")]
    newest: Option<String>,
}

pub fn status(project: &ProjectContext) -> Result<Vec<StatusLine>> {
    let folder = match project.store.dir().sub(layout::PACKETS) {
        Err(store::Error::Absent { .. }) => return Ok(Vec::new()),
        folder => folder?,
    };
    let mut names = folder.names_up_to(COUNTED)?;
    let at_least = names.len() == COUNTED;
    names.retain(|name| name.ends_with(".md"));
    if names.is_empty() {
        return Ok(Vec::new());
    }
    let newest = names.iter().max().and_then(|name| name.strip_suffix(".md")).filter(|_| !at_least);
    let packets = Packets { count: names.len(), at_least, newest: newest.map(str::to_owned) };
    Ok(vec![StatusLine::plain("packets", packets.words()).with_json("packets", json!(packets))])
}

impl Packets {
    /// `3, the newest 20261115T192200Z-finish-the-parser`.
    fn words(&self) -> String {
        let Packets { count, at_least, newest } = self;
        match newest {
            Some(newest) if *count == 1 => newest.clone(),
            Some(newest) => format!("{count}, the newest {newest}"),
            None if *at_least => format!("{count} or more"),
            None => count.to_string(),
        }
    }
}
