use model::packet::PacketStatus;
use model::render::one_line;
use model::text::count_with_noun;
use model::time;
use ops::features::packets::{self, PacketRow};
use ops::{Result, World};

use crate::output::{self, BAD, DIM, GOOD, OutputFormat, WARN};

/// How many packets are listed by default.
const PACKETS_LISTED_BY_DEFAULT: usize = 40;

pub fn run(world: &World, status: Option<&str>, limit: Option<usize>, format: OutputFormat) -> Result<u8> {
    let most = match (limit, format) {
        (Some(0), _) | (None, OutputFormat::Json) => usize::MAX,
        (Some(limit), _) => limit,
        (None, OutputFormat::Text) => PACKETS_LISTED_BY_DEFAULT,
    };
    let (rows, all) = packets::list_packets(world, status.and_then(PacketStatus::parse), most)?;
    match format {
        OutputFormat::Json => output::print_json(&rows),
        OutputFormat::Text if rows.is_empty() => {
            let of = status.map_or(String::new(), |status| format!(" with status {status}"));
            output::print_message(format_args!(
                "No packets{of} here yet. `thru handoff \"what remains to be done\"` creates one."
            ));
        }
        OutputFormat::Text => {
            print_rows(&rows, world);
            if all > rows.len() {
                output::print_message(format_args!(
                    "{DIM}and {}; -n 0 shows all{DIM:#}",
                    count_with_noun(all - rows.len(), "older one")
                ));
            }
        }
    }
    Ok(0)
}

fn print_rows(rows: &[PacketRow], world: &World) {
    let width = rows.iter().map(|row| row.id.len()).max().unwrap_or(0).min(70);
    for row in rows {
        let (style, status) = match row.status {
            Some(PacketStatus::Active) => (GOOD, "active"),
            Some(PacketStatus::Blocked) => (WARN, "blocked"),
            Some(status) => (DIM, status.name()),
            None => (BAD, "unknown"),
        };
        let ago =
            time::parse_time(&row.updated_at).map_or(String::new(), |at| time::describe_age(at, world.now));
        let by = one_line(&row.claimed_by, 40);
        let claimed = match (row.claimed_by.is_empty(), row.claim_is_over, row.status) {
            (true, ..) => String::new(),
            (_, true, Some(PacketStatus::Done)) => format!("  {DIM}was claimed by {by}{DIM:#}"),
            (_, true, _) => format!("  {DIM}free again: session {by} claimed it and has ended{DIM:#}"),
            _ => format!("  {DIM}claimed by {by}{DIM:#}"),
        };
        let continued = match row.continued_by.is_empty() {
            true => String::new(),
            false => format!("  {DIM}continued by {}{DIM:#}", one_line(&row.continued_by, 80)),
        };
        output::print_line(format_args!(
            "{:<width$}  {style}{status:<7}{style:#}  {DIM}{ago:<12}{DIM:#}  {}{claimed}{continued}",
            row.id,
            one_line(&row.purpose, 70)
        ));
    }
}
