//! Writes the agents of a swarm as files that a harness reads.
//!
//! The prompt of an agent is the same for all harnesses. [`AgentFiles::render_frontmatter`] writes the agent's name and
//! tools in the harness's own format. The last line of a file marks it as ours and contains a digest of the other
//! lines, which shows whether somebody has changed the file.

use model::plan::sha256_hex;
use model::swarm::{SwarmId, SwarmRole};

use crate::Harness;

/// How a harness finds and starts agents.
#[derive(Clone, Copy, Debug)]
pub struct AgentFiles {
    pub folder: &'static str,
    /// Returns the frontmatter, without the `---` lines.
    pub render_frontmatter: fn(&FrontmatterFields) -> String,
    /// The command with which a person starts a session as the architect.
    pub start_instruction: &'static str,
}

#[derive(Clone, Copy, Debug)]
pub struct FrontmatterFields<'a> {
    pub name: &'a str,
    pub description: &'a str,
    pub swarm_role: SwarmRole,
    /// The agent's model. If it is `None`, the agent uses the model of its caller.
    pub model: Option<&'a str>,
}

#[derive(Clone, Copy, Debug)]
pub struct AgentDefinition<'a> {
    pub swarm: &'a SwarmId,
    pub swarm_role: SwarmRole,
    pub model: Option<&'a str>,
    /// The user's prompt, which replaces ours.
    pub prompt: Option<&'a str>,
    /// The text that the user added to the prompt.
    pub appended_prompt: Option<&'a str>,
    /// The command with which agents call `thru`, quoted for a shell.
    pub program: &'a str,
}

/// Returns our prompt for an agent, before its variables are expanded.
pub fn default_prompt(part: SwarmRole) -> &'static str {
    match part {
        SwarmRole::Architect => include_str!("../agents/architect.md"),
        SwarmRole::Explorer => include_str!("../agents/explorer.md"),
        SwarmRole::Sme => include_str!("../agents/sme.md"),
        SwarmRole::Coder => include_str!("../agents/coder.md"),
        SwarmRole::Reviewer => include_str!("../agents/reviewer.md"),
        SwarmRole::Critic => include_str!("../agents/critic.md"),
        SwarmRole::TestEngineer => include_str!("../agents/test_engineer.md"),
    }
}

/// Returns the agent's description. A harness uses it to decide when to call the agent.
pub fn agent_description(part: SwarmRole) -> &'static str {
    match part {
        SwarmRole::Architect => {
            "Plans the work of the swarm, delegates every step and acts on verdicts; writes no code"
        }
        SwarmRole::Explorer => {
            "Explores the codebase and finds gaps between a request and the existing code; read-only"
        }
        SwarmRole::Sme => "Advises on the domain given as DOMAIN; called once for each domain; read-only",
        SwarmRole::Coder => "Makes one change, as described by TASK, FILE, INPUT, OUTPUT and CONSTRAINT",
        SwarmRole::Reviewer => {
            "Reviews a change for correctness and security, with a CHECK list that it may extend; answers APPROVED or REJECTED; read-only"
        }
        SwarmRole::Critic => {
            "Reviews a plan before work begins; answers APPROVED, NEEDS_REVISION or REJECTED; read-only"
        }
        SwarmRole::TestEngineer => "Writes tests, runs them and reports PASS or FAIL",
    }
}

/// Returns the whole prompt of an agent: our prompt or the user's replacement, followed by the text that the user
/// added. All variables are expanded.
pub fn full_agent_prompt(definition: &AgentDefinition) -> String {
    let AgentDefinition { swarm, swarm_role, prompt: given, appended_prompt, program, .. } = *definition;
    let whole = match appended_prompt {
        Some(more) => {
            format!("{}\n\n{}", given.unwrap_or(default_prompt(swarm_role)).trim_end(), more.trim())
        }
        None => given.unwrap_or(default_prompt(swarm_role)).trim_end().to_owned(),
    };
    swarm.expand_variables(&whole).replace("{{THRU}}", program)
}

/// Returns the text of the agent's file for a harness, or `None` if the harness does not read agents from files.
pub fn agent_file_text(harness: &Harness, definition: &AgentDefinition) -> Option<String> {
    let AgentFiles { render_frontmatter: head, .. } = harness.agents?;
    let name = definition.swarm.agent_name(definition.swarm_role);
    let head = head(&FrontmatterFields {
        name: &name,
        description: agent_description(definition.swarm_role),
        swarm_role: definition.swarm_role,
        model: definition.model,
    });
    let body = format!("---\n{head}---\n\n{}\n\n", full_agent_prompt(definition));
    Some(format!("{body}{}\n", agent_file_mark(definition.swarm, &body)))
}

const AGENT_FILE_MARK_START: &str = "<!-- written by `thru swarm install`: swarm ";
const AGENT_FILE_MARK_DIGEST_LABEL: &str = ", digest ";
const AGENT_FILE_MARK_END: &str = "; `thru swarm uninstall` removes it -->";

fn agent_file_mark(swarm: &SwarmId, body: &str) -> String {
    format!(
        "{AGENT_FILE_MARK_START}{swarm}{AGENT_FILE_MARK_DIGEST_LABEL}{}{AGENT_FILE_MARK_END}",
        &sha256_hex(body.as_bytes())[..16]
    )
}

/// Who wrote a file, according to its mark.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileAuthor {
    /// We wrote the file, and nobody has changed it.
    WrittenByUs(SwarmId),
    /// We wrote the file, and somebody has changed it since.
    Changed(SwarmId),
    /// Somebody else wrote the file.
    WrittenByOthers,
}

pub fn file_author(text: &str) -> FileAuthor {
    let Some((at, swarm, digest)) = find_mark(text) else { return FileAuthor::WrittenByOthers };
    let is_last = text[at..]
        .strip_suffix('\n')
        .is_some_and(|line| line.ends_with(AGENT_FILE_MARK_END) && !line.contains('\n'));
    match is_last && sha256_hex(&text.as_bytes()[..at]).starts_with(digest) && digest.len() == 16 {
        true => FileAuthor::WrittenByUs(swarm),
        false => FileAuthor::Changed(swarm),
    }
}

/// Returns the position of the comment that identifies our files, and the swarm and the digest in that comment.
fn find_mark(text: &str) -> Option<(usize, SwarmId, &str)> {
    let at = text.rfind(AGENT_FILE_MARK_START)?;
    let (swarm, rest) = text[at + AGENT_FILE_MARK_START.len()..].split_once(AGENT_FILE_MARK_DIGEST_LABEL)?;
    let digest = rest.split_once(';')?.0;
    Some((at, SwarmId::new(swarm).ok()?, digest))
}

/// Quotes a string for YAML. The simpler parsers of some harnesses accept the result too.
pub(crate) fn yaml_quoted(text: &str) -> String {
    // Serialising a string cannot fail.
    serde_json::to_string(text).unwrap_or_default()
}

#[cfg(test)]
#[path = "agents_tests.rs"]
mod tests;
