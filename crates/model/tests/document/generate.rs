//! Generates documents and values from strings that have confused a parser before.

use model::document::HeadingPattern;
use proptest::prelude::*;
use serde_json::Value;

pub const A: HeadingPattern = HeadingPattern::exact(2, "A");
pub const B: HeadingPattern = HeadingPattern::exact(3, "B");

#[rustfmt::skip]
const FRONT_LINES: &[&str] = &[
    "a: 1", "a:", "a: x # why", "a: 'it''s'", "a:  \"q\\n\"  ", "a: [\"x\",1]", "a: [x", "a:\t|", "b: y", "b:", "b: null", "b: 'open",
    "b: {\"k\":[]}", "c: fix: it", "c: issue#12", "c:#x", "c :  z", "My key: 1", "  - x", "  - 'y' # why", "- x", "-", "   - z",
    " nested: 1", "# note", "  # note", "", "  ", "garbage", "-- -", "\u{e9}: 1", "c: \u{85}\u{2028}", ": x", "'a': 1",
];

/// Lines that a YAML parser also accepts as frontmatter.
#[rustfmt::skip]
pub const YAML_LINES: &[&str] = &[
    "# top", "a: 1", "b:  'it''s'  # why", "c:", "d: # why", "e:\t[\"x\"]", "", "l:\n  - x # why\n  # note\n\n  - 'y'", "m:\n- x\n- \"y\"",
    "q: |  # why\n  text\n\n  more", "o: # why\n  k: [1]\n  j: 2", "p:\n  - x: 1\n    y: 2\n  - z", "  # end",
];

#[rustfmt::skip]
const BODY_LINES: &[&str] = &[
    "## A", "### B", "# T", " ## A ##", "  ## C", "   ### B", "    # code", "#no", "#", "##\tA #", "```", "```sh", "~~~", "````", "  ```",
    "    ```", "``` a`b", "~~~ a`b", "\t```", "<!--", "<!-- x -->", "-->", "<!-->", "x --> y", "text", "  text", "", "", "", " \t", "---",
    "- item", "- [ ] open", "  - [x] done", "1. one", "   1) [ ] two", "- ```", "  # in item", "> # q", "> ```", "***", "* * *", "=",
    "a: 1", "10. ~~~", "-     # far", "\u{feff}# b",
];

#[rustfmt::skip]
const TEXT_PARTS: &[&str] = &[
    "a", "word", " ", ":", ": ", "#", " #", "'", "\"", "\\", "\\n", "[", "]", "{", "}", ",", "-", "- ", "---", "?", "? ", "&", "*", "!", "|",
    ">", "%", "@", "`", "~", "=", "<<", ".", "...", "0", "1", "e5", "0x", "0o7", "_", "+", "12:30", "2026-01-03", "T10:00:00Z", "null", "Null",
    "true", "no", "y", "on", ".inf", ".nan", "\t", "\n", "\r", "\0", "\u{1b}", "\u{7f}", "\u{85}", "\u{a0}", "\u{2028}", "\u{feff}",
    "\u{fffd}", "\u{ffff}", "\u{1f600}", "\u{1fffe}", "\u{e9}", "//", "%TAG",
];

#[rustfmt::skip]
const PATHS: &[&[HeadingPattern]] = &[
    &[A], &[A], &[A, B], &[B], &[HeadingPattern::exact(1, "T")], &[HeadingPattern::prefix(2, "")], &[HeadingPattern::exact(1, "T"), A], &[HeadingPattern::exact(2, "C"), B],
    &[HeadingPattern::exact(2, "New")], &[HeadingPattern::exact(1, "T"), HeadingPattern::exact(4, "Deep")],
];

fn pick_fragment(fragments: &'static [&'static str]) -> impl Strategy<Value = Vec<u8>> {
    prop::sample::select(fragments).prop_map(|text| text.as_bytes().to_vec())
}

fn random_front_line() -> impl Strategy<Value = Vec<u8>> {
    let line = pick_fragment(FRONT_LINES);
    prop_oneof![20 => line, 1 => Just(b"a: \xff\xfe".to_vec()), 1 => Just(b"\0\xc3: 1".to_vec())]
}

fn random_body_line() -> impl Strategy<Value = Vec<u8>> {
    let line = pick_fragment(BODY_LINES);
    prop_oneof![30 => line, 1 => Just(b"\xff\0".to_vec())]
}

pub fn random_line_end() -> impl Strategy<Value = &'static str> {
    prop_oneof![4 => Just("\n"), 2 => Just("\r\n"), 1 => Just("\r")]
}

/// Joins lines with one kind of line ending or with mixed ones. The last line may have none.
fn join_lines(line: impl Strategy<Value = Vec<u8>>, most: usize) -> impl Strategy<Value = Vec<u8>> {
    let mixed = prop_oneof![3 => random_line_end().prop_map(Some), 1 => Just(None)];
    let lines = prop::collection::vec((line, random_line_end()), 0..most);
    (lines, mixed, prop::bool::weighted(0.7)).prop_map(|(lines, one, whole)| {
        let mut bytes = Vec::new();
        let last = lines.len();
        for (at, (line, end)) in (1..).zip(&lines) {
            bytes.extend_from_slice(line);
            if whole || at < last {
                bytes.extend_from_slice(one.unwrap_or(end).as_bytes());
            }
        }
        bytes
    })
}

pub fn random_body() -> impl Strategy<Value = Vec<u8>> {
    join_lines(random_body_line(), 14)
}

pub fn random_document() -> impl Strategy<Value = Vec<u8>> {
    let fence = || pick_fragment(&["---", "---", "---", "--- ", "---\t"]);
    let front = (
        fence(),
        prop::collection::vec(random_front_line(), 0..8),
        prop::option::weighted(0.9, fence()),
        random_line_end(),
    );
    let front = front.prop_map(|(open, lines, close, end)| {
        let all = std::iter::once(open).chain(lines).chain(close);
        all.flat_map(|line| [line, end.as_bytes().to_vec()].concat()).collect::<Vec<u8>>()
    });
    let bom = prop_oneof![6 => Just(""), 1 => Just("\u{feff}")];
    (bom, prop::option::weighted(0.8, front), random_body())
        .prop_map(|(bom, front, body)| [bom.as_bytes(), &front.unwrap_or_default(), &body].concat())
}

fn random_text() -> impl Strategy<Value = String> {
    let part = prop::sample::select(TEXT_PARTS);
    let parts = prop::collection::vec(part, 0..5).prop_map(|parts| parts.concat());
    prop_oneof![3 => parts, 1 => any::<String>()]
}

pub fn random_value() -> impl Strategy<Value = Value> {
    let scalar = prop_oneof![
        6 => random_text().prop_map(Value::from),
        1 => any::<i64>().prop_map(Value::from),
        1 => any::<i32>().prop_map(|eighths| Value::from(f64::from(eighths) / 8.0)),
        1 => any::<bool>().prop_map(Value::from),
        1 => Just(Value::Null),
    ];
    scalar.prop_recursive(2, 8, 4, |inner| {
        prop_oneof![
            2 => prop::collection::vec(random_text(), 0..4).prop_map(Value::from),
            1 => prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            1 => prop::collection::vec((random_text(), inner), 0..3).prop_map(|pairs| Value::Object(pairs.into_iter().collect())),
        ]
    })
}

pub fn random_path() -> impl Strategy<Value = Vec<HeadingPattern<'static>>> {
    prop::sample::select(PATHS).prop_map(<[HeadingPattern]>::to_vec)
}
