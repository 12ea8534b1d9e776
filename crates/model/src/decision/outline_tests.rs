use super::*;

/// Compares the decisions in `text` with `expected`, which has the form `kind text | why @topic`.
fn check_outline(text: &str, expected: &[&str]) {
    let read = read_decisions(text.as_bytes());
    let found: Vec<String> = read
        .decisions
        .iter()
        .map(|one| {
            let why = if one.why.is_empty() { String::new() } else { format!(" | {}", one.why) };
            let topic = if one.topic.is_empty() { String::new() } else { format!(" @{}", one.topic) };
            let date = if one.date.is_empty() { String::new() } else { format!(" ({})", one.date) };
            format!("{} {}{why}{topic}{date}", one.kind.name(), one.text)
        })
        .collect();
    assert_eq!(found, expected, "{text}");
}

#[test]
fn items_below_a_heading_that_says_so() {
    check_outline(
        "# Context\nSwarm: mega\n\n## Decisions\n- **Open domain**: one `sme` agent\n- [decision]: Use `path`\n\n- third\n## SME Cache\n- not this\n## Patterns\n- [pattern]: factory\n",
        &[
            "decision Open domain: one `sme` agent",
            "decision Use `path`",
            "decision third",
            "pattern factory",
        ],
    );
    check_outline(
        "## Decisions\n* a goes\n  on here\n  - Rationale: it is fast\n  - and more\n* b. Reason: c\n+ d (why: e)\n1. first\n2) second\n",
        &[
            "decision a goes on here; and more | it is fast",
            "decision b | c",
            "decision d | e",
            "decision first",
            "decision second",
        ],
    );
    check_outline("## Decisions\n- None yet\n- [decision]\n- (none)\n- TBD\n- ~~gone~~\n", &[]);
    check_outline(
        "## Decisions\n- [x] 2026-06-24: keep it\n- [2026-06-25] drop it\n",
        &["decision keep it (2026-06-24)", "decision drop it (2026-06-25)"],
    );
}

#[test]
fn headings_within_and_beside() {
    check_outline(
        "## Decisions\n- a\n### v4.2.0 Decisions\n- b\n### Storage\n- c\n## Other\n- d\n### v5 Decisions (Planned)\n- e\n#### Scoring Formula\n1. f\n## File Map\n- g\n",
        &[
            "decision a",
            "decision b @v4.2.0 Decisions",
            "decision c @Storage",
            "decision e @v5 Decisions (Planned)",
        ],
    );
    check_outline(
        "## Key Decisions\n- a\n## Architecture Decisions\n- b\n",
        &["decision a @Key Decisions", "decision b @Architecture Decisions"],
    );
    check_outline("## Decision recency and weights\n- a\n## UI/UX Patterns for the whole site\n- b\n", &[]);
    check_outline("```\n## Decisions\n- a\n```\n", &[]);
}

#[test]
fn decisions_are_read_from_records_and_paragraphs() {
    check_outline(
        "## Decisions\n### ADR-1: Use Redis\n- **Status**: accepted\n- **Rationale**: one store\n### ADR-2: Use Kafka\nStatus: proposed\n",
        &["decision ADR-1: Use Redis | one store"],
    );
    check_outline(
        "## Decisions\n### Storage\n**Decision**: SQLite\n**Why**: no server\n",
        &["decision Storage: SQLite | no server"],
    );
    check_outline(
        "## Decisions\nWe use SQLite.\nIt is here.\n\nWe use TOML.\n",
        &["decision We use SQLite. It is here.", "decision We use TOML."],
    );
    check_outline(
        "## Decisions\nThese hold:\n\n- a\n\nProse about it.\n\n**b**: c\n",
        &["decision a", "decision b: c"],
    );
}

#[test]
fn decisions_are_read_from_tables() {
    check_outline(
        "## Decisions\n| # | Decision | Rationale | Date |\n|---|---|---|---|\n| 1 | Use A \\| B | fast | 2026-01-02 |\n| 2 | Use C | | |\n",
        &["decision Use A | B | fast (2026-01-02)", "decision Use C"],
    );
    check_outline(
        "## Decisions\n| Area | Choice | Status |\n|:--|---|---|\n| Store | SQLite | done |\n| Bus | Kafka | pending |\n",
        &["decision Store: SQLite"],
    );
}

#[test]
fn what_is_left_out_is_said() {
    let read = read_decisions(b"## Pending Decisions\n- a\n- b\n## Decisions\n- ~~c~~\n");
    let warnings: Vec<String> =
        read.warnings.iter().map(|one| format!("{}: {}", one.line, one.text)).collect();
    assert_eq!(
        warnings,
        ["1: “Pending Decisions” is not decided yet: 2 lines left out", "5: struck through, left out: ~~c~~"]
    );
    assert_eq!(read.decisions, []);
}

#[test]
fn any_bytes_are_read() {
    for text in [
        "",
        "\u{feff}## Decisions\r\n- a\r\n",
        "## Decisions\n|\n|-\n| |\n-\n- \n1.\n",
        "## Decisions\n  - \u{0}\n",
    ] {
        let _ = read_decisions(text.as_bytes());
    }
    check_outline("\u{feff}## Decisions\r\n- a\r\n", &["decision a"]);
}
