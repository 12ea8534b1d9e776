use super::*;

#[test]
fn a_packet_can_come_from_every_harness() {
    let aliases = HARNESSES.iter().flat_map(|harness| harness.aliases).copied();
    for name in harness_names().chain(aliases) {
        assert!(model::packet::ALLOWED_PACKET_SOURCES.contains(&name), "{name}");
    }
}

/// A reply to one of our commands must not count as the answer to the request before it. So each command must either be
/// known as one of ours, or count as a prompt of its own.
#[test]
fn every_slash_command_of_ours_is_known() {
    for harness in HARNESSES {
        let files = commands::command_files(harness, "thru").into_iter().map(|command| command.name);
        let added = commands::plugin_commands(harness, "thru").into_iter().map(|command| command.name);
        for name in files.chain(added) {
            let text = format!("/{name}");
            let is_known = model::prompt::thru_command(&text).is_some();
            assert!(is_known || model::prompt::is_typed_work_prompt(&text), "{text}");
        }
    }
}
