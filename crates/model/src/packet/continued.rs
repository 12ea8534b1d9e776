//! The packet that a session claimed. A later packet of that session continues it.

use super::{CONSTRAINTS_HEADING, INTENT_HEADING, Packet, USER_SAID};
use crate::document::{Document, SectionHead};
use crate::prompt;
use crate::render::{in_quotation_marks, path_or_code};

/// The maximum length of an instruction that is quoted from the continued packet's goal.
const MAX_INSTRUCTION_CHARS: usize = 300;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ContinuedPacket {
    pub id: String,
    pub purpose: String,
    /// Its constraints, and the lasting instructions in its goal. Its user gave them in another session, so the records
    /// of this session do not contain them.
    pub constraints: Vec<String>,
}

impl ContinuedPacket {
    pub fn read(document: &Document, packet: &Packet) -> ContinuedPacket {
        let text = section_text(document, CONSTRAINTS_HEADING);
        let mut constraints: Vec<String> =
            text.lines().filter_map(|line| line.strip_prefix("- ")).map(str::to_owned).collect();
        let of_user = ["The user", "The task"];
        let goals = quoted_goals(document);
        let goals = goals.iter().filter(|goal| of_user.iter().any(|start| goal.title.starts_with(start)));
        for wish in goals.flat_map(|goal| prompt::instruction_sentences(&goal.quote)) {
            let is_told = constraints.iter().any(|line| line.contains(wish));
            if prompt::is_lasting_instruction(wish) && !is_told {
                constraints.push(format!("{USER_SAID}{}", in_quotation_marks(wish, MAX_INSTRUCTION_CHARS)));
            }
        }
        ContinuedPacket { id: packet.id.clone(), purpose: packet.purpose.clone(), constraints }
    }

    pub fn describe(&self) -> String {
        format!(
            "The session had picked up packet {}: {}",
            path_or_code(&self.id, 200),
            in_quotation_marks(&self.purpose, 200)
        )
    }
}

/// A message that a packet quotes as its goal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuotedGoal {
    /// The line above the quotation, such as `The user asked, …`.
    pub title: String,
    pub quote: String,
}

/// Returns the messages that a packet quotes as its goal.
pub fn quoted_goals(document: &Document) -> Vec<QuotedGoal> {
    let text = section_text(document, INTENT_HEADING);
    let (mut title, mut goals) = ("", Vec::<QuotedGoal>::new());
    let mut is_quoted = false;
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        match (line.strip_prefix('>'), goals.last_mut()) {
            (Some(words), Some(goal)) if is_quoted => goal.quote.push_str(&format!("\n{}", words.trim())),
            (Some(words), _) => {
                goals.push(QuotedGoal { title: title.to_owned(), quote: words.trim().to_owned() });
            }
            (None, _) => title = line.trim().trim_end_matches(':'),
        }
        is_quoted = line.starts_with('>');
    }
    goals
}

fn section_text(document: &Document, heading: &str) -> String {
    document.section(&[SectionHead::exact(2, heading)]).map(|section| section.text()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constraints_and_instructions_are_taken_over() {
        let text = "---\nid: p\npurpose: x\n---\n\n## Intent\n\nx\n\nThe user asked, 19:00:\n\n> Sum the rows.\n> Never change the tests.\n\n\
                    The agent proposed, and the user agreed:\n\n> Never use floats.\n\n## Constraints\n\n- the user: “Use Decimal only.”\n- a rule (role r)\n";
        let document = Document::parse(text);
        let packet = Packet::read_frontmatter(&document, "p");
        let read = ContinuedPacket::read(&document, &packet);
        let expected =
            ["the user: “Use Decimal only.”", "a rule (role r)", "the user: “Never change the tests.”"];
        assert_eq!(read.constraints, expected);
        assert_eq!(read.describe(), "The session had picked up packet p: “x”");
    }
}
