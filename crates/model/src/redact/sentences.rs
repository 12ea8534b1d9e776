//! Passwords stated in a sentence, in any of the supported languages: `the password for the guests is x`,
//! `a senha do banco é x`, `we set the password back to x`.

use super::FoundSecret;
use super::chance::profile_value;
use super::classes::{LETTER, UPPER, byte_or_newline, class_run_length, count_blanks, is_byte_in_class};
use super::made_up::{self, PasswordCertainty};
use super::values::{self, LiteralValue};
use super::{lexicon, passwords};

/// The maximum number of bytes between a name and its value.
const MAX_BYTES_FROM_NAME_TO_VALUE: usize = 96;
/// The maximum number of words that are read after the name.
const MAX_WORDS_AFTER_NAME: usize = 14;
/// The maximum length of a value, in bytes.
const MAX_SECRET_BYTES_IN_SENTENCE: usize = 100;

/// Words that come directly before the value.
const LINKING_WORDS: &str = "is ist lautet est es é è was to be becomes now it's its c'est — – -";
/// Words that come directly before the value if the name is not English.
const FOREIGN_LINKING_WORDS: &str = "como : será sera sarà wird wordt devient";
/// Foreign words that come before the value but also before other words. Only an obvious password is accepted after
/// them.
const FOREIGN_PREPOSITIONS: &str =
    "para en pour por auf zu naar in con a ich vaut bleibt blijft resta rimane sigue fica";
/// Words before the value in an instruction, as in `when it asks for the password, type x`.
const TYPING_WORDS: &str = "type enter use try typing entering been remains stays equals reads became";
/// Words after the name that introduce the owner, as in `root's password on host.example.com = x`.
const PLACE_WORDS: &str = "on for of at in";
/// One of these words must come before `to`. For example, `password was set to x` states a value, but
/// `password to connect to x` does not.
const SETTING_WORDS: &str = "set reset back over equal defaults";
/// Words that may come between a linking word and the value.
const ADVERB_WORDS: &str = "now currently still just simply temporarily again désormais maintenant ahora agora ora adesso jetzt nun nu";

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum NameLanguage {
    English,
    Other,
}

/// What a value must look like to count as a password.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum RequiredCertainty {
    /// A word that ends a clause and is not common in code or in sentences about passwords.
    SingleWord,
    /// Like `SingleWord`, but the word must not end in the suffix of an adjective.
    WordWithoutSuffix,
    /// Several words, or letters and digits.
    SeveralWords,
}

/// Finds the value that follows a name in a sentence. The name ends at `end`.
pub fn secret_in_sentence(text: &[u8], end: usize, language: NameLanguage) -> Option<FoundSecret> {
    let window = &text[end..text.len().min(end + MAX_BYTES_FROM_NAME_TO_VALUE)];
    let window = &window[..memchr::memchr(b'\n', window).unwrap_or(window.len())];
    let (mut at, mut first, mut previous) = (0, true, &b""[..]);
    let mut placed = false;
    for _ in 0..MAX_WORDS_AFTER_NAME {
        at += count_blanks(&window[at..], 4);
        let length = window[at..].iter().position(|byte| *byte == b' ').unwrap_or(window.len() - at);
        let word = &window[at..at + length];
        if word.is_empty() {
            return secret_answering_question(text, end + window.len());
        }
        let after = end + at + length;
        let after = match word.first() {
            // The value may be in brackets, as in `the initial password (x)`.
            Some(b'(') if first => end + at + 1,
            _ => after,
        };
        placed |= first && is_in_word_list(word, PLACE_WORDS);
        let link = match word {
            [b'(', ..] if first => Some(RequiredCertainty::SeveralWords),
            b"to" => {
                let sets = previous.ends_with(b"ed")
                    || is_in_word_list(previous, SETTING_WORDS)
                    || first && says_password_changed(&text[..end]);
                if sets {
                    Some(RequiredCertainty::SingleWord)
                } else {
                    first.then_some(RequiredCertainty::SeveralWords)
                }
            }
            // `remplace le mot de passe par x` states a value, but `envoyer le mot de passe par courriel` does not.
            b"par" if language == NameLanguage::Other => {
                let line = super::context::text_after_last_break(
                    &text[end.saturating_sub(MAX_BYTES_FROM_NAME_TO_VALUE)..end + at],
                );
                let replaces = [&b"rempla"[..], b"chang", b"modifi"]
                    .iter()
                    .any(|verb| super::contains_bytes(line, verb));
                replaces.then_some(RequiredCertainty::WordWithoutSuffix)
            }
            b"=" => placed.then_some(RequiredCertainty::SeveralWords),
            // Another label may follow the name, as in `password store: name`.
            [letter, .., b':'] if first && letter.is_ascii_lowercase() => {
                Some(RequiredCertainty::SeveralWords)
            }
            _ => required_after_word(word, language),
        };
        if let Some(least) = link
            && let Some(hit) = secret_value_at(text, position_after_adverb(text, after), least)
        {
            return Some(hit);
        }
        // The value may be in the next sentence, as in `I changed the password. It's x`.
        let goes_on = || window[at + length..].get(1..3).is_some_and(|next| next.eq_ignore_ascii_case(b"it"));
        if matches!(word.last(), Some(b'.' | b'!' | b'?' | b';')) && !goes_on() {
            return if at + length == window.len() {
                secret_answering_question(text, end + window.len())
            } else {
                None
            };
        }
        (at, first, previous) = (at + length, false, word);
    }
    None
}

