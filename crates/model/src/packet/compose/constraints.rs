//! The sections of a packet that say what the user demanded and what was decided.

use super::{MAX_INSTRUCTION_CHARS, MAX_USER_INSTRUCTIONS_LISTED, PacketFacts};
use crate::brief::{self, BriefFact, FactClass};
use crate::packet::USER_QUOTE_PREFIX;
use crate::packet::choose::bullet_list_or_none_recorded;
use crate::render::{in_quotation_marks, inline_for_model};

impl PacketFacts<'_> {
    pub(super) fn constraints_section(&self) -> String {
        let rules = self.material.role_rules.iter().map(|rule| inline_for_model(rule, 300));
        let said = self.facts_of_class(FactClass::Words).filter(|fact| !is_user_answer(fact));
        let mut said: Vec<String> = said.map(|fact| format!("{USER_QUOTE_PREFIX}{}", fact.text)).collect();
        let digest = self.material.digest;
        for wish in digest.lasting_instructions(|prompt| digest.is_in_goal(prompt)) {
            let words = in_quotation_marks(wish, MAX_INSTRUCTION_CHARS);
            let is_told = said.iter().any(|line| line.contains(words.trim_matches(['“', '”'])));
            if said.len() < MAX_USER_INSTRUCTIONS_LISTED && !is_told {
                said.push(format!("{USER_QUOTE_PREFIX}{words}"));
            }
        }
        // The Intent section does not quote a task that is over. But if that task was the user's answer to a question,
        // the answer still applies and is listed here.
        let over = self.goal.task_prompt.filter(|_| self.is_task_over());
        said.extend(over.and_then(|task| {
            let question = digest.question_answered_by(task)?;
            Some(format!("{USER_QUOTE_PREFIX}{}", brief::quote_answer(&task.text, question)))
        }));
        let of_packet = self.material.continued.map(|packet| packet.constraints_still_valid(digest));
        let of_session =
            self.material.continued_session.map(|session| session.constraints_still_valid(digest));
        let inherited = of_packet.into_iter().chain(of_session).flatten();
        let inherited = inherited.map(|line| inline_for_model(&line, 400));
        let is_said = |line: &String| {
            let quoted = line.split_once('“').map_or(line.as_str(), |(_, quoted)| quoted);
            said.iter().any(|known| known.contains(quoted))
        };
        let inherited: Vec<String> = inherited.filter(|line| !is_said(line)).collect();
        bullet_list_or_none_recorded(&rules.chain(said).chain(inherited).collect::<Vec<_>>())
    }

    pub(super) fn decisions_section(&self) -> String {
        let recorded = self.material.decisions.iter().map(|decision| inline_for_model(decision, 700));
        let answers = self
            .facts_of_class(FactClass::Words)
            .filter(|fact| is_user_answer(fact))
            .map(|fact| fact.text.clone());
        bullet_list_or_none_recorded(&recorded.chain(answers).collect::<Vec<_>>())
    }
}

/// Returns whether a fact is the user's answer to a question. Answers are listed as decisions.
fn is_user_answer(fact: &BriefFact) -> bool {
    fact.id.starts_with("answer:")
}
