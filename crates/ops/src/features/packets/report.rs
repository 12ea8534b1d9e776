//! The checks of `thru doctor` and the lines of `thru status` that are about packets.

use model::finding::{Finding, FindingLevel};
use model::id::Id;
use model::packet::PacketStatus;
use model::render::in_quotation_marks;
use model::text::count_with_noun;
use serde::Serialize;
use serde_json::json;
use store::layout;

use super::CheckedPacket;
use super::offer;
use crate::features::{DoctorCheck, NextStepUrgency, ProjectContext, StatusReportLine};
use crate::session::list::{self, SessionChoiceReason};
use crate::{Error, Result};

/// The maximum number of packets that are counted, so that `thru status` stays fast.
const MAX_PACKETS_COUNTED: usize = 500;

/// The number of packets, counted from the names in their folder.
#[derive(Clone, Debug, Serialize)]
struct PacketCount {
    count: usize,
    /// How many packets are not done, or `None` if not all packets were counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    open: Option<usize>,
    /// Whether counting stopped at the limit. If so, there may be more packets.
    at_least: bool,
    /// The newest open packet, or else the newest packet. `None` if not all packets were counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    newest: Option<String>,
}

pub fn status_lines(project: &ProjectContext) -> Result<Vec<StatusReportLine>> {
    let folder = match project.store.dir().open_subfolder(layout::PACKETS_FOLDER) {
        Err(store::Error::Absent { .. }) => return Ok(Vec::new()),
        folder => folder?,
    };
    let mut names = folder.list_names_up_to(MAX_PACKETS_COUNTED)?;
    let at_least = names.len() == MAX_PACKETS_COUNTED;
    names.retain(|name| name.ends_with(".md"));
    if names.is_empty() {
        return Ok(Vec::new());
    }
    let mut packets = PacketCount { count: names.len(), at_least, open: None, newest: None };
    if !at_least {
        let listing = project.store.list_packets()?;
        let open: Vec<&str> = listing
            .iter()
            .filter(|packet| packet.status != Some(PacketStatus::Done))
            .map(|packet| packet.name)
            .collect();
        packets.open = Some(open.len());
        let newest = open.into_iter().max().or_else(|| listing.iter().map(|packet| packet.name).max());
        packets.newest = newest.map(str::to_owned);
    }
    let line = StatusReportLine::plain("packets", packets.describe()).with_json("packets", json!(packets));
    Ok(std::iter::once(line).chain(offered_packet_line(project, at_least)?).collect())
}

/// Returns a status line about the first packet on offer. The line also says how many other packets are on offer.
fn offered_packet_line(project: &ProjectContext, at_least: bool) -> Result<Option<StatusReportLine>> {
    let offers = offer::packets_on_offer(project.store, project.world.now)?;
    let Some(first) = offers.first() else { return Ok(None) };
    let more = match (offers.len() - 1, at_least) {
        (0, false) => String::new(),
        (more, false) => format!(" (and {more} more)"),
        (more, true) => format!(" (and at least {more} more)"),
    };
    let text = format!("{}{}{more}", in_quotation_marks(&first.purpose, 100), first.note_on_crashed_origin());
    let ids: Vec<&str> = offers.iter().map(|offer| offer.id.as_str()).collect();
    let line = StatusReportLine::plain("on offer", text).with_json("on_offer", json!(ids));
    // In a session, name the command that continues the work. A person at a terminal only reads the packet.
    let is_in_session = matches!(
        list::choose_session(project.world, project.store, None),
        Ok((_, SessionChoiceReason::Harness))
    );
    let (command, what) = match is_in_session {
        true => (
            format!("thru pickup {} --claim", first.id),
            "claims the packet on offer and prints its prompt, checked against the disk",
        ),
        false => (
            format!("thru pickup {}", first.id),
            "prints the prompt of the packet on offer, checked against the disk; in a session, `/pickup` continues its work",
        ),
    };
    let line = line.with_next_step(NextStepUrgency::OfferedWork, command, what);
    Ok(Some(line.changed_at(&first.updated_at)))
}

impl PacketCount {
    /// Describes the packets, for example `3, the newest 20261115T192200Z-finish-the-parser`.
    fn describe(&self) -> String {
        let PacketCount { count, at_least, open, newest } = self;
        match (newest, open) {
            (Some(newest), Some(0)) if *count == 1 => format!("{newest} (done)"),
            (Some(newest), _) if *count == 1 => newest.clone(),
            (Some(_), Some(0)) => format!("{count}, all done"),
            (Some(newest), Some(open)) if open < count => {
                format!("{count}, {open} of them open, the newest {newest}")
            }
            (Some(newest), _) => format!("{count}, the newest {newest}"),
            (None, _) if *at_least => format!("{count} or more"),
            (None, _) => count.to_string(),
        }
    }
}

/// Reports the packets that cannot be picked up as they are, each with its first error.
pub fn doctor_checks(project: &ProjectContext) -> Vec<DoctorCheck> {
    let store = project.store;
    let mut names = match store.packet_names() {
        Ok(names) => names,
        Err(error) => {
            let findings = vec![Finding::from(&Error::from(error))];
            return vec![DoctorCheck { name: "packets", text: "cannot be listed".to_owned(), findings }];
        }
    };
    let Ok(marker) = store.read_marker() else { return Vec::new() };
    if names.is_empty() {
        return Vec::new();
    }
    let text = count_with_noun(names.len(), "packet");
    // Check the newest packets only, because they are the most likely to be needed.
    names.sort_unstable_by(|a, b| b.cmp(a));
    let ids = names.iter().take(MAX_PACKETS_COUNTED).filter_map(|name| Id::new(name).ok());
    let broken = ids.map(|id| super::check_packet(store, &marker, &id)).filter(|checked| !checked.valid);
    let findings = broken.filter_map(first_error_finding).collect();
    vec![DoctorCheck { name: "packets", text, findings }]
}

fn first_error_finding(checked: CheckedPacket) -> Option<Finding> {
    let CheckedPacket { id, findings, .. } = checked;
    let mut errors = findings.into_iter().filter(|finding| finding.level == FindingLevel::Error);
    let first = errors.next()?;
    let more = match errors.count() {
        0 => String::new(),
        more => format!("; and {}", count_with_noun(more, "more error")),
    };
    let text = format!("not a valid packet: {}{more}", first.text);
    let line = first.line;
    let finding = Finding::new(FindingLevel::Warning, text).at_line(format!("packets/{id}.md"), line);
    Some(finding.with_hint(format!("`thru packet validate {id}` lists everything that is wrong with it")))
}
