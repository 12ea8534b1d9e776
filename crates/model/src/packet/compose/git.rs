//! What git says about the checkout when a packet is written.

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GitFacts {
    /// The checked-out commit, or empty before the first commit.
    pub head: String,
    /// The checked-out branch, or empty if there is none.
    pub branch: String,
    /// The files that differ from HEAD, including untracked ones, or `None` if they are unknown.
    pub uncommitted_files: Option<Vec<String>>,
    /// A fingerprint of these files and their content, or `None` if it is unknown.
    pub fingerprint_of_changes: Option<String>,
}

impl GitFacts {
    /// Returns whether the checkout is known to have no uncommitted files.
    pub(super) fn is_clean(&self) -> bool {
        self.uncommitted_files.as_ref().is_some_and(Vec::is_empty)
    }
}
