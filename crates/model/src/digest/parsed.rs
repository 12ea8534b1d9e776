//! A value that is computed once, because it is needed at every record.

use std::sync::OnceLock;

/// A value that is computed on first use, from neighbouring fields that do not change. It is not stored, and it is
/// ignored when two values are compared.
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
