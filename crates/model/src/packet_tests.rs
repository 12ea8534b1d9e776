use super::{Packet, PacketStatus, packet_id, slug_of_purpose, validate_packet};
use crate::document::Document;
use crate::finding::FindingLevel;
use crate::time;

#[test]
fn slugs_are_file_names() {
    for (purpose, expected) in [
        ("fix: the Parser!", "fix-the-parser"),
        ("  Größe  ändern ", "groesse-aendern"),
        ("Déplacer l’écran à côté", "deplacer-lecran-a-cote"),
        ("Исправить парсер", "ispravit-parser"),
        ("Łódź: naprawić żółw", "lodz-naprawic-zolw"),
        ("διόρθωση", "diorthosi"),
        ("修复 parser 的错误", "parser"),
        ("日本語", "packet"),
        ("", "packet"),
        ("../../etc/passwd", "etc-passwd"),
        (
            "a very long purpose that goes on and on until nobody reads it any more",
            "a-very-long-purpose-that-goes-on-and-on-until",
        ),
    ] {
        assert_eq!(slug_of_purpose(purpose), expected);
    }
    assert_eq!(slug_of_purpose(&"x".repeat(100)).len(), 48);
    let now = time::parse_time("2026-11-15T19:22:00Z").unwrap();
    assert_eq!(packet_id(now, "go on", 1), "20261115T192200Z-go-on");
    assert_eq!(packet_id(now, "go on", 3), "20261115T192200Z-go-on-3");
}

const VALID_PACKET: &str = "---\nid: p\ncreated_at: 2026-11-15T19:22:00Z\nupdated_at: 2026-11-15T19:22:00Z\nstatus: draft\npurpose: fix: it\n---\n## Intent\n## Context\n## Constraints\n## Decisions\n## Relevant Files\n### Confirmed\n### Suggested\n## Next Prompt (Draft)\n## Plan\n## Validators / Exit Criteria\n## Open Questions\n## Notes\n";

#[test]
fn every_rule_has_its_word() {
    let check = |from: &str, to: &str, expected: &[(FindingLevel, &str)]| {
        let document = Document::parse(VALID_PACKET.replace(from, to));
        let findings = validate_packet(&document, "packets/p.md");
        let found: Vec<(FindingLevel, &str)> = findings.iter().map(|f| (f.level, f.text.as_str())).collect();
        assert_eq!(found, expected, "{from:?} → {to:?}");
    };
    use FindingLevel::{Error, Note, Warning};
    check("", "", &[]);
    check("---\nid: p", "id: p", &[(Error, "no frontmatter: the file does not begin with `---`")]);
    check("purpose: fix: it\n", "", &[(Error, "`purpose` is missing")]);
    check("id: p", "id: q", &[(Warning, "`id` is q, but the file is called p")]);
    check("status: draft", "status: open", &[(Error, "`status` is `open`")]);
    check(
        "updated_at: 2026-11-15T19:22:00Z",
        "updated_at: soon",
        &[(Error, "`updated_at` is `soon`, which is not a valid time")],
    );
    check("status: draft", "status: draft\nvalidators: none", &[(Error, "`validators` is not a list")]);
    check("status: draft", "status: draft\ndirty: many", &[(Error, "`dirty` is not a whole number")]);
    check("status: draft", "status: draft\nsource: factory", &[]);
    check(
        "status: draft",
        "status: draft\nsource: emacs",
        &[(Warning, "`source` is `emacs`, which is not a known harness")],
    );
    check("## Plan\n", "", &[(Warning, "`## Plan` is missing")]);
    check("## Intent\n## Context\n", "## Context\n## Intent\n", &[(Note, "`## Context` comes too early")]);
    check("### Confirmed\n", "", &[(Warning, "`### Confirmed` below `## Relevant Files` is missing")]);
}

#[test]
fn odd_frontmatter_is_read_as_far_as_it_goes() {
    let document = Document::parse(
        "---\r\nid: ../x\r\nstatus: done\r\nsource: claude\r\nrelevant_files_confirmed: [\"a\"]\r\nrelevant_files_suggested:\r\n  - b\r\n  - a\r\nloop_promise: null\r\n---\r\n",
    );
    let packet = Packet::read_frontmatter(&document, "name");
    assert_eq!(
        (packet.id.as_str(), packet.status, packet.source.as_str()),
        ("name", Some(PacketStatus::Done), "claude-code")
    );
    assert_eq!(packet.confirmed_and_suggested_files(), ["a", "b"]);
    assert_eq!(packet.loop_promise, None);
}