/// Finds the word after the name if it ends a clause, as in `admin pw x`. `end` is where the name ends.
pub fn secret_ending_clause(text: &[u8], end: usize) -> Option<FoundSecret> {
    let start = end + count_blanks(&text[end..], 2);
    let length = length_of_value_in_sentence(&text[start..]);
    let told = made_up::ends_clause(text, start + length) && length <= MAX_SECRET_BYTES_IN_SENTENCE;
    if told {
        secret_if_certain_enough(
            text,
            LiteralValue { start, end: start + length, is_quoted: false, is_in_call: false },
            RequiredCertainty::SingleWord,
        )
    } else {
        None
    }
}

/// Finds the answer to a question such as `what was the password again?`. The answer is alone on the next line, perhaps
/// after a speaker's name. `at` points to the end of the question's line.
pub fn secret_answering_question(text: &[u8], at: usize) -> Option<FoundSecret> {
    if byte_or_newline(text, at) != b'\n' || !text[..at].trim_ascii_end().ends_with(b"?") {
        return None;
    }
    let rest = text.get(at + 1..)?;
    let line = &rest[..rest.iter().take(160).position(|byte| *byte == b'\n').unwrap_or(rest.len().min(160))];
    let line = line.trim_ascii_end();
    let from = memchr::memrchr(b' ', line).map_or(0, |blank| blank + 1);
    let speaker = line[..from].trim_ascii_end();
    let said = speaker.is_empty()
        || matches!(speaker.last(), Some(b':' | b'>' | b']'))
        || [&b"it's"[..], b"its", b"is", b"use", b"try"].iter().any(|word| speaker.ends_with(word));
    let start = at + 1 + from;
    let end = start + length_of_value_in_sentence(&text[start..at + 1 + line.len()]);
    let value = LiteralValue { start, end, is_quoted: false, is_in_call: false };
    if said { secret_if_certain_enough(text, value, RequiredCertainty::SingleWord) } else { None }
}

/// Finds a value between a comma and the end of the line, as in `the old password, x`. `at` is just after the comma.
pub fn secret_after_comma(text: &[u8], at: usize) -> Option<FoundSecret> {
    let start = at + count_blanks(&text[at..], 2);
    let end = start + length_of_value_in_sentence(&text[start..]);
    let ends =
        matches!(byte_or_newline(text, end), b'\n' | b'\r' | b'"' | b'\'') || text[end..].starts_with(b".\n");
    // In a list of names, the next word may be another name and not a value. A value with digits is accepted, because
    // few names contain digits.
    let digits = text[start..end].iter().any(u8::is_ascii_digit);
    let aside = text[end..].starts_with(b", ") && made_up::consists_of_everyday_nouns(&text[start..end]);
    if ends && digits || aside { secret_value_at(text, start, RequiredCertainty::SeveralWords) } else { None }
}

