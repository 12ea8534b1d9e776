use std::sync::OnceLock;

/// A cached value that is computed from neighbouring fields on first use. Those fields must not change afterwards.
/// The value is not serialized, and comparisons ignore it.
#[derive(Clone, Debug)]
pub(crate) struct LazyValue<T>(OnceLock<T>);

impl<T> LazyValue<T> {
    pub(super) fn get_or_parse(&self, parse: impl FnOnce() -> T) -> &T {
        self.0.get_or_init(parse)
    }
}

impl<T> Default for LazyValue<T> {
    fn default() -> Self {
        LazyValue(OnceLock::new())
    }
}

impl<T> PartialEq for LazyValue<T> {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}
