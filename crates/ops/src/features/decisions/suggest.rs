//! Searches the journals for statements in which an agent says that something was decided. Each statement is only a
//! suggestion until somebody accepts it.

use std::collections::HashSet;

use model::decision::{self, DecisionSource};
use model::event::EventName;
use model::journal;
use serde::{Deserialize, Serialize};
use store::{Store, layout};

use super::to_one_line;
use crate::project::Project;
use crate::session::roster;
use crate::{Error, Result, World};

/// How many of the most recent sessions are searched for statements.
const MAX_SESSIONS_SEARCHED: usize = 20;

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Suggestion {
    /// The id that the decision gets if it is accepted.
    pub id: String,
    pub ts: String,
    pub session: String,
    pub text: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub why: String,
}

#[derive(Debug, Serialize)]
pub struct SuggestionListing {
    pub suggested: Vec<Suggestion>,
    #[serde(rename = "more")]
    pub not_listed: usize,
}

/// Returns the newest `most` suggestions, or all of them if `most` is 0.
pub fn list_suggestions(world: &World, most: usize) -> Result<SuggestionListing> {
    let project = Project::find_for_reading(world)?;
    let mut suggested = all_suggestions(&project.store)?;
    let most = if most == 0 { usize::MAX } else { most };
    let not_listed = suggested.len().saturating_sub(most);
    suggested.truncate(most);
    Ok(SuggestionListing { suggested, not_listed })
}

pub(super) fn find_suggestion(world: &World, store: &Store, word: &str) -> Result<Suggestion> {
    let known = all_suggestions(store)?;
    let bare = word.strip_prefix("d-").unwrap_or(word);
    let begins = |one: &&Suggestion| !bare.is_empty() && one.id["d-".len()..].starts_with(bare);
    let found: Vec<&Suggestion> = known.iter().filter(begins).collect();
    match found.as_slice() {
        [one] => Ok((*one).clone()),
        [] => {
            let decided = super::all_decisions(store, world.now)?;
            let hint = match super::find_decision(&decided, word) {
                Ok(_) => "this suggestion is already a decision; `thru decisions show` shows it",
                Err(_) => "`thru decisions list --suggested` lists all suggestions",
            };
            Err(Error::Absent {
                what: format!("there is no suggestion {}", to_one_line(word)),
                hint: hint.into(),
            })
        }
        several => Err(Error::Usage {
            what: format!("{} suggestions have ids that begin with {}", several.len(), to_one_line(word)),
            hint: "type more of the id".into(),
        }),
    }
}

/// A journal line that can contain an agent's statement.
#[derive(Default, Deserialize)]
#[serde(default)]
struct StatementLine {
    ts: String,
    event: String,
    text: String,
    agent: Option<serde::de::IgnoredAny>,
}

fn all_suggestions(store: &Store) -> Result<Vec<Suggestion>> {
    let mut known: HashSet<String> =
        store.all_decisions()?.0.into_iter().map(|decision| decision.id).collect();
    let entries = roster::read_roster(store, u64::MAX)?;
    let mut found = Vec::new();
    for entry in roster::sort_by_activity(&entries, store, |_| true).into_iter().take(MAX_SESSIONS_SEARCHED) {
        let mut own = Vec::new();
        store.dir().each_record(&layout::journal_path(&entry.session), |said: StatementLine| {
            let is_said = said.event == journal::AGENT_MESSAGE_EVENT || said.event == EventName::Stop.name();
            // Skip the statements of sub-agents: they only report to the main agent, which decides.
            if is_said && said.agent.is_none() {
                own.extend(
                    decision::find_stated_decisions(&said.text)
                        .into_iter()
                        .map(|stated| (said.ts.clone(), stated)),
                );
            }
        })?;
        // Go through the statements newest first. Skip duplicates, because a stop event and the transcript can
        // contain the same statement.
        for (ts, stated) in own.into_iter().rev() {
            let id = decision::id_from_content(DecisionSource::Statement, &stated.text);
            if known.insert(id.clone()) {
                let session = entry.session.to_string();
                found.push(Suggestion { id, ts, session, text: stated.text, why: stated.why });
            }
        }
    }
    Ok(found)
}
