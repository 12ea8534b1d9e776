//! Time formats. Times are UTC in RFC 3339, with whole seconds and `Z`. The current time is always passed in.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::Offset;

/// Formats a time as `2026-11-15T19:22:00Z`, the format of all records.
pub fn to_rfc3339(at: Timestamp) -> String {
    let t = Offset::UTC.to_datetime(at);
    // The digits are written by hand, because every record has a time and `format!` with padding takes ten times as
    // long.
    let [century, year] = [t.year() / 100, t.year() % 100].map(|part| i8::try_from(part).unwrap_or(0));
    let parts = [century, year, t.month(), t.day(), t.hour(), t.minute(), t.second()];
    let mut text = *b"0000-00-00T00:00:00Z";
    for (part, at) in parts.map(i8::unsigned_abs).into_iter().zip([0, 2, 5, 8, 11, 14, 17]) {
        text[at] += part / 10;
        text[at + 1] += part % 10;
    }
    String::from_utf8_lossy(&text).into_owned()
}

/// Formats a time as `2026-11-15T19:22:00.918Z`, which distinguishes events within the same second.
pub fn to_rfc3339_millis(at: Timestamp) -> String {
    let second = to_rfc3339(at);
    let millis = at.as_millisecond().rem_euclid(1_000);
    format!("{}.{millis:03}Z", second.trim_end_matches('Z'))
}

/// Formats a time as `20261115T192200Z` for file names. Such names sort by time and contain no colons, which Windows
/// forbids.
pub fn format_time_for_file_name(at: Timestamp) -> String {
    to_rfc3339(at).replace(['-', ':'], "")
}

/// Parses the time formats of records and of other tools' files: a full timestamp, a timestamp without seconds or
/// zone (taken as UTC), or a date.
pub fn parse_time(text: &str) -> Option<Timestamp> {
    let text = text.trim();
    if let Some(at) = parse_rfc3339(text) {
        return Some(at);
    }
    if let Ok(at) = text.parse::<Timestamp>() {
        return Some(at);
    }
    let civil: DateTime = text.strip_suffix('Z').unwrap_or(text).parse().ok()?;
    Offset::UTC.to_timestamp(civil).ok()
}

/// Parses `2026-11-15T19:22:00Z`, with or without milliseconds. Every transcript line has such a time, and the
/// general parser takes ten times as long.
fn parse_rfc3339(text: &str) -> Option<Timestamp> {
    let bytes = text.as_bytes();
    let millis = match (bytes.len(), bytes.get(19)) {
        (20, Some(b'Z')) => 0,
        (24, Some(b'.')) if bytes[23] == b'Z' => parse_digits(&bytes[20..23])?,
        _ => return None,
    };
    let marks = [(4, b'-'), (7, b'-'), (10, b'T'), (13, b':'), (16, b':')];
    if marks.iter().any(|(at, mark)| bytes[*at] != *mark) {
        return None;
    }
    let two = |at: usize| parse_digits(&bytes[at..at + 2]).and_then(|number| i8::try_from(number).ok());
    let year = parse_digits(&bytes[..4]).and_then(|year| i16::try_from(year).ok())?;
    let civil =
        DateTime::new(year, two(5)?, two(8)?, two(11)?, two(14)?, two(17)?, millis * 1_000_000).ok()?;
    Offset::UTC.to_timestamp(civil).ok()
}

fn parse_digits(bytes: &[u8]) -> Option<i32> {
    bytes.iter().try_fold(0, |sum, byte| byte.is_ascii_digit().then(|| sum * 10 + i32::from(byte - b'0')))
}

/// Parses a duration such as `2h`, `90m`, `1h30m`, `2d` or `45s` into seconds.
pub fn parse_duration_seconds(text: &str) -> Option<i64> {
    let mut rest = text.trim();
    let mut total: i64 = 0;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit())?;
        let number: i64 = rest[..digits].parse().ok()?;
        let unit = match rest.as_bytes().get(digits)? {
            b's' => 1,
            b'm' => 60,
            b'h' => 3_600,
            b'd' => 86_400,
            _ => return None,
        };
        total = total.checked_add(number.checked_mul(unit)?)?;
        rest = rest[digits + 1..].trim_start();
    }
    (total > 0).then_some(total)
}

