//! Redacts the text that a person passes to a command. Like captured text, it can contain secrets.

use std::borrow::Cow;
use std::cell::Cell;

use model::redact::{self, redact_bytes, redact_text};

use crate::World;
use crate::project::settings;

/// Replaces secrets in text, and remembers whether it found any, so that the command can report this to the user.
pub(crate) struct InputRedactor {
    pub options: redact::RedactOptions,
    redacted: Cell<bool>,
}

impl InputRedactor {
    pub fn with_settings_of(world: &World) -> InputRedactor {
        let options = settings::settings_here(world).settings().redact_options();
        InputRedactor { options, redacted: Cell::new(false) }
    }

    pub fn redact_text<'a>(&self, text: &'a str) -> Cow<'a, str> {
        self.note_if_changed(redact_text(text, self.options))
    }

    pub fn redact_bytes<'a>(&self, bytes: &'a [u8]) -> Cow<'a, [u8]> {
        self.note_if_changed(redact_bytes(bytes, self.options))
    }

    pub fn has_redacted(&self) -> bool {
        self.redacted.get()
    }

    fn note_if_changed<'a, T: ToOwned + ?Sized>(&self, cleaned: Cow<'a, T>) -> Cow<'a, T> {
        self.redacted.set(self.redacted.get() || matches!(cleaned, Cow::Owned(_)));
        cleaned
    }
}
