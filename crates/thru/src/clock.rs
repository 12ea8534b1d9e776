//! Formats times for people, in the local time zone. Times in records and in JSON are in UTC.

use std::path::Path;
use std::sync::OnceLock;

use jiff::Zoned;
use jiff::tz::TimeZone;
use model::time;

use crate::world;

/// The largest time zone file that is read, in bytes. Real files are much smaller.
const MAX_ZONE_FILE_BYTES: usize = 1024 * 1024;

/// The folder that contains one file for each named time zone.
const ZONEINFO_FOLDER: &str = "/usr/share/zoneinfo";

/// Returns the local date and time, such as `2026-11-15 20:22 CET`. A string that is not a time is returned unchanged.
pub fn local_date_and_time(utc: &str) -> String {
    to_local_time(utc).map_or_else(|| utc.to_owned(), |at| at.strftime("%Y-%m-%d %H:%M %Z").to_string())
}

/// Returns the local time of day, such as `20:22:03`. A string that is not a time is returned unchanged.
pub fn local_time_of_day(utc: &str) -> String {
    to_local_time(utc).map_or_else(|| utc.to_owned(), |at| at.strftime("%H:%M:%S").to_string())
}

/// Returns the local date, such as `2026-11-15`. A string that is not a time is returned unchanged.
pub fn local_date(utc: &str) -> String {
    to_local_time(utc).map_or_else(|| utc.to_owned(), |at| at.strftime("%Y-%m-%d").to_string())
}

/// Returns the name of the time zone at the given time, such as `CET` or `UTC`.
pub fn time_zone_name(utc: &str) -> String {
    to_local_time(utc).map_or_else(|| "UTC".to_owned(), |at| at.strftime("%Z").to_string())
}

fn to_local_time(utc: &str) -> Option<Zoned> {
    static ZONE: OnceLock<TimeZone> = OnceLock::new();
    Some(time::parse_time(utc)?.to_zoned(ZONE.get_or_init(user_time_zone).clone()))
}

/// Returns the time zone in `TZ`, which can be a file, a name in the zoneinfo folder or a POSIX rule. Without `TZ`,
/// returns the machine's time zone. Returns UTC if the zone cannot be read.
fn user_time_zone() -> TimeZone {
    let named = world::read_variable("TZ").map(|name| name.to_string_lossy().into_owned());
    let zone = match named.as_deref().map(|name| name.trim_start_matches(':')) {
        None => read_zone_file(Path::new("/etc/localtime")),
        Some("") => None,
        Some(name) if name.starts_with('/') => read_zone_file(Path::new(name)),
        Some(name) if name.split('/').any(|part| part == "..") => None,
        Some(name) => {
            read_zone_file(&Path::new(ZONEINFO_FOLDER).join(name)).or_else(|| TimeZone::posix(name).ok())
        }
    };
    zone.unwrap_or(TimeZone::UTC)
}

fn read_zone_file(file: &Path) -> Option<TimeZone> {
    TimeZone::tzif("", &ops::input::read_system_file(file, MAX_ZONE_FILE_BYTES).ok()?).ok()
}
