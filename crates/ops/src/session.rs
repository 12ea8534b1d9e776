//! Sessions: their records, and the briefs that are composed from the records.

pub mod brief;
pub(crate) mod context_held;
pub mod database;
pub(crate) mod facts;
pub mod files;
pub(crate) mod files_at_end;
mod git_history;
pub mod hook_statistics;
pub mod journal;
pub mod last;
pub(crate) mod last_turn;
pub mod list;
pub(crate) mod project_rules;
pub(crate) mod roster;
pub mod sent;
pub mod status_line;
pub mod transcript;
pub(crate) mod transcript_reader;
