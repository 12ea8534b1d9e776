//! The lines of `state/rules.jsonl`: the user's rules for the whole project, and when the user lifted them.

use serde::{Deserialize, Serialize};

use crate::digest::Digest;
use crate::prompt;

/// What the user last said about a rule.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ProjectRule {
    pub ts: String,
    pub session: String,
    pub text: String,
    /// Whether the user took the rule back.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub lifted: bool,
}

/// How many rules are kept in force. Older ones stay in the log but are neither told nor compared with prompts.
const MAX_RULES_IN_FORCE: usize = 200;

/// The rules of the log, oldest statement first. Each rule is listed once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProjectRules(Vec<ProjectRule>);

impl ProjectRules {
    /// Parses the log. Of several lines about the same rule, the one with the newest time counts, because a session may
    /// write its lines later than another session that began after it.
    pub fn parse_log(log: &[u8]) -> ProjectRules {
        let mut rules = ProjectRules::default();
        for line in log.split(|byte| *byte == b'\n') {
            if let Ok(rule) = serde_json::from_slice::<ProjectRule>(line)
                && !rule.text.is_empty()
            {
                rules.add(rule);
            }
        }
        rules.drop_oldest();
        rules
    }

    /// Drops the oldest rules if too many are in force.
    fn drop_oldest(&mut self) {
        // A session may write its lines later than a session that began after it.
        self.0.sort_by(|a, b| a.ts.cmp(&b.ts));
        let mut surplus = self.in_force().count().saturating_sub(MAX_RULES_IN_FORCE);
        self.0.retain(|rule| {
            let is_dropped = surplus > 0 && !rule.lifted;
            surplus -= usize::from(is_dropped);
            !is_dropped
        });
    }

    /// Returns the rules that the user has not lifted, newest first.
    pub fn in_force(&self) -> impl Iterator<Item = &ProjectRule> {
        self.0.iter().rev().filter(|rule| !rule.lifted)
    }

    /// Returns the lines to append for what the user said in a session since the time `since`. If the user states a
    /// known rule again, it gets a new line and counts as the newest. A rule about git gets a new line only if it was lifted.
    pub fn lines_for_session(&self, digest: &Digest, since: &str) -> Vec<Vec<u8>> {
        let mut rules = self.clone();
        let mut lines = Vec::new();
        let mut add = |rules: &mut ProjectRules, rule: ProjectRule| {
            lines.push(serde_json::to_vec(&rule).unwrap_or_default());
            rules.add(rule);
        };
        for prompt in digest.prompts.iter().filter(|prompt| prompt.at.as_str() >= since) {
            let line = |text: &str, lifted: bool| ProjectRule {
                ts: prompt.at.clone(),
                session: digest.session.clone(),
                text: text.to_owned(),
                lifted,
            };
            let is_lifted = |rule: &&ProjectRule| {
                rule.ts < prompt.at && prompt::takes_back_rule(&rule.text, &prompt.text)
            };
            let lifted: Vec<ProjectRule> =
                rules.in_force().filter(is_lifted).map(|rule| line(&rule.text, true)).collect();
            lifted.into_iter().for_each(|rule| add(&mut rules, rule));
            let wishes = prompt::instruction_sentences(&prompt.text).into_iter();
            let is_rule = |wish: &&str| prompt::outlives_task(wish) && !prompt::is_only_for_now(wish);
            for wish in wishes.flat_map(prompt::lasting_parts).filter(is_rule) {
                let known = rules.0.iter().find(|rule| rule.text == wish);
                let is_stated_again = |known: &ProjectRule| known.lifted || !prompt::forbids_git_step(wish);
                if known.is_none_or(|known| known.ts < prompt.at && is_stated_again(known)) {
                    add(&mut rules, line(wish, false));
                }
            }
        }
        lines
    }

    fn add(&mut self, rule: ProjectRule) {
        match self.0.iter_mut().find(|known| known.text == rule.text) {
            Some(known) if known.ts > rule.ts => {}
            Some(known) => *known = rule,
            None => self.0.push(rule),
        }
    }
}

#[cfg(test)]
#[path = "project_rules_tests.rs"]
mod tests;
