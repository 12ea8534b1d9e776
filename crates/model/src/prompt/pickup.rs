//! What a user types after the slash command that picks up a packet.

use super::split_slash_command;

/// Returns what the user typed after the slash command that picks up a packet, if it says more than which packet to
/// pick up. The first word may still name the packet.
pub fn words_after_pickup(text: &str) -> Option<&str> {
    const MAX_WORDS_NAMING_PACKET: usize = 2;
    let (name, words) = split_slash_command(text)?;
    let is_message = name == "pickup" && words.split_whitespace().count() > MAX_WORDS_NAMING_PACKET;
    is_message.then_some(words)
}