/// Finds a value before the name that starts at `start`, as in `use x as the password`, `nimm x als Passwort` and
/// `usa x como contraseña`.
pub fn secret_used_as_password(text: &[u8], start: usize, floor: usize) -> Option<FoundSecret> {
    let before =
        text.get(floor.max(start.saturating_sub(MAX_BYTES_FROM_NAME_TO_VALUE))..start)?.strip_suffix(b" ")?;
    let last =
        |text: &[u8]| text.iter().rev().take(8).position(|byte| *byte == b' ').unwrap_or(8).min(text.len());
    let word = |text: &[u8]| text.len() - last(text);
    // An article is skipped, and so is the word that joins the value and the name.
    let article = &before[word(before)..];
    let joint = match article {
        b"the" | b"a" | b"its" | b"my" | b"your" | b"la" | b"das" | b"het" => {
            before[..word(before)].strip_suffix(b" ")?
        }
        _ => before,
    };
    let purpose = match &joint[word(joint)..] {
        b"as" | b"als" | b"como" | b"comme" | b"come" => false,
        b"for" if article == b"the" => true,
        _ => return None,
    };
    let value = joint[..word(joint)].strip_suffix(b" ")?;
    let end = start - 1 - before.len() + value.len();
    let mark = value.last().copied().filter(|mark| matches!(mark, b'"' | b'\'' | b'`'));
    let value = &value[..value.len() - usize::from(mark.is_some())];
    let end = end - usize::from(mark.is_some());
    let length = value
        .iter()
        .rev()
        .take_while(|byte| match mark {
            Some(mark) => **byte != mark && **byte != b'\n',
            None => !byte.is_ascii_whitespace(),
        })
        .count();
    let from = end - length;
    let content = &value[value.len() - length..];
    // In `use Argon2id for the password`, the word before `for` is an algorithm and not a password.
    if purpose && !made_up::consists_of_joined_words(content) && !profile_value(content).looks_random() {
        return None;
    }
    let noun = !purpose && made_up::is_noun_not_used_as_modifier(content);
    let least = if noun { RequiredCertainty::SingleWord } else { RequiredCertainty::SeveralWords };
    secret_value_at(&text[..end], from, least)
}

/// Returns the certainty required of a value after this word, or `None` if no value can follow it.
fn required_after_word(word: &[u8], language: NameLanguage) -> Option<RequiredCertainty> {
    let foreign = language == NameLanguage::Other;
    if is_in_word_list(word, LINKING_WORDS)
        || word.len() > 1 && word.ends_with(b":")
        || foreign && is_in_word_list(word, FOREIGN_LINKING_WORDS)
    {
        return Some(if foreign {
            RequiredCertainty::WordWithoutSuffix
        } else {
            RequiredCertainty::SingleWord
        });
    }
    (is_in_word_list(word, TYPING_WORDS) || foreign && is_in_word_list(word, FOREIGN_PREPOSITIONS))
        .then_some(RequiredCertainty::SeveralWords)
}

/// Returns whether a verb before the name says that the password was changed, as in `I changed the password`. The new
/// password follows.
pub fn says_password_changed(before: &[u8]) -> bool {
    let line = super::context::text_after_last_break(&before[before.len().saturating_sub(60)..]);
    ["set", "chang", "updat", "rotat", "switch", "revert"]
        .iter()
        .any(|verb| super::contains_bytes(line, verb.as_bytes()))
}

fn is_in_word_list(word: &[u8], list: &str) -> bool {
    list.split(' ').any(|known| known.as_bytes().eq_ignore_ascii_case(word))
}

/// Skips the blanks at `at`. If an adverb follows, also skips the adverb and the blanks after it. Returns the
/// position after the skipped text.
pub fn position_after_adverb(text: &[u8], at: usize) -> usize {
    let at = at + count_blanks(&text[at..], 4);
    let length = text[at..].iter().take(16).take_while(|byte| !matches!(byte, b' ' | b':' | b'\n')).count();
    let word = &text[at..at + length];
    let known = ADVERB_WORDS.split(' ').any(|adverb| adverb.as_bytes() == word);
    let colon = usize::from(byte_or_newline(text, at + length) == b':');
    if known { at + length + colon + count_blanks(&text[at + length + colon..], 4) } else { at }
}

