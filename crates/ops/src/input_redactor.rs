//! Text that a person passes to a command to be recorded. It can contain secrets, as captured text can.

use std::borrow::Cow;
use std::cell::Cell;

use model::redact::{self, redact, redact_bytes};

use crate::World;
use crate::project::settings;

/// Replaces secrets, and remembers whether it found one, so that the command can tell the user.
pub(crate) struct InputRedactor {
    pub options: redact::Options,
    covered: Cell<bool>,
}

impl InputRedactor {
    pub fn to(world: &World) -> InputRedactor {
        let options = settings::here(world).settings().redact();
        InputRedactor { options, covered: Cell::new(false) }
    }

    pub fn clean<'a>(&self, text: &'a str) -> Cow<'a, str> {
        self.note(redact(text, self.options))
    }

    pub fn clean_bytes<'a>(&self, bytes: &'a [u8]) -> Cow<'a, [u8]> {
        self.note(redact_bytes(bytes, self.options))
    }

    pub fn was_covered(&self) -> bool {
        self.covered.get()
    }

    fn note<'a, T: ToOwned + ?Sized>(&self, cleaned: Cow<'a, T>) -> Cow<'a, T> {
        self.covered.set(self.covered.get() || matches!(cleaned, Cow::Owned(_)));
        cleaned
    }
}
