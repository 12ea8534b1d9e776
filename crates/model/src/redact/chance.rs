//! Does a text look drawn by chance, or written by a person?
//!
//! Shannon entropy separates the two badly at the lengths that matter (`user_profile_image` scores above many
//! tokens), so this counts what words do not do: change between lower case, upper case and digits every few bytes.

use super::classes::{ALNUM, DIGIT, LETTER, LOWER, UPPER, is};

/// What one look over a value finds.
#[derive(Debug, Default, Clone, Copy)]
pub struct Profile {
    pub len: usize,
    pub digits: usize,
    pub lower: usize,
    pub upper: usize,
    /// Changes between lower case, upper case and digits inside a run; `Aa` at the start of a word is none.
    pub changes: usize,
    /// The longest run of letters and digits.
    pub longest: usize,
    /// Bytes that are neither letter, digit nor one of `_-./:` (what joins words into names and paths).
    pub symbols: usize,
    /// Placeholder letters: `x`, `X` and `*`.
    crosses: usize,
    /// Different bytes, counted up to sixteen.
    pub distinct: usize,
}

/// Looks at `text` once.
pub fn profile(text: &[u8]) -> Profile {
    let mut found = Profile { len: text.len(), ..Profile::default() };
    let mut previous = b' ';
    let mut longest = 0;
    let mut seen = [0u64; 4];
    for &byte in text {
        longest = if is(byte, ALNUM) { longest + 1 } else { 0 };
        found.longest = found.longest.max(longest);
        found.digits += usize::from(is(byte, DIGIT));
        found.lower += usize::from(is(byte, LOWER));
        found.upper += usize::from(is(byte, UPPER));
        found.crosses += usize::from(matches!(byte, b'x' | b'X' | b'*'));
        found.symbols += usize::from(!is(byte, ALNUM) && !matches!(byte, b'_' | b'-' | b'.' | b'/' | b':'));
        found.changes += usize::from(changes(previous, byte));
        let (slot, bit) = (usize::from(byte >> 6), 1u64 << (byte & 63));
        found.distinct += usize::from(seen[slot] & bit == 0);
        seen[slot] |= bit;
        previous = byte;
    }
    found
}

impl Profile {
    pub fn letters(&self) -> usize {
        self.lower + self.upper
    }

    /// `xxxxxxxx`, `XXXX-XXXX`, `********`: a stand-in, not a value.
    pub fn is_filler(&self) -> bool {
        self.crosses * 2 > self.len
    }

    /// Looks drawn by chance. Long unbroken runs do, short ones only when they mix digits or cases as words do not.
    pub fn is_random(&self) -> bool {
        if self.is_filler() || self.len < 8 || self.distinct < 4 {
            return self.longest >= 30 && !self.is_filler();
        }
        let mixed = self.digits > 0 && self.letters() > 0;
        (mixed && self.changes * 5 >= self.len && self.changes >= 3)
            || (mixed && self.longest >= 16 && self.digits >= 2)
            || (self.lower > 0 && self.upper > 0 && self.len >= 12 && self.changes * 4 >= self.len)
            || (self.longest >= 30
                && (self.digits > 0 || self.lower == 0 || self.changes == 0 || self.changes * 5 >= self.len))
    }
}

fn changes(previous: u8, byte: u8) -> bool {
    (is(previous, LETTER) && is(byte, DIGIT))
        || (is(previous, DIGIT) && is(byte, LETTER))
        || (is(previous, LOWER) && is(byte, UPPER))
}