/// Returns the length of a passphrase such as `copper lantern violet meadow`, whose words do not occur in sentences
/// about passwords.
pub fn passphrase_length(text: &[u8]) -> Option<usize> {
    const MIN_PHRASE_WORDS: usize = 3;
    let (mut end, mut count) = (0, 0);
    while count < MAX_WORDS_AFTER_NAME {
        let start = end + usize::from(count > 0);
        let length = class_run_length(text.get(start..).unwrap_or_default(), LETTER, 16);
        if length < 3 || count > 0 && text[end] != b' ' {
            break;
        }
        (end, count) = (start + length, count + 1);
    }
    let closes = match byte_or_newline(text, end) {
        b'\n' | b'\r' | b'"' | b'\'' | b'`' | b')' | b'<' => true,
        b'.' | b',' | b';' => byte_or_newline(text, end + 1) <= b' ',
        b' ' => matches!(byte_or_newline(text, end + 1), b'(' | b'*' | b'-' | b'#'),
        b'|' | b'\t' => true,
        _ => false,
    };
    if count < MIN_PHRASE_WORDS || !closes {
        return None;
    }
    let words = || text[..end].split(|byte| *byte == b' ');
    let everyday = words().filter(|word| lexicon::count_everyday_nouns(word) > 0).count();
    // At most two words may be something other than everyday nouns. At most one of these two may be common in code or
    // in sentences about passwords.
    let ordinary =
        |word: &&[u8]| lexicon::count_everyday_nouns(word) == 0 && made_up::is_common_or_state_word(word);
    let likely = everyday >= 2 && everyday + 2 >= count && words().filter(ordinary).count() <= 1;
    (likely && !words().any(passwords::is_prose_word)).then_some(end)
}

/// Returns the value at `at` if it satisfies `least`. Quotes around the value are skipped.
pub fn secret_value_at(text: &[u8], at: usize, least: RequiredCertainty) -> Option<FoundSecret> {
    let marks = [
        &b"\""[..],
        b"'",
        b"`",
        "«\u{a0}".as_bytes(),
        "« ".as_bytes(),
        "«".as_bytes(),
        "“".as_bytes(),
        "„".as_bytes(),
        b"**",
    ];
    let mark = marks.iter().find(|mark| text[at..].starts_with(mark));
    let start = at + mark.map_or(0, |mark| mark.len());
    if let Some(&[mark @ (b'"' | b'\'' | b'`')]) = mark.map(|mark| &mark[..])
        && let Some(length) = text[start..].iter().take(80).position(|byte| *byte == mark || *byte == b'\n')
        && text[start + length] == mark
        && passwords::is_passphrase(&text[start..start + length])
    {
        return Some(FoundSecret { start, end: start + length, kind: "password" });
    }
    if let Some(length) = passphrase_length(&text[start..]) {
        return Some(FoundSecret { start, end: start + length, kind: "password" });
    }
    let length = length_of_value_in_sentence(&text[start..]);
    // Made-up passwords are not longer than this, so a longer value is not redacted at all. If only its first
    // part were redacted, the rest would stay visible.
    if length > MAX_SECRET_BYTES_IN_SENTENCE {
        return None;
    }
    let end = start + length;
    secret_if_certain_enough(
        text,
        LiteralValue { start, end, is_quoted: mark.is_some(), is_in_call: false },
        least,
    )
}

