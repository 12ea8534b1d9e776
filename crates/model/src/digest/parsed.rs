use std::sync::OnceLock;

/// A value that is computed on first use from neighbouring fields, which must not change afterwards. It is not
/// serialized, and comparisons ignore it.
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
