//! Swarms. A swarm is a team of agents. Each agent has a fixed role, such as coder or reviewer. This module defines
//! the roles and the agents' names, and determines which swarm a plan belongs to.

use std::fmt;

use crate::evidence::{EntryType, EvidenceVerdict};
use crate::id::{Id, InvalidId};
use crate::plan::Plan;
use crate::verdict::Ruling;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SwarmRole {
    Architect,
    Explorer,
    Sme,
    Coder,
    Reviewer,
    Critic,
    TestEngineer,
}

impl SwarmRole {
    pub const ALL: [SwarmRole; 7] = [
        SwarmRole::Architect,
        SwarmRole::Explorer,
        SwarmRole::Sme,
        SwarmRole::Coder,
        SwarmRole::Reviewer,
        SwarmRole::Critic,
        SwarmRole::TestEngineer,
    ];

    pub fn name(self) -> &'static str {
        match self {
            SwarmRole::Architect => "architect",
            SwarmRole::Explorer => "explorer",
            SwarmRole::Sme => "sme",
            SwarmRole::Coder => "coder",
            SwarmRole::Reviewer => "reviewer",
            SwarmRole::Critic => "critic",
            SwarmRole::TestEngineer => "test_engineer",
        }
    }

    /// Returns the role that an agent's type ends with. For example, the type `mega_reviewer` ends with the role
    /// `reviewer`. A plugin's prefix, as in `plugin:reviewer`, is ignored.
    pub fn from_agent_type(agent: &str) -> Option<SwarmRole> {
        let name = agent.rsplit(':').next().unwrap_or(agent).trim().to_ascii_lowercase().replace('-', "_");
        let is_named = |part: &SwarmRole| {
            let prefix = name.strip_suffix(part.name());
            prefix.is_some_and(|prefix| prefix.is_empty() || prefix.ends_with('_'))
        };
        SwarmRole::ALL.into_iter().find(is_named)
    }

    /// Returns the role named at the start of a task description, as in `reviewer: check the lexer`.
    pub fn from_description(text: &str) -> Option<SwarmRole> {
        SwarmRole::from_agent_type(agent_named_by_task_description(text))
    }

    /// Returns whether agents with this role are forbidden to change files.
    pub fn is_read_only(self) -> bool {
        matches!(self, SwarmRole::Explorer | SwarmRole::Sme | SwarmRole::Reviewer | SwarmRole::Critic)
    }

    /// Returns the type of evidence to record for the answers of agents with this role, or `None` if such answers
    /// contain no verdict.
    pub fn evidence_type_judged(self) -> Option<EntryType> {
        match self {
            SwarmRole::Reviewer | SwarmRole::Critic => Some(EntryType::Review),
            SwarmRole::TestEngineer => Some(EntryType::Test),
            SwarmRole::Architect | SwarmRole::Explorer | SwarmRole::Sme | SwarmRole::Coder => None,
        }
    }

    /// Converts a ruling to an evidence verdict. A critic's request for a revision does not reject any work, because
    /// the plan is revised before the work starts.
    pub fn to_evidence_verdict(self, ruling: Ruling) -> EvidenceVerdict {
        match (self, ruling) {
            (SwarmRole::TestEngineer, ruling) if ruling.is_good() => EvidenceVerdict::Pass,
            (SwarmRole::TestEngineer, _) => EvidenceVerdict::Fail,
            (SwarmRole::Critic, Ruling::NeedsRevision) => EvidenceVerdict::Warn,
            (_, ruling) if ruling.is_good() => EvidenceVerdict::Approved,
            _ => EvidenceVerdict::Rejected,
        }
    }
}

/// Returns the first word of a task description, which may name the agent.
pub fn agent_named_by_task_description(text: &str) -> &str {
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    let word = text.trim_start().trim_start_matches('@');
    &word[..word.find(|c: char| !is_name(c)).unwrap_or(word.len())]
}