/// Returns the value as a hit if it is made up of words, mixes letters and digits, or looks random.
fn secret_if_certain_enough(
    text: &[u8],
    value: LiteralValue,
    least: RequiredCertainty,
) -> Option<FoundSecret> {
    let content = &text[value.start..value.end];
    let code = matches!(byte_or_newline(text, value.end), b'(' | b'[' | b'{' | b'=' | b'/' | b':' | b'<');
    let certainty = made_up::made_up_certainty(content);
    let short = content.len() < 6 && certainty.is_none() && super::grades::grade_word(content).is_none();
    // A value such as `s=0xb627c83491b3` in the stack frame `parse_password (s=0xb627c83491b3)` is an argument and
    // not a password.
    let setting = memchr::memchr(b'=', content).is_some_and(|at| {
        at > 1 && content[..at].iter().all(|byte| is_byte_in_class(*byte, super::classes::LOWER))
    });
    let code = code || setting || super::contains_bytes(content, b"=0x");
    if short
        || code
        || super::grades::is_computing_term(content)
        || super::contains_bytes(content, b"REDACTED")
        || content.contains(&b'/')
    {
        return None;
    }
    let enough = match certainty {
        Some(PasswordCertainty::SeveralWords | PasswordCertainty::EverydayNouns) => true,
        Some(sure) => {
            let enough = match least {
                RequiredCertainty::SingleWord => true,
                RequiredCertainty::WordWithoutSuffix => {
                    sure == PasswordCertainty::LongWord
                        || lexicon::joins_everyday_noun(content)
                        || is_byte_in_class(content[0], UPPER)
                        || !made_up::has_long_word_suffix(content)
                            && !made_up::is_participle_about_password(content)
                }
                RequiredCertainty::SeveralWords => sure == PasswordCertainty::LongWord,
            };
            value.is_quoted || enough && made_up::ends_clause(text, value.end)
        }
        None => {
            let looks = profile_value(content);
            let joint = values::ValueContext {
                without_blanks: true,
                is_in_list: true,
                ..values::ValueContext::default()
            };
            (looks.has_letters_and_digits() && (looks.len >= 8 || looks.class_changes >= 2)
                || looks.looks_random())
                && super::names::judge_name(content).is_none()
                && !is_technical_term(content)
                && values::is_secret_value(text, value, super::names::NameStrength::Password, joint)
                || super::grades::grade_word(content).is_some()
        }
    };
    enough.then_some(FoundSecret { start: value.start, end: value.end, kind: "password" })
}

/// Returns whether the digits belong to a technical term, as in `base64-encoded`, `SHA-256`, `8-64` and `v1.2.3`.
fn is_technical_term(content: &[u8]) -> bool {
    let looks = profile_value(content);
    looks.symbols == 0 && looks.class_changes < 2 && content.iter().any(|byte| !byte.is_ascii_alphanumeric())
        || looks.letters() < 3
        || content.iter().all(u8::is_ascii_hexdigit) && content.len() >= 32
}

/// Returns the length of the run of printable ASCII characters and accented letters at the start of `text`, without
/// punctuation at its end.
pub fn length_of_value_in_sentence(text: &[u8]) -> usize {
    let length = text
        .iter()
        .take(1024)
        .take_while(|byte| {
            byte.is_ascii_graphic() && !b"\"'`,;()<>[]{}".contains(byte) || made_up::is_accented(**byte)
        })
        .count();
    // An accented letter has two bytes and must not be split.
    let length = length - usize::from(length > 0 && matches!(text[length - 1], 0xc3..=0xc5));
    let dots =
        text[..length].iter().rev().take_while(|byte| matches!(byte, b'.' | b':' | b'!' | b'?')).count();
    // The exclamation mark in `Herbst2024!` belongs to the password.
    let kept = usize::from(dots == 1 && text[length - 1] == b'!');
    length - dots + kept
}

/// Returns whether the name of a list of secrets comes before a bracket, as in `passwords: ` and `"passwords" = `.
#[inline]
pub fn is_after_secret_list_name(before: &[u8]) -> bool {
    let name = before.trim_ascii_end();
    let Some((b':' | b'=', name)) = name.split_last() else { return false };
    let name = name.trim_ascii_end();
    let name = name.strip_suffix(b"\"").unwrap_or(name);
    // Session libraries accept lists of secrets, as in `session({ secret: ['x'] })` and
    // `cookieSession({ keys: ['x'] })`.
    let session = || {
        let line = super::context::text_after_last_break(&name[name.len().saturating_sub(80)..]);
        super::contains_bytes(line, b"ession(")
    };
    super::classes::ends_with_ignore_case(name, "passwords")
        || (name.ends_with(b"secret") || name.ends_with(b"keys")) && session()
        || names_many_secrets(name)
}

