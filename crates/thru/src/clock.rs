//! Times for people, in the time zone of the reader. Records and JSON have times in UTC.

use std::path::Path;
use std::sync::OnceLock;

use jiff::Zoned;
use jiff::tz::TimeZone;
use model::time;

use crate::world;

/// The limit for reading the table of a time zone, in bytes. No table is as large as this.
const LARGEST: usize = 1024 * 1024;

/// The folder with the tables of named zones.
const ZONES: &str = "/usr/share/zoneinfo";

/// Returns a time like `2026-11-15 20:22 CET`. A text that is not a time is returned unchanged.
pub fn when(utc: &str) -> String {
    local(utc).map_or_else(|| utc.to_owned(), |at| at.strftime("%Y-%m-%d %H:%M %Z").to_string())
}

/// Returns a time like `20:22:03`. A text that is not a time is returned unchanged.
pub fn time_of_day(utc: &str) -> String {
    local(utc).map_or_else(|| utc.to_owned(), |at| at.strftime("%H:%M:%S").to_string())
}

/// Returns a day like `2026-11-15`. A text that is not a time is returned unchanged.
pub fn day(utc: &str) -> String {
    local(utc).map_or_else(|| utc.to_owned(), |at| at.strftime("%Y-%m-%d").to_string())
}

/// Returns the name of the time zone at a time, such as `CET` or `UTC`.
pub fn zone_name(utc: &str) -> String {
    local(utc).map_or_else(|| "UTC".to_owned(), |at| at.strftime("%Z").to_string())
}

fn local(utc: &str) -> Option<Zoned> {
    static ZONE: OnceLock<TimeZone> = OnceLock::new();
    Some(time::parse(utc)?.to_zoned(ZONE.get_or_init(zone).clone()))
}

/// Returns the zone in `TZ`, read as POSIX defines it, or else the machine's zone; UTC if the zone cannot be read.
fn zone() -> TimeZone {
    let named = world::var("TZ").map(|name| name.to_string_lossy().into_owned());
    let zone = match named.as_deref().map(|name| name.trim_start_matches(':')) {
        None => zone_of(Path::new("/etc/localtime")),
        Some("") => None,
        Some(name) if name.starts_with('/') => zone_of(Path::new(name)),
        Some(name) if name.split('/').any(|part| part == "..") => None,
        Some(name) => zone_of(&Path::new(ZONES).join(name)).or_else(|| TimeZone::posix(name).ok()),
    };
    zone.unwrap_or(TimeZone::UTC)
}

fn zone_of(file: &Path) -> Option<TimeZone> {
    TimeZone::tzif("", &ops::input::system_file(file, LARGEST).ok()?).ok()
}
