//! The agents of a swarm, as files that a harness reads.
//!
//! A prompt is the same for all harnesses; [`AgentFiles::head`] says in a harness's own terms what the agent is called and
//! which tools it has. The last line of a file marks it as ours and contains a digest of the rest, so that a file that a
//! person changed is recognised.

use model::plan::hash;
use model::swarm::{Part, SwarmId};

use crate::Harness;

/// Where a harness looks for agents, and what it wants to know about one.
#[derive(Clone, Copy, Debug)]
pub struct AgentFiles {
    /// The folder, relative to the harness's folder.
    pub folder: &'static str,
    /// The frontmatter, without the lines around it.
    pub head: fn(&Head) -> String,
    /// How to begin a session as the architect, for a person.
    pub start: &'static str,
}

/// What a harness is told about an agent besides its prompt.
#[derive(Clone, Copy, Debug)]
pub struct Head<'a> {
    pub name: &'a str,
    pub about: &'a str,
    pub part: Part,
    /// `None` means that it has the model of whoever calls it.
    pub model: Option<&'a str>,
}

/// One agent, ready to be written.
#[derive(Clone, Copy, Debug)]
pub struct Definition<'a> {
    pub swarm: &'a SwarmId,
    pub part: Part,
    pub model: Option<&'a str>,
    /// The prompt that the user gave instead of ours, and what they added.
    pub prompt: Option<&'a str>,
    pub appended: Option<&'a str>,
    /// How agents call `thru`, quoted for a shell.
    pub program: &'a str,
}

/// Returns our prompt for a part, with its variables.
pub fn prompt(part: Part) -> &'static str {
    match part {
        Part::Architect => include_str!("../agents/architect.md"),
        Part::Explorer => include_str!("../agents/explorer.md"),
        Part::Sme => include_str!("../agents/sme.md"),
        Part::Coder => include_str!("../agents/coder.md"),
        Part::Reviewer => include_str!("../agents/reviewer.md"),
        Part::Critic => include_str!("../agents/critic.md"),
        Part::TestEngineer => include_str!("../agents/test_engineer.md"),
    }
}

/// Says when a harness should choose the agent.
pub fn about(part: Part) -> &'static str {
    match part {
        Part::Architect => {
            "Plans the work of the swarm, delegates every step and decides on verdicts; writes no code"
        }
        Part::Explorer => {
            "Explores the codebase, and finds gaps between a request and what is there; read-only"
        }
        Part::Sme => "Advises on one domain, whichever DOMAIN names; one call for each domain; read-only",
        Part::Coder => "Makes one change as TASK, FILE, INPUT, OUTPUT and CONSTRAINT describe it",
        Part::Reviewer => {
            "Reviews a change for correctness and security along an open CHECK list; APPROVED or REJECTED; read-only"
        }
        Part::Critic => "Reviews a plan before work begins; APPROVED, NEEDS_REVISION or REJECTED; read-only",
        Part::TestEngineer => "Writes tests, runs them and reports PASS or FAIL",
    }
}

/// Returns the whole prompt of an agent: ours or the user's, what they added, and every variable expanded.
pub fn text(definition: &Definition) -> String {
    let Definition { swarm, part, prompt: given, appended, program, .. } = *definition;
    let whole = match appended {
        Some(more) => format!("{}\n\n{}", given.unwrap_or(prompt(part)).trim_end(), more.trim()),
        None => given.unwrap_or(prompt(part)).trim_end().to_owned(),
    };
    swarm.expand(&whole).replace("{{THRU}}", program)
}

/// Returns the file for a harness; `None` if it has no agents in files.
pub fn file(harness: &Harness, definition: &Definition) -> Option<String> {
    let AgentFiles { head, .. } = harness.agents?;
    let name = definition.swarm.agent(definition.part);
    let head = head(&Head {
        name: &name,
        about: about(definition.part),
        part: definition.part,
        model: definition.model,
    });
    let body = format!("---\n{head}---\n\n{}\n\n", text(definition));
    Some(format!("{body}{}\n", mark(definition.swarm, &body)))
}

const MARK: &str = "<!-- written by `thru swarm install`: swarm ";
const DIGEST: &str = ", digest ";
const END: &str = "; `thru swarm uninstall` removes it -->";

fn mark(swarm: &SwarmId, body: &str) -> String {
    format!("{MARK}{swarm}{DIGEST}{}{END}", &hash(body.as_bytes())[..16])
}

/// What a file says about who wrote it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Written {
    /// By us, and nobody changed it.
    ByUs(SwarmId),
    /// By us, and somebody changed it since.
    Changed(SwarmId),
    /// Not by us.
    BySomebody,
}

pub fn written(text: &str) -> Written {
    let Some((at, swarm, digest)) = find_mark(text) else { return Written::BySomebody };
    let is_last =
        text[at..].strip_suffix('\n').is_some_and(|line| line.ends_with(END) && !line.contains('\n'));
    match is_last && hash(&text.as_bytes()[..at]).starts_with(digest) && digest.len() == 16 {
        true => Written::ByUs(swarm),
        false => Written::Changed(swarm),
    }
}

/// Returns where our mark is, the swarm and the digest in it.
fn find_mark(text: &str) -> Option<(usize, SwarmId, &str)> {
    let at = text.rfind(MARK)?;
    let (swarm, rest) = text[at + MARK.len()..].split_once(DIGEST)?;
    let digest = rest.split_once(';')?.0;
    Some((at, SwarmId::new(swarm).ok()?, digest))
}

/// A text as a value of YAML and of everything that reads less than YAML.
pub(crate) fn quoted(text: &str) -> String {
    // Text cannot fail to serialise.
    serde_json::to_string(text).unwrap_or_default()
}

#[cfg(test)]
#[path = "agents_tests.rs"]
mod tests;
