use std::io::Write as _;
use std::path::PathBuf;

use super::*;

struct Fixture {
    _temp: tempfile::TempDir,
    path: PathBuf,
}

impl Fixture {
    fn new(content: impl AsRef<[u8]>) -> Fixture {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("session.jsonl");
        std::fs::write(&path, content).unwrap();
        Fixture { _temp: temp, path }
    }

    fn append(&self, content: impl AsRef<[u8]>) {
        let mut file = std::fs::OpenOptions::new().append(true).open(&self.path).unwrap();
        file.write_all(content.as_ref()).unwrap();
    }

    fn read(&self, cursor: Option<&FeedCursor>, limits: FeedLimits) -> (Vec<String>, FeedReport) {
        let mut lines = Vec::new();
        let report = read_new_lines(&self.path, cursor, limits, |line| {
            lines.push(String::from_utf8_lossy(line.bytes).into_owned());
        });
        (lines, report.unwrap())
    }
}

fn limits_with_window(bytes: u64) -> FeedLimits {
    FeedLimits { max_tail_bytes: bytes, ..FeedLimits::default() }
}

#[test]
fn only_what_is_new_is_read() {
    let fixture = Fixture::new("a\nb\n");
    let (lines, first) = fixture.read(None, FeedLimits::default());
    assert_eq!(lines, ["a", "b"]);
    assert_eq!(
        (first.lines, first.bytes_read, first.unread_bytes_before, first.cursor_mismatched),
        (2, 4, 0, false)
    );
    let (lines, again) = fixture.read(Some(&first.cursor), FeedLimits::default());
    assert_eq!((lines.len(), again.bytes_read, &again.cursor), (0, 0, &first.cursor));
    fixture.append("c\nd");
    let (lines, second) = fixture.read(Some(&first.cursor), FeedLimits::default());
    assert_eq!((lines, second.cursor.offset), (vec!["c".to_owned()], 6));
    assert_eq!(read_unfinished_line(&fixture.path, &second.cursor, 99).unwrap(), b"d");
    fixture.append("e\n");
    let (lines, third) = fixture.read(Some(&second.cursor), FeedLimits::default());
    assert_eq!(lines, ["de"]);
    assert!(!third.cursor_mismatched);
    assert_eq!(read_unfinished_line(&fixture.path, &third.cursor, 99).unwrap(), b"");
}

#[test]
fn a_cursor_that_does_not_fit_is_ignored() {
    let long = "x".repeat(200);
    let before = format!("{long}\nsame end\n");
    type FileChange = fn(&Fixture);
    let changes: [(&str, FileChange); 4] = [
        ("cut", |fixture| std::fs::write(&fixture.path, "new\n").unwrap()),
        ("cut to nothing", |fixture| std::fs::write(&fixture.path, "").unwrap()),
        ("rewritten in place, longer", |fixture| {
            std::fs::write(&fixture.path, format!("{}\nother end\nnew\n", "y".repeat(200))).unwrap();
        }),
        ("replaced by another file of the same bytes", |fixture| {
            let content = std::fs::read(&fixture.path).unwrap();
            std::fs::rename(&fixture.path, fixture.path.with_extension("old")).unwrap();
            std::fs::write(&fixture.path, content).unwrap();
        }),
    ];
    for (what, change) in changes {
        let fixture = Fixture::new(&before);
        let (_, report) = fixture.read(None, FeedLimits::default());
        change(&fixture);
        let (lines, report) = fixture.read(Some(&report.cursor), FeedLimits::default());
        assert!(report.cursor_mismatched, "{what}");
        let content = std::fs::read_to_string(&fixture.path).unwrap();
        assert_eq!(lines, content.lines().collect::<Vec<_>>(), "{what}");
    }
}

#[test]
fn first_contact_reads_the_end_from_a_whole_line_on() {
    let fixture = Fixture::new("aaaa\nbbbb\ncccc\n");
    for (bytes, expected, unread) in [
        (15, vec!["aaaa", "bbbb", "cccc"], 0),
        (14, vec!["bbbb", "cccc"], 5),
        (10, vec!["bbbb", "cccc"], 5),
        (9, vec!["cccc"], 10),
        (5, vec!["cccc"], 10),
        (4, vec![], 15),
        (0, vec![], 15),
    ] {
        let (lines, report) = fixture.read(None, limits_with_window(bytes));
        assert_eq!(
            (lines, report.unread_bytes_before),
            (expected.iter().map(|s| (*s).to_owned()).collect(), unread),
            "{bytes}"
        );
        assert!(report.bytes_read <= bytes + 1);
    }
    let (_, report) = fixture.read(None, FeedLimits::default());
    fixture.append("dddd\neeee\nffff\n");
    let (lines, report) = fixture.read(Some(&report.cursor), limits_with_window(6));
    assert_eq!(
        (lines, report.unread_bytes_before, report.cursor_mismatched),
        (vec!["ffff".to_owned()], 10, false)
    );
}

#[test]
fn reading_continues_from_every_cursor() {
    let content: String = (0..50).map(|n| format!("line {n} {}\r\n", "z".repeat(n * 3))).collect();
    let fixture = Fixture::new(&content);
    let mut starts = Vec::new();
    read_all_lines(&fixture.path, FeedLimits::default(), |line| starts.push(line.offset)).unwrap();
    assert_eq!(starts.len(), 50);
    for (n, start) in starts.into_iter().enumerate() {
        let feed = FeedFile::open(&fixture.path).unwrap();
        let tail_digest = feed.digest_before(start).unwrap();
        let cursor = FeedCursor { inode: feed.inode, offset: start, tail_digest };
        let (lines, report) = fixture.read(Some(&cursor), FeedLimits::default());
        assert_eq!((lines.len(), report.cursor_mismatched), (50 - n, false));
        assert!(lines[0].starts_with(&format!("line {n} ")) && lines[0].ends_with('\r'));
    }
}