/// Returns the swarm to which an agent with this name belongs, or `None` if no swarm uses such names. For example,
/// `code-reviewer` and `plugin:reviewer` belong to no swarm.
pub fn swarm_of_agent_name(agent: &str) -> Option<SwarmId> {
    let part = SwarmRole::from_agent_type(agent).filter(|_| !agent.contains(':'))?;
    let name = agent.trim().to_ascii_lowercase();
    match &name[..name.len() - part.name().len()] {
        "" => Some(SwarmId::default_swarm()),
        prefix => SwarmId::new(prefix.strip_suffix('_')?).ok(),
    }
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SwarmId(String);

/// The name of the swarm whose agents have no prefix.
pub const DEFAULT_SWARM_NAME: &str = "default";

impl SwarmId {
    /// Accepts names that every harness allows in an agent's name: lower-case letters, digits, `-` and `_`.
    pub fn new(text: &str) -> Result<SwarmId, InvalidSwarmId> {
        Id::new(text).map_err(InvalidSwarmId::BadId)?;
        let is_plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'-' | b'_');
        match text.bytes().all(is_plain) && text.len() <= MAX_SWARM_NAME_BYTES {
            true => Ok(SwarmId(text.to_owned())),
            false => Err(InvalidSwarmId::WrongShape),
        }
    }

    pub fn default_swarm() -> SwarmId {
        SwarmId(DEFAULT_SWARM_NAME.to_owned())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the prefix of the agents' names, which is empty for the default swarm.
    pub fn agent_prefix(&self) -> String {
        if self.as_str() == DEFAULT_SWARM_NAME { String::new() } else { format!("{}_", self.as_str()) }
    }

    /// Returns the name of this swarm's agent with the given role.
    pub fn agent_name(&self, part: SwarmRole) -> String {
        format!("{}{}", self.agent_prefix(), part.name())
    }

    /// Expands the swarm's variables in a prompt.
    pub fn expand_variables(&self, prompt: &str) -> String {
        prompt.replace("{{SWARM_ID}}", self.as_str()).replace("{{AGENT_PREFIX}}", &self.agent_prefix())
    }
}

impl fmt::Display for SwarmId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The maximum length of a swarm's name in bytes. Some harnesses truncate longer agent names.
const MAX_SWARM_NAME_BYTES: usize = 40;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidSwarmId {
    #[error("{0}")]
    BadId(InvalidId),
    #[error(
        "a swarm name consists of at most {MAX_SWARM_NAME_BYTES} lower-case letters, digits, `-` and `_`"
    )]
    WrongShape,
}

/// Shown instead of a name for an imported plan that names no swarm. No real swarm can have this name.
pub const UNNAMED_SWARM: &str = "(unnamed)";

/// Returns the swarm to which a plan belongs, if that swarm is not one of `ours`. Plans of the default swarm are
/// never foreign, nor are plans that were created in this project without a swarm. An imported plan without a swarm
/// is foreign unless `ours` contains the default swarm. If `ours` is empty, no plan is foreign.
pub fn foreign_swarm<'p>(plan: &'p Plan, ours: &[SwarmId]) -> Option<&'p str> {
    let name = plan.swarm.trim();
    let uses = |name: &str| ours.iter().any(|swarm| swarm.as_str() == name);
    match name {
        DEFAULT_SWARM_NAME => None,
        _ if ours.is_empty() => None,
        "" => (plan.is_migrated() && !uses(DEFAULT_SWARM_NAME)).then_some(UNNAMED_SWARM),
        name => (!uses(name)).then_some(name),
    }
}

/// Returns the model that the settings specify for an agent, as in `coder=opus, opencode:coder=openai/gpt-5`. An
/// entry for one harness takes precedence over an entry for all harnesses. Among entries for the same agent, the last
/// one wins.
pub fn model_of_agent<'s>(setting: &'s str, harness: &str, part: SwarmRole) -> Option<&'s str> {
    let pairs = setting.split([',', '\n']).filter_map(|pair| pair.split_once('='));
    let mut found = (None, None);
    for (name, model) in pairs.map(|(name, model)| (name.trim(), model.trim())) {
        let is_line = !model.is_empty() && !model.chars().any(|c| c.is_control() || c.is_whitespace());
        match name.split_once(':') {
            Some((of, name)) if of.trim() == harness && name.trim() == part.name() && is_line => {
                found.0 = Some(model);
            }
            None if name == part.name() && is_line => found.1 = Some(model),
            _ => {}
        }
    }
    found.0.or(found.1)
}

/// Returns the entries in the setting that lack a known agent, a known harness or a model.
pub fn unknown_model_entries<'s>(setting: &'s str, harnesses: &[&str]) -> Vec<&'s str> {
    let is_good = |entry: &str| {
        let Some((name, model)) = entry.split_once('=') else { return false };
        let (harness, part) = name.split_once(':').map_or((None, name), |(of, part)| (Some(of.trim()), part));
        let part = SwarmRole::ALL.into_iter().find(|known| known.name() == part.trim());
        let is_known = harness.is_none_or(|harness| harnesses.contains(&harness));
        let is_model =
            !model.trim().is_empty() && !model.trim().chars().any(|c| c.is_control() || c.is_whitespace());
        part.is_some() && is_known && is_model
    };
    let entries = setting.split([',', '\n']).map(str::trim).filter(|entry| !entry.is_empty());
    entries.filter(|entry| !is_good(entry)).collect()
}

#[cfg(test)]
#[path = "swarm_tests.rs"]
mod tests;
