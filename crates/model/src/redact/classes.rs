//! Byte classes. A table stores sixteen properties of each byte, and a class is any union of properties.

/// A set of bytes: a union of the properties below.
pub type ByteClass = u16;

const DIGIT_01: ByteClass = 1 << 0;
const DIGIT_2_TO_7: ByteClass = 1 << 1;
const DIGIT_8_TO_9: ByteClass = 1 << 2;
const LOWER_A_TO_F: ByteClass = 1 << 3;
const LOWER_G_TO_Z: ByteClass = 1 << 4;
const UPPER_A_TO_F: ByteClass = 1 << 5;
const UPPER_G_TO_Z: ByteClass = 1 << 6;
pub const UNDERSCORE: ByteClass = 1 << 7;
pub const DASH: ByteClass = 1 << 8;
pub const DOT: ByteClass = 1 << 9;
pub const PLUS: ByteClass = 1 << 10;
pub const SLASH: ByteClass = 1 << 11;
pub const EQUALS: ByteClass = 1 << 12;
pub const PERCENT: ByteClass = 1 << 13;
pub const TILDE: ByteClass = 1 << 14;
pub const AT_SIGN: ByteClass = 1 << 15;

pub const DIGIT: ByteClass = DIGIT_01 | DIGIT_2_TO_7 | DIGIT_8_TO_9;
pub const LOWER: ByteClass = LOWER_A_TO_F | LOWER_G_TO_Z;
pub const UPPER: ByteClass = UPPER_A_TO_F | UPPER_G_TO_Z;
pub const LETTER: ByteClass = LOWER | UPPER;
pub const LETTER_OR_DIGIT: ByteClass = LETTER | DIGIT;
/// The bytes of identifiers. All other bytes are word boundaries.
pub const IDENTIFIER_BYTE: ByteClass = LETTER_OR_DIGIT | UNDERSCORE;
/// Lower-case hexadecimal digits.
pub const LOWER_HEX: ByteClass = DIGIT | LOWER_A_TO_F;
pub const ANY_HEX: ByteClass = LOWER_HEX | UPPER_A_TO_F;
pub const UPPER_OR_DIGIT: ByteClass = UPPER | DIGIT;
pub const LOWER_OR_DIGIT: ByteClass = LOWER | DIGIT;
pub const UUID: ByteClass = ANY_HEX | DASH;
pub const BASE64: ByteClass = LETTER_OR_DIGIT | PLUS | SLASH | EQUALS;
pub const BASE64_URL: ByteClass = IDENTIFIER_BYTE | DASH;

static CLASS_TABLE: [ByteClass; 256] = build_class_table();

#[inline]
pub fn is_byte_in_class(byte: u8, class: ByteClass) -> bool {
    CLASS_TABLE[byte as usize] & class != 0
}

/// Returns the length of the run of `class` bytes at the start of `text`, at most `max`.
#[inline]
pub fn class_run_length(text: &[u8], class: ByteClass, max: usize) -> usize {
    text.iter().take(max).take_while(|byte| is_byte_in_class(**byte, class)).count()
}

/// Returns the length of the run of `class` bytes at the end of `text`, at most `max`.
#[inline]
pub fn class_run_length_at_end(text: &[u8], class: ByteClass, max: usize) -> usize {
    text.iter().rev().take(max).take_while(|byte| is_byte_in_class(**byte, class)).count()
}

/// Returns the byte at `at`. Returns a newline if `at` is beyond the end, because the end of the text is a boundary
/// like the end of a line.
#[inline]
pub fn byte_or_newline(text: &[u8], at: usize) -> u8 {
    text.get(at).copied().unwrap_or(b'\n')
}

/// Returns the number of spaces and tabs at the start of `text`, at most `max`.
pub fn count_blanks(text: &[u8], max: usize) -> usize {
    text.iter().take(max).take_while(|byte| matches!(byte, b' ' | b'\t')).count()
}

pub fn starts_with_ignore_case(text: &[u8], prefix: &str) -> bool {
    text.get(..prefix.len()).is_some_and(|head| head.eq_ignore_ascii_case(prefix.as_bytes()))
}

pub fn ends_with_ignore_case(text: &[u8], suffix: &str) -> bool {
    text.len() >= suffix.len() && text[text.len() - suffix.len()..].eq_ignore_ascii_case(suffix.as_bytes())
}

const fn build_class_table() -> [ByteClass; 256] {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 128 {
        table[byte] = match byte as u8 {
            b'0' | b'1' => DIGIT_01,
            b'2'..=b'7' => DIGIT_2_TO_7,
            b'8' | b'9' => DIGIT_8_TO_9,
            b'a'..=b'f' => LOWER_A_TO_F,
            b'g'..=b'z' => LOWER_G_TO_Z,
            b'A'..=b'F' => UPPER_A_TO_F,
            b'G'..=b'Z' => UPPER_G_TO_Z,
            b'_' => UNDERSCORE,
            b'-' => DASH,
            b'.' => DOT,
            b'+' => PLUS,
            b'/' => SLASH,
            b'=' => EQUALS,
            b'%' => PERCENT,
            b'~' => TILDE,
            b'@' => AT_SIGN,
            _ => 0,
        };
        byte += 1;
    }
    table
}
