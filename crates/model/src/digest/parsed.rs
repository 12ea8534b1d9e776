//! What was made of a text once and is asked for at every record.

use std::sync::OnceLock;

/// Made when it is first asked for, from fields beside it that do not change. It is never stored, and two values that differ
/// only in this are the same.
#[derive(Clone, Debug)]
pub(crate) struct Parsed<T>(OnceLock<T>);

impl<T> Parsed<T> {
    pub(super) fn get(&self, parse: impl FnOnce() -> T) -> &T {
        self.0.get_or_init(parse)
    }
}

impl<T> Default for Parsed<T> {
    fn default() -> Self {
        Parsed(OnceLock::new())
    }
}

impl<T> PartialEq for Parsed<T> {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}