/// Describes an age as `just now`, `5 min ago`, `3 h ago` or `12 d ago`. The description is only for people and is
/// never written into a record.
pub fn describe_age(at: Timestamp, now: Timestamp) -> String {
    let seconds = now.as_second() - at.as_second();
    match seconds {
        ..0 => "in the future".to_owned(),
        0..60 => "just now".to_owned(),
        60..3_600 => format!("{} min ago", seconds / 60),
        3_600..172_800 => format!("{} h ago", seconds / 3_600),
        _ => format!("{} d ago", seconds / 86_400),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_every_form_the_seeds_use() {
        let cases = [
            ("2026-11-15T19:22:00Z", "2026-11-15T19:22:00Z"),
            ("2026-11-15T19:22:00.918Z", "2026-11-15T19:22:00Z"),
            ("2026-11-15T21:22:00+02:00", "2026-11-15T19:22:00Z"),
            ("2026-02-03T12:15Z", "2026-02-03T12:15:00Z"),
            ("2026-01-03T15:30:00", "2026-01-03T15:30:00Z"),
            ("2026-02-03", "2026-02-03T00:00:00Z"),
        ];
        for (text, expected) in cases {
            assert_eq!(parse_time(text).map(to_rfc3339).as_deref(), Some(expected), "{text}");
        }
        for text in ["", "yesterday", "2026-02-30", "2026-13-01T00:00:00Z"] {
            assert_eq!(parse_time(text), None, "{text}");
        }
    }

    #[test]
    fn compact_has_no_punctuation() {
        assert_eq!(
            format_time_for_file_name(parse_time("2026-11-15T19:22:00Z").unwrap()),
            "20261115T192200Z"
        );
    }

    #[test]
    fn durations_are_parsed() {
        for (text, expected) in [
            ("2h", Some(7_200)),
            ("1h30m", Some(5_400)),
            (" 1d 2s", Some(86_402)),
            ("90m", Some(5_400)),
            ("", None),
            ("0h", None),
            ("2", None),
            ("h", None),
            ("2w", None),
            ("-2h", None),
            ("99999999999999999d", None),
        ] {
            assert_eq!(parse_duration_seconds(text), expected, "{text}");
        }
    }

    #[test]
    fn the_usual_form_is_read_as_any_other() {
        for text in [
            "2026-11-15T19:22:00Z",
            "2026-11-15T19:22:00.918Z",
            "2024-02-29T23:59:59.999Z",
            "2026-02-29T00:00:00Z",
            "2026-11-15T24:00:00Z",
            "2026-11-15T19:22:61Z",
            "2026-11-15T19:22:00.9x8Z",
            "0000-01-01T00:00:00Z",
        ] {
            let slow = text.parse::<Timestamp>().ok();
            assert_eq!(parse_time(text), slow, "{text}");
            assert!(parse_rfc3339(text).is_none_or(|at| Some(at) == slow), "{text}");
        }
        assert!(parse_rfc3339("2026-11-15T19:22:00.918Z").is_some());
        assert_eq!(parse_rfc3339("2026-11-15T19:22:00+02:00"), None);
    }

    #[test]
    fn times_are_written_with_milliseconds() {
        assert_eq!(
            to_rfc3339_millis(parse_time("2026-11-15T19:22:00.918Z").unwrap()),
            "2026-11-15T19:22:00.918Z"
        );
    }

    #[test]
    fn ages_read_well() {
        let now = parse_time("2026-11-15T19:22:00Z").unwrap();
        for (then, text) in [
            ("2026-11-15T19:21:30Z", "just now"),
            ("2026-11-15T19:02:00Z", "20 min ago"),
            ("2026-11-14T19:22:00Z", "24 h ago"),
            ("2026-11-01T19:22:00Z", "14 d ago"),
            ("2027-11-01T19:22:00Z", "in the future"),
        ] {
            assert_eq!(describe_age(parse_time(then).unwrap(), now), text);
        }
    }
}