#[test]
fn a_long_line_gives_its_beginning_and_is_not_held() {
    let long = 3 * 1024 * 1024;
    let content = [b"a\n", vec![b'x'; long].as_slice(), b"\nb\n", &vec![b'y'; 300_000], b"\nc"].concat();
    let fixture = Fixture::new(&content);
    let limits = FeedLimits { max_line_bytes: 512 * 1024, ..FeedLimits::default() };
    let mut seen = Vec::new();
    let report = read_all_lines(&fixture.path, limits, |line| {
        assert_eq!(&content[usize::try_from(line.offset).unwrap()..][..line.bytes.len()], line.bytes);
        seen.push((line.bytes.len(), line.was_cut));
    })
    .unwrap();
    assert_eq!(seen, [(1, false), (512 * 1024, true), (1, false), (300_000, false)]);
    assert_eq!((report.lines, report.skipped_long_lines), (4, 1));
    assert_eq!(report.cursor.offset, content.len() as u64 - 1);
    assert_eq!(report.bytes_read, content.len() as u64);
    // If reading begins inside the long line, the lines after it are still found.
    let (lines, report) = fixture.read(None, limits_with_window(400_000));
    assert_eq!((lines.len(), lines[0].as_str()), (2, "b"));
    assert_eq!(report.unread_bytes_before, long as u64 + 3);
    // A long unfinished line is not reported, because it will be reported once it is finished.
    let unfinished = Fixture::new(vec![b'x'; 600_000]);
    for bytes in [300_000, 900_000] {
        let (lines, report) =
            unfinished.read(None, FeedLimits { max_line_bytes: 1000, max_tail_bytes: bytes });
        assert_eq!((lines.len(), report.cursor.offset, report.skipped_long_lines), (0, 0, 0));
    }
    unfinished.append("\n");
    let (lines, report) = unfinished.read(None, FeedLimits { max_line_bytes: 1000, ..FeedLimits::default() });
    assert_eq!((lines.len(), lines[0].len(), report.skipped_long_lines), (1, 1000, 1));
}

#[test]
fn the_last_line_that_fits_is_found_from_the_end() {
    let find = |fixture: &Fixture, limits, wanted: &str| {
        find_in_last_lines(&fixture.path, limits, |line| {
            line.starts_with(wanted.as_bytes())
                .then(|| String::from_utf8_lossy(&line[..line.len().min(9)]).into_owned())
        })
        .unwrap()
    };
    let fixture = Fixture::new("want 1\nwant 2\nother\n\nunfinished");
    for (wanted, expected) in [
        ("want", Some("want 2")),
        ("want 1", Some("want 1")),
        ("unfinished", Some("unfinishe")),
        ("nothing", None),
    ] {
        assert_eq!(find(&fixture, FeedLimits::default(), wanted).as_deref(), expected, "{wanted}");
    }
    assert_eq!(find(&fixture, limits_with_window(14), "want"), None);
    let long = |n: usize| "x".repeat(n);
    let fixture = Fixture::new(format!("want 1\n{}\n{}\nend\n", long(700_000), long(3_000_000)));
    assert_eq!(find(&fixture, FeedLimits::default(), "want").as_deref(), Some("want 1"));
    assert_eq!(find(&fixture, FeedLimits::default(), "xxx").as_deref(), Some("xxxxxxxxx"));
    assert_eq!(find(&fixture, FeedLimits { max_line_bytes: 1000, ..FeedLimits::default() }, "xxx"), None);
    assert_eq!(find(&Fixture::new(""), FeedLimits::default(), ""), None);
}

#[test]
fn backwards_and_forwards_give_the_same_lines() {
    let mut state = 7_u64;
    let mut next = |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    for _ in 0..20 {
        let mut content = Vec::new();
        for n in 0..next(60) {
            let length = if next(9) == 0 { next(300_000) } else { next(5_000) };
            content.extend(format!("{n}:").bytes().chain((0..length).map(|_| b'x')));
            content.push(b'\n');
        }
        let fixture = Fixture::new(&content);
        let limits = FeedLimits { max_line_bytes: 150_000, ..FeedLimits::default() };
        let (mut forwards, mut backwards) = (Vec::new(), Vec::new());
        read_all_lines(&fixture.path, limits, |line| {
            if !line.was_cut {
                forwards.push(line.bytes.to_vec());
            }
        })
        .unwrap();
        find_in_last_lines(&fixture.path, limits, |line| {
            backwards.push(line.to_vec());
            None::<()>
        })
        .unwrap();
        backwards.reverse();
        assert!(forwards == backwards);
    }
}

#[test]
fn only_regular_files_are_read() {
    let fixture = Fixture::new("");
    let folder = fixture.path.parent().unwrap();
    assert!(matches!(read_all_lines(folder, FeedLimits::default(), |_| ()), Err(Error::Refused { .. })));
    assert!(matches!(
        read_all_lines(&folder.join("none"), FeedLimits::default(), |_| ()),
        Err(Error::Absent { .. })
    ));
    let pipe = folder.join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    assert!(matches!(
        find_in_last_lines(&pipe, FeedLimits::default(), |_| Some(())),
        Err(Error::Refused { .. })
    ));
}
