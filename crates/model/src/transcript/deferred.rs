//! A text that is decoded only when it is read.

use std::borrow::Cow;
use std::fmt;

/// A text that is decoded anew each time it is read. Most outputs in a transcript are never read, so decoding them in
/// advance would waste time.
#[derive(Clone)]
pub enum DeferredText<'a> {
    Decoded(Cow<'a, str>),
    Encoded(&'a [u8], fn(&[u8]) -> Cow<'_, str>),
}

impl DeferredText<'_> {
    pub fn read(&self) -> Cow<'_, str> {
        match self {
            DeferredText::Decoded(text) => Cow::Borrowed(text),
            DeferredText::Encoded(bytes, decode) => decode(bytes),
        }
    }
}

impl Default for DeferredText<'_> {
    fn default() -> Self {
        DeferredText::Decoded(Cow::Borrowed(""))
    }
}

impl PartialEq for DeferredText<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.read() == other.read()
    }
}

impl fmt::Debug for DeferredText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.read().fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_the_same_before_and_after_decoding() {
        let encoded = DeferredText::Encoded(b"abc", |bytes| String::from_utf8_lossy(&bytes[1..]));
        assert_eq!(encoded, DeferredText::Decoded("bc".into()));
        assert_eq!(format!("{encoded:?}"), "\"bc\"");
        assert_eq!(DeferredText::default().read(), "");
    }
}
