//! Decides whether text looks random or was written by a person.
//!
//! Shannon entropy does not separate random text from words in strings this short. For example, `user_profile_image`
//! scores higher than many tokens. So this module counts changes between lower case, upper case and digits, which are
//! rare in words.

use super::classes::{DIGIT, LETTER, LETTER_OR_DIGIT, LOWER, UPPER, is_byte_in_class};

#[derive(Debug, Default, Clone, Copy)]
pub struct ValueProfile {
    pub len: usize,
    pub digits: usize,
    pub lower: usize,
    pub upper: usize,
    /// The number of changes between lower case, upper case and digits. The change from upper to lower case at the
    /// start of a word, as in `Aa`, is not counted.
    pub class_changes: usize,
    /// The length of the longest run of letters and digits.
    pub longest_run: usize,
    /// The number of bytes other than letters, digits and `_-./:`. The characters `_-./:` do not count, because they
    /// join words into names and paths.
    pub symbols: usize,
    /// The length of the longest run of consonants, regardless of their case. Words rarely have five in a row.
    longest_consonant_run: usize,
    /// The number of filler characters: `x`, `X` and `*`.
    filler_chars: usize,
    pub distinct_bytes: usize,
}

pub fn profile_value(text: &[u8]) -> ValueProfile {
    let mut found = ValueProfile { len: text.len(), ..ValueProfile::default() };
    let mut previous = b' ';
    let (mut longest, mut cluster) = (0, 0);
    let mut seen = [0u64; 4];
    for &byte in text {
        longest = if is_byte_in_class(byte, LETTER_OR_DIGIT) { longest + 1 } else { 0 };
        found.longest_run = found.longest_run.max(longest);
        cluster = if is_ascii_consonant(byte) { cluster + 1 } else { 0 };
        found.longest_consonant_run = found.longest_consonant_run.max(cluster);
        found.digits += usize::from(is_byte_in_class(byte, DIGIT));
        found.lower += usize::from(is_byte_in_class(byte, LOWER));
        found.upper += usize::from(is_byte_in_class(byte, UPPER));
        found.filler_chars += usize::from(matches!(byte, b'x' | b'X' | b'*'));
        found.symbols += usize::from(
            !is_byte_in_class(byte, LETTER_OR_DIGIT) && !matches!(byte, b'_' | b'-' | b'.' | b'/' | b':'),
        );
        found.class_changes += usize::from(changes_class(previous, byte));
        let (slot, bit) = (usize::from(byte >> 6), 1u64 << (byte & 63));
        found.distinct_bytes += usize::from(seen[slot] & bit == 0);
        seen[slot] |= bit;
        previous = byte;
    }
    found
}

impl ValueProfile {
    pub fn letters(&self) -> usize {
        self.lower + self.upper
    }

    pub fn has_letters_and_digits(&self) -> bool {
        self.digits > 0 && self.letters() > 0
    }

    /// Returns whether the value is a filler such as `xxxxxxxx`, `XXXX-XXXX` or `********`.
    pub fn is_filler(&self) -> bool {
        self.filler_chars * 2 > self.len
    }

    /// Returns whether the value looks random. A long unbroken run of letters and digits looks random. A shorter one
    /// looks random only if it mixes digits and cases more than words do.
    pub fn looks_random(&self) -> bool {
        if self.is_filler() || self.len < 8 || self.distinct_bytes < 4 {
            return false;
        }
        let mixed = self.has_letters_and_digits();
        let cased = self.lower > 0 && self.upper > 0;
        (mixed && self.class_changes >= 3 && self.class_changes * 5 >= self.len)
            || (mixed && self.longest_run >= 16 && self.digits >= 2)
            || (cased && self.len >= 12 && self.class_changes * 4 >= self.len)
            || (cased
                && self.longest_run >= 16
                && self.class_changes * 5 >= self.len
                && self.longest_consonant_run >= 5)
            || (self.longest_run >= 30 && (mixed || !cased || self.class_changes * 5 >= self.len))
    }

    /// Returns whether the value looks like words. This is tested for the part after a provider's prefix, as in
    /// `npm_lifecycle_event` or `sk-learn-contrib-2`. A prefix is strong evidence, so any value that does not look like
    /// words is treated as a token.
    pub fn looks_like_words(&self) -> bool {
        if self.is_filler() {
            return true;
        }
        let cased = self.lower > 0 && self.upper > 0;
        let camel =
            cased && self.digits < 2 && self.class_changes * 6 < self.len && self.longest_consonant_run < 5;
        // Words that end with digits, as in `ecdsa-sha2-nistp256-cert-v01`, are not random.
        let numbered = self.class_changes * 8 < self.len && self.letters() > 2 * self.digits;
        let plain = !cased && (self.digits < 2 || self.digits * 8 < self.len || numbered);
        !self.looks_random() && (camel || (plain && self.longest_run < 24) || self.letters() == 0)
    }
}

fn is_ascii_consonant(byte: u8) -> bool {
    is_byte_in_class(byte, LETTER) && !matches!(byte | 32, b'a' | b'e' | b'i' | b'o' | b'u' | b'y')
}

fn changes_class(previous: u8, byte: u8) -> bool {
    (is_byte_in_class(previous, LETTER) && is_byte_in_class(byte, DIGIT))
        || (is_byte_in_class(previous, DIGIT) && is_byte_in_class(byte, LETTER))
        || (is_byte_in_class(previous, LOWER) && is_byte_in_class(byte, UPPER))
}
