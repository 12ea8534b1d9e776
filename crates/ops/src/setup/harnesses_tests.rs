use super::*;

#[test]
fn a_packet_can_come_from_every_harness() {
    let aliases = HARNESSES.iter().flat_map(|harness| harness.aliases).copied();
    for name in harness_names().chain(aliases) {
        assert!(model::packet::ALLOWED_PACKET_SOURCES.contains(&name), "{name}");
    }
}