/// Returns whether a name is the plural of a secret's name, such as `api_keys` or `tokens`.
fn names_many_secrets(name: &[u8]) -> bool {
    let name =
        &name[name.len() - super::classes::class_run_length_at_end(name, super::classes::BASE64_URL, 40)..];
    let Some((b's' | b'S', one)) = name.split_last() else { return false };
    super::names::judge_name(one)
        .is_some_and(|verdict| verdict.strength == super::names::NameStrength::Secret)
}

/// Finds the items of `passwords: [x, "y"]`. `at` is just after the bracket.
pub fn secrets_in_list(text: &[u8], at: usize, hits: &mut Vec<FoundSecret>) {
    const MAX_LIST_ITEMS: usize = 100;
    let before = text[..at - 1].trim_ascii_end();
    let name = before[..before.len().saturating_sub(1)].trim_ascii_end();
    let many = names_many_secrets(name.strip_suffix(b"\"").unwrap_or(name));
    let mut at = at;
    for _ in 0..MAX_LIST_ITEMS {
        at += text[at..].iter().take(80).take_while(|byte| byte.is_ascii_whitespace()).count();
        let Some(value) = values::literal_value_at(text, at) else { return };
        let content = &text[value.start..value.end];
        let plausible = if many {
            value.is_quoted && is_strong_secret(content)
        } else {
            made_up::made_up_certainty(content).is_some()
                || profile_value(content).has_letters_and_digits() && content.len() >= 8
        };
        // A path such as `process.env.KEY1` is not a literal.
        let member =
            !value.is_quoted && content.contains(&b'.') && !made_up::consists_of_everyday_nouns(content);
        if plausible && !member && !super::contains_bytes(content, b"REDACTED") {
            hits.push(FoundSecret { start: value.start, end: value.end, kind: "password" });
        }
        at = value.end + usize::from(value.is_quoted);
        if byte_or_newline(text, at) != b',' {
            return;
        }
        at += 1;
    }
}

/// Returns whether a value can only be a key or a token: it is long and random, and is neither a hash nor an id.
fn is_strong_secret(content: &[u8]) -> bool {
    let looks = profile_value(content);
    looks.len >= 20
        && looks.looks_random()
        && looks.digits > 1
        && !content.iter().any(|byte| b" /.:@".contains(byte))
        && (looks.upper > 1 && looks.lower > 1)
}

/// Finds an item such as `- x` in a list below `passwords:`. `at` points to the dash.
pub fn secret_in_list_item(text: &[u8], at: usize) -> Option<FoundSecret> {
    if byte_or_newline(text, at + 1) != b' ' {
        return None;
    }
    let value = values::literal_value_at(text, at + 2)?;
    let ends = matches!(byte_or_newline(text, value.end + usize::from(value.is_quoted)), b'\n' | b'\r');
    let content = &text[value.start..value.end];
    let plausible = made_up::made_up_certainty(content).is_some()
        || profile_value(content).has_letters_and_digits() && content.len() >= 8;
    if !ends || !plausible || super::contains_bytes(content, b"REDACTED") {
        return None;
    }
    let before = &text[at.saturating_sub(400)..at];
    // The only item of a list may be a token, as in `access_token:` with `- x` below it.
    if is_strong_secret(content)
        && let Some((b':', label)) = before.trim_ascii_end().split_last()
    {
        let label = label.strip_suffix(b"\"").unwrap_or(label);
        let label = &label
            [label.len() - super::classes::class_run_length_at_end(label, super::classes::BASE64_URL, 40)..];
        let one = super::names::judge_name(label)
            .is_some_and(|verdict| verdict.strength != super::names::NameStrength::PossiblySecret);
        return (one || names_many_secrets(label)).then_some(FoundSecret {
            start: value.start,
            end: value.end,
            kind: "token",
        });
    }
    let name = memchr::memmem::rfind(before, b"asswords:")?;
    let items = before[name + 9..].split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    let list = items.filter(|line| !line.is_empty()).all(|line| {
        line.starts_with(b"-") && is_byte_in_class(byte_or_newline(line, 2), LETTER)
            || line.starts_with(b"- ")
    });
    list.then_some(FoundSecret { start: value.start, end: value.end, kind: "password" })
}
