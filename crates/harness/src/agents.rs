//! Writes the agents of a swarm as files that a harness reads.
//!
//! A prompt is the same for all harnesses; [`AgentFiles::head`] writes the agent's name and tools in the harness's own
//! format. The last line of a file marks it as ours and contains a digest of the rest, which shows whether a person has
//! changed the file.

use model::plan::hash;
use model::swarm::{Part, SwarmId};

use crate::Harness;

/// How a harness finds agents: the folder of their files, the frontmatter of a file, and the command that starts one.
#[derive(Clone, Copy, Debug)]
pub struct AgentFiles {
    /// The folder, relative to the harness's folder.
    pub folder: &'static str,
    /// Returns the frontmatter, without the `---` lines around it.
    pub head: fn(&Head) -> String,
    /// The command with which a person begins a session as the architect.
    pub start: &'static str,
}

/// What a harness must know about an agent besides its prompt.
#[derive(Clone, Copy, Debug)]
pub struct Head<'a> {
    pub name: &'a str,
    pub about: &'a str,
    pub part: Part,
    /// `None` means that the agent uses the model of its caller.
    pub model: Option<&'a str>,
}

/// One agent, with everything that its file needs.
#[derive(Clone, Copy, Debug)]
pub struct Definition<'a> {
    pub swarm: &'a SwarmId,
    pub part: Part,
    pub model: Option<&'a str>,
    /// The prompt that the user gave instead of ours.
    pub prompt: Option<&'a str>,
    /// The text that the user added to the prompt.
    pub appended: Option<&'a str>,
    /// The command with which agents call `thru`, quoted for a shell.
    pub program: &'a str,
}

/// Returns our prompt for a part, with its variables not yet expanded.
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

/// Returns the agent's description, from which a harness decides when to use the agent.
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

/// Returns the whole prompt of an agent: ours or the user's, then the user's addition, with every variable expanded.
pub fn text(definition: &Definition) -> String {
    let Definition { swarm, part, prompt: given, appended, program, .. } = *definition;
    let whole = match appended {
        Some(more) => format!("{}\n\n{}", given.unwrap_or(prompt(part)).trim_end(), more.trim()),
        None => given.unwrap_or(prompt(part)).trim_end().to_owned(),
    };
    swarm.expand(&whole).replace("{{THRU}}", program)
}

/// Returns the agent's file for a harness; `None` if that harness does not read agents from files.
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

/// Who wrote a file, according to its mark.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Written {
    /// We wrote the file, and nobody has changed it.
    ByUs(SwarmId),
    /// We wrote the file, and somebody has changed it since.
    Changed(SwarmId),
    /// Somebody else wrote the file.
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

/// Returns the position of our mark, and the swarm and the digest in it.
fn find_mark(text: &str) -> Option<(usize, SwarmId, &str)> {
    let at = text.rfind(MARK)?;
    let (swarm, rest) = text[at + MARK.len()..].split_once(DIGEST)?;
    let digest = rest.split_once(';')?.0;
    Some((at, SwarmId::new(swarm).ok()?, digest))
}

/// Quotes a text so that a YAML parser reads the same text back. The simpler parsers of some harnesses can read it too.
pub(crate) fn quoted(text: &str) -> String {
    // Serialising a text cannot fail.
    serde_json::to_string(text).unwrap_or_default()
}

#[cfg(test)]
#[path = "agents_tests.rs"]
mod tests;
