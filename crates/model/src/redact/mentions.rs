//! Passwords in a line that mentions a password, in any word order: `the root password is still x`,
//! `j'ai remis ton mot de passe à « x »`, `x is the old password`, `root / x (password from the sticker)`.
//!
//! The line is split into words. The noun determines the kind of secret. The word before a value determines whether a
//! value is expected ([`ExpectedNext`]). The value is graded by how much it looks like a password
//! ([`grades::PasswordGrade`]). One grammar serves all languages, because the words for `is`, `as` and `of` take the
//! same positions in all of them.

use super::FoundSecret;
use super::classes::{DIGIT, LETTER, LETTER_OR_DIGIT, LOWER, UPPER, byte_or_newline, is_byte_in_class};
use super::grades::{PasswordGrade, grade_word};
use super::names::{WordList, word_list};
use super::nouns::{SecretNoun, does_word_alone_name_secret, secret_noun_at};
use super::words::{LineWord, end_of_line_within_reach, start_of_line_within_reach, words_between};
use super::{answers, made_up, named, shape};

/// The maximum number of words that are read on each side of the noun.
const MAX_WORDS_READ_AROUND_NOUN: usize = 16;

/// What is expected after a word.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ExpectedNext {
    /// A value, as after `is` and after a colon.
    Value,
    /// Any kind of word.
    Anything,
    /// A name is expected next, as after `for` and `of`.
    Name,
}

/// Words that come right before a value.
pub static WORDS_BEFORE_VALUE: WordList = word_list(
    "\
    answer are be became becomes been being bleibt blijft – — c'est called continua è é était devient diventa \
    enter equal equals era es est etait fica foi heisst heißt is ist it's its lautet lautete luidt - -> namely \
    now nämlich / queda reads remains resta reste rimane s sarà says sei sendo sera será siendo sigue soit \
    sprich stays try type use using vale vaut viz voici war was were wird worden wordt : = =>",
);

/// Words that come before a value in a line about setting a password.
static WORDS_BEFORE_NEW_VALUE: WordList = word_list(
    "\
    a auf avec com con à en from in into met mit naar op par para por su to with zu",
);

/// Stems of verbs that mean setting a password.
const STEMS_OF_SETTING_VERBS: &str = "set reset chang updat rotat switch revert replac gesetzt geänd zurück änder remis modif rempla réinit défin cambi puse puest restabl actualiz mud alter troc troq redefin defin impost reimpost modific aggiorn gewijzigd gezet veranderd aangepast ingesteld login";

/// Words that come before the owner of a password.
static WORDS_BEFORE_OWNER: WordList = word_list(
    "\
    a account al alla am an and at benutzer by d' da das database db de dei del della dello dem den der des di \
    do dos du e et for from für gebruiker het host im in l' la le les o oder of on or ou para per pour server \
    sur the to und user username usuario usuário utente utilisateur van vom von voor y",
);

/// Fillers such as `now` and `please`. They do not change whether a value or a name is expected next.
static IGNORED_WORDS: WordList = word_list(
    "\
    actualmente actuellement adesso again agora ahora ainda aktuell alsjeblieft altijd always ancora attualmente \
    atualmente aún bitte currently désormais encore exactly immer jetzt just kindly literally maintenant \
    momentan momenteel même noch nog now nu nun only ora please sempre siempre simply steeds still svp \
    temporarily todavía toujours weiterhin",
);

/// Words between a value and a noun that follows it.
static WORDS_JOINING_VALUE_TO_NOUN: WordList = word_list(
    "\
    als are as → come comme como è é était era es est foi for is ist -> that's thats this und war was were <- = \
    =>",
);

/// Verbs that come before a value that somebody types in, such as `enter`.
static TYPING_VERBS: WordList = word_list(
    "\
    digita digite enter entered entering escribe tape tapez tippe typ type typed typing use used using",
);

/// Finds the password in the line around the noun `text[start..end]`.
pub fn secret_near_noun(text: &[u8], start: usize, end: usize, floor: usize) -> Option<FoundSecret> {
    if let Some(hit) = answers::recovery_phrase_or_code(text, start, end, floor) {
        return Some(hit);
    }
    let Some((noun, start, end)) = secret_noun_at(text, start, end, floor) else {
        return answers::secret_printed_by_command(text, start, end, floor);
    };
    // Assignments to an ASCII noun for a secret are skipped here, because another scanner handles them.
    if matches!(byte_or_newline(text, end), b':' | b'=') {
        if noun == SecretNoun::Secret && text[end - 1].is_ascii() && !text[start..end].contains(&0xc3) {
            return None;
        }
        if let Some(hit) = named::secret_assigned_at(text, end, floor) {
            return Some(hit);
        }
    }
    let (line_start, line_end) =
        (start_of_line_within_reach(text, start, floor), end_of_line_within_reach(text, end));
    secret_after_noun(text, start, end, line_end, noun)
        .or_else(|| secret_before_noun(text, line_start, start, end, noun))
        .or_else(|| answers::secret_on_line_below(text, line_start, end, line_end, noun))
        .filter(|hit| hit.start >= floor)
}

/// Returns whether a part of a line can contain a password, that is, whether it contains a digit, a capital inside a
/// word, or words joined by dashes. Most lines about passwords contain none of these.
fn may_contain_password(line: &[u8]) -> bool {
    let mut dashes = 0;
    line.windows(3).any(|three| {
        let joined = is_byte_in_class(three[0], LETTER)
            && matches!(three[1], b'-' | b'_')
            && is_byte_in_class(three[2], LETTER);
        dashes += usize::from(joined);
        let hump = is_byte_in_class(three[0], LOWER)
            && is_byte_in_class(three[1], UPPER)
            && is_byte_in_class(three[2], LOWER);
        is_byte_in_class(three[1], DIGIT)
            || is_byte_in_class(three[2], DIGIT)
            || hump
            || dashes > 1
            || joined && is_byte_in_class(three[2], UPPER)
    })
}

/// Returns whether one of the last two words is an everyday noun, as in `mudei a senha para biscuit` and
/// `Passwort auf biscuit geändert`.
fn ends_with_noun(line: &[u8]) -> bool {
    let marks = |byte: &u8| matches!(byte, b'.' | b'!' | b'"' | b'\'' | b'`' | b')');
    let line = line.trim_ascii_end();
    let line = &line[..line.len() - line.iter().rev().take(3).take_while(|byte| marks(byte)).count()];
    line.rsplit(|byte| matches!(byte, b' ' | b'"' | b'`' | b'('))
        .take(2)
        .any(made_up::is_noun_not_used_as_modifier)
}

fn secret_after_noun(
    text: &[u8],
    start: usize,
    end: usize,
    line_end: usize,
    noun: SecretNoun,
) -> Option<FoundSecret> {
    let line = &text[end..line_end];
    if !(may_contain_password(line) || noun == SecretNoun::Password && ends_with_noun(line)) {
        return None;
    }
    // Names in code are ASCII, so the name in `contraseña=x` belongs to prose.
    let foreign = !text[..end].last().is_some_and(u8::is_ascii) || text[start..end].contains(&0xc3);
    let end = end + usize::from(foreign && matches!(byte_or_newline(text, end), b'=' | b':'));
    let stated = foreign && matches!(text[end - 1], b'=' | b':');
    let rest = &text[end..line_end];
    let mut slot = match (byte_or_newline(rest, 0), byte_or_newline(rest, 1)) {
        _ if stated => ExpectedNext::Value,
        (b':' | b'=', _) => ExpectedNext::Value,
        (b' ', _) if noun == SecretNoun::Password => ExpectedNext::Value,
        (b',', b' ')
            if noun == SecretNoun::Password && is_next_word_between_commas(text, end + 1, line_end) =>
        {
            ExpectedNext::Value
        }
        _ => ExpectedNext::Anything,
    };
    let assigned = matches!(byte_or_newline(rest, 0), b':' | b'=');
    let (mut first, mut seen_name, mut astray, mut answered) = (true, false, false, false);
    // Whether another label came between the noun and the word, as in `passcode count: 81432`.
    let mut labelled = false;
    let sets = || {
        let line = &text[start.saturating_sub(80)..line_end];
        let line =
            &line[memchr::memrchr(b'\n', &line[..start - start.saturating_sub(80)]).map_or(0, |at| at + 1)..];
        STEMS_OF_SETTING_VERBS.split(' ').any(|verb| super::contains_bytes(line, verb.as_bytes()))
    };
    for word in words_between(text, end, line_end).take(MAX_WORDS_READ_AROUND_NOUN) {
        let bare = word.bytes(text);
        // A remark in brackets is skipped, as in `the client secret (don't commit!) is x`.
        if grade_word(bare).is_none() && is_in_bracketed_remark(text, &word, line_end) {
            continue;
        }
        // Another noun ends the search, because that noun has its own value. A line such as `-----BEGIN …` also ends
        // it, because another scanner finds keys in this format.
        if does_word_alone_name_secret(bare) || bare.starts_with(b"-----") {
            return None;
        }
        if let Some(hit) = password_of_pair(text, &word, noun) {
            return Some(hit);
        }
        // A line with braces or semicolons is code.
        if text[end..word.start].iter().any(|byte| matches!(byte, b'{' | b'}' | b';')) {
            return None;
        }
        let least = match (slot, noun) {
            (ExpectedNext::Value, SecretNoun::Password) => Some(PasswordGrade::Likely),
            (ExpectedNext::Value, SecretNoun::Secret) if !astray => Some(PasswordGrade::Likely),
            (ExpectedNext::Value, SecretNoun::Pair) => None,
            (ExpectedNext::Anything, SecretNoun::Password) if is_between_commas(text, &word) => {
                Some(PasswordGrade::Likely)
            }
            (ExpectedNext::Anything, SecretNoun::Password) => Some(PasswordGrade::Obvious),
            _ => None,
        };
        let english =
            noun == SecretNoun::Secret && !foreign && matches!(text[start] | 32, b's' | b't' | b'k');
        if let Some(least) = least
            && grade_word(bare) >= Some(least)
            && !word.is_part_of_code(text)
            && !(assigned && bare.iter().all(|byte| is_byte_in_class(*byte, LETTER)))
            && (!english || bare.iter().any(u8::is_ascii_digit) || bare.contains(&b'-'))
        {
            return Some(word.to_found_secret());
        }
        // An everyday noun can be a password only where a value is expected, such as after `is`.
        if slot == ExpectedNext::Value
            && noun == SecretNoun::Password
            && (!first || stated || made_up::ends_clause(text, word.end))
            && (!labelled || seen_name)
            && made_up::is_noun_not_used_as_modifier(bare)
            && !word.is_part_of_code(text)
            && !assigned
            && !matches!(byte_or_newline(text, end), b'"' | b'\'' | b'`' | b',')
        {
            let phrase = super::sentences::passphrase_length(&text[word.start..]);
            return Some(FoundSecret {
                end: phrase.map_or(word.end, |length| word.start + length),
                ..word.to_found_secret()
            });
        }
        // A long hexadecimal or base64 value right after the noun is a password, unless the line mentions a hash.
        if slot == ExpectedNext::Value
            && noun == SecretNoun::Password
            && first
            && is_long_random_value(bare)
            && !mentions_hash(&text[start.saturating_sub(60)..line_end])
        {
            return Some(word.to_found_secret());
        }
        // A number at the end of its clause may be a password.
        if slot == ExpectedNext::Value
            && noun == SecretNoun::Password
            && !first
            && (6..=16).contains(&bare.len())
            && bare.iter().all(|byte| is_byte_in_class(*byte, DIGIT))
            && made_up::ends_clause(text, word.end)
        {
            return Some(word.to_found_secret());
        }
        // A PIN is a number, as in `the pin for the safe is 354577`.
        if slot == ExpectedNext::Value
            && (assigned || !first)
            && !labelled
            && is_pin_noun(&text[start..end])
            && is_pin(bare)
        {
            return Some(word.to_found_secret());
        }
        // A hexadecimal key is redacted if the line states it, as in `le secret est 9c1a…`, or tells the reader to use
        // it, as in `utilise le jeton 9c1a…`.
        let is_key = text[start..end].eq_ignore_ascii_case(b"key");
        if noun == SecretNoun::Secret
            && (first || slot == ExpectedNext::Value && !is_key && !labelled)
            && is_hex_key(bare)
            && (slot == ExpectedNext::Value && !first
                || asks_reader_to_use_value(&text[start.saturating_sub(40)..start], &text[start..end]))
            && !mentions_hash(&text[start.saturating_sub(60)..line_end])
        {
            return Some(FoundSecret { kind: "token", ..word.to_found_secret() });
        }
        // The value may be part of a file name, as in `touch 'wifi password x.md'`.
        if slot == ExpectedNext::Value
            && noun == SecretNoun::Password
            && let Some(dot) = memchr::memrchr(b'.', bare)
            && matches!(&bare[dot + 1..], b"md" | b"txt" | b"zip" | b"pdf" | b"docx" | b"log" | b"png")
            && grade_word(&bare[..dot]).is_some()
        {
            return Some(FoundSecret { start: word.start, end: word.start + dot, kind: "password" });
        }
        labelled |= word.has_colon
            && bare.iter().any(|byte| is_byte_in_class(*byte, LETTER_OR_DIGIT))
            && !is_pin_noun(bare);
        slot = if word.has_colon
            || WORDS_BEFORE_VALUE.contains_word(bare) && !IGNORED_WORDS.contains_word(bare)
            || WORDS_BEFORE_NEW_VALUE.contains_word(bare) && sets()
        {
            ExpectedNext::Value
        } else if IGNORED_WORDS.contains_word(bare) {
            slot
        } else if WORDS_BEFORE_OWNER.contains_word(bare) {
            ExpectedNext::Name
        } else {
            ExpectedNext::Anything
        };
        first = false;
        if noun == SecretNoun::Secret
            && slot != ExpectedNext::Name
            && is_random_token(bare)
            && !super::lines_about_secrets::is_wallet_address(bare)
            && !word.is_part_of_code(text)
        {
            return shape::token_starting_at(text, word.start, word.start)
                .or(Some(FoundSecret { kind: "token", ..word.to_found_secret() }));
        }
        // The rules are stricter after a noun such as "secret" or "key". A line with such a noun often states no
        // value. It only describes the secret, or assigns it in code.
        astray |= noun == SecretNoun::Secret
            && (english
                && (word.has_colon && bare.iter().any(|byte| is_byte_in_class(*byte, LETTER_OR_DIGIT))
                    || matches!(bare, b"=" | b":" | b"=>" | b"->" | b"-" | b"/"))
                || slot == ExpectedNext::Anything && !is_adjective(bare) && !seen_name
                || text[word.end..].starts_with(b","));
        seen_name |= slot == ExpectedNext::Name;
        if bare.iter().all(|byte| *byte == b'.') {
            slot = ExpectedNext::Value;
            continue;
        }
        // An answer may follow, as in `"what's the password?" "x"`.
        if byte_or_newline(text, word.end) == b'?'
            && matches!(byte_or_newline(text, word.end + 1), b'"')
            && !answered
        {
            answered = true;
            slot = ExpectedNext::Value;
            continue;
        }
        if word.ends_sentence && !does_next_sentence_continue(text, word.end, line_end) {
            return None;
        }
    }
    None
}

/// Returns whether a noun names a number, such as a PIN or a door code.
fn is_pin_noun(noun: &[u8]) -> bool {
    ["pin", "passcode", "code", "combination", "combo"]
        .iter()
        .any(|known| noun.eq_ignore_ascii_case(known.as_bytes()))
}

fn is_pin(word: &[u8]) -> bool {
    (4..=10).contains(&word.len()) && word.iter().all(|byte| is_byte_in_class(*byte, DIGIT))
}

fn is_hex_key(word: &[u8]) -> bool {
    (32..=64).contains(&word.len()) && word.iter().all(u8::is_ascii_hexdigit)
}

/// Returns whether the line tells the reader, in one of the supported languages, to use what follows.
fn asks_reader_to_use_value(before: &[u8], noun: &[u8]) -> bool {
    // After `key`, a value is accepted only if the line mentions an API or access key. In `using RSA key 1EF8…` the
    // value is the id of a public key.
    if noun.eq_ignore_ascii_case(b"key") {
        return before.ends_with(b"API ") || before.ends_with(b"api ") || before.ends_with(b"access ");
    }
    [
        "use ", "Use ", "using ", "with ", "tilise", "tilisez", "usa ", "Usa ", "use o ", "erwende ",
        "utze ", "imm ", "ebruik ", "tilizza ", "sando ",
    ]
    .iter()
    .any(|verb| super::contains_bytes(before, verb.as_bytes()))
}

/// Returns whether a word belongs to a bracketed remark of several words that is followed by `is`.
fn is_in_bracketed_remark(text: &[u8], word: &LineWord, line_end: usize) -> bool {
    let before = &text[word.start.saturating_sub(60)..word.start];
    let Some(open) = memchr::memrchr2(b'(', b')', before).filter(|at| before[*at] == b'(') else {
        return false;
    };
    let start = word.start - before.len() + open;
    let Some(close) = memchr::memchr(b')', &text[start..line_end]) else { return false };
    memchr::memchr(b' ', &text[start..start + close]).is_some() && text[start + close..].starts_with(b") is ")
}

/// Returns whether a word is a long random value, which may be hexadecimal.
fn is_long_random_value(word: &[u8]) -> bool {
    (24..=128).contains(&word.len())
        && word
            .iter()
            .all(|byte| is_byte_in_class(*byte, super::classes::BASE64 | super::classes::BASE64_URL))
        && !word.contains(&b'/')
        && super::chance::profile_value(word).looks_random()
        && super::chance::profile_value(word).digits > 1
}

fn mentions_hash(line: &[u8]) -> bool {
    [
        &b"hash"[..],
        b"Hash",
        b"HASH",
        b"sha",
        b"SHA",
        b"md5",
        b"MD5",
        b"digest",
        b"commit",
        b"bcrypt",
        b"uuid",
        b" id ",
    ]
    .iter()
    .any(|word| super::contains_bytes(line, word))
}

/// Returns whether a word can only be a token or a key: it is long and mixes digits and letters of both cases.
fn is_random_token(word: &[u8]) -> bool {
    let looks = super::chance::profile_value(word);
    (24..=200).contains(&word.len())
        && word
            .iter()
            .all(|byte| is_byte_in_class(*byte, super::classes::BASE64 | super::classes::BASE64_URL))
        && !word.contains(&b'/')
        && looks.digits > 0
        && looks.upper > 2
        && looks.lower > 2
        && looks.class_changes * 4 >= looks.len
}

/// Returns whether the word after `clé`, `chiave` or `secret` is an adjective, as in `clé secrète`, `chiave segreta`
/// and `secret partagé`.
fn is_adjective(word: &[u8]) -> bool {
    [
        "secr", "segr", "partag", "api", "wifi", "priv", "condivi", "compart", "maest", "root", "admin",
        "geheim",
    ]
    .iter()
    .any(|stem| super::classes::starts_with_ignore_case(word, stem))
}

fn is_between_commas(text: &[u8], word: &LineWord) -> bool {
    byte_or_newline(text, word.end) == b',' && text[..word.start].trim_ascii_end().ends_with(b",")
}

/// Returns whether the next word is between commas, as in `the old password, x, still works`.
fn is_next_word_between_commas(text: &[u8], at: usize, line_end: usize) -> bool {
    words_between(text, at, line_end).next().is_some_and(|word| byte_or_newline(text, word.end) == b',')
}

/// Returns whether the next sentence continues the statement, as in `I changed the password. It's x`.
fn does_next_sentence_continue(text: &[u8], end: usize, line_end: usize) -> bool {
    words_between(text, end, line_end).next().is_some_and(|word| {
        ["it", "it's", "its", "c'est", "es", "é", "è", "now"]
            .iter()
            .any(|known| word.bytes(text).eq_ignore_ascii_case(known.as_bytes()))
    })
}

/// Finds a value before the noun, as in `x is the password`, `use x as the password` and `root / x (password …)`.
fn secret_before_noun(
    text: &[u8],
    line_start: usize,
    start: usize,
    end: usize,
    noun: SecretNoun,
) -> Option<FoundSecret> {
    if noun != SecretNoun::Password {
        return None;
    }
    if let Some(hit) = words_that_are_the_password(text, line_start, start, end) {
        return Some(hit);
    }
    if !may_contain_password(&text[line_start..start]) {
        return None;
    }
    let mut line = [LineWord::default(); 2 * MAX_WORDS_READ_AROUND_NOUN];
    let mut count = 0;
    for word in words_between(text, line_start, start) {
        if count == line.len() {
            line.rotate_left(1);
            count -= 1;
        }
        line[count] = word;
        count += 1;
    }
    let line = &line[..count];
    let whole = made_up::ends_clause(text, end) || is_preposition_next(text, end);
    for (back, joint) in line.iter().enumerate().rev().take(5) {
        let Some(value) = back.checked_sub(1).map(|at| &line[at]) else { break };
        let bare = joint.bytes(text);
        if joint.ends_sentence {
            break;
        }
        if WORDS_JOINING_VALUE_TO_NOUN.contains_word(bare)
            && whole
            && grade_word(value.bytes(text)) >= Some(PasswordGrade::Likely)
            && !value.is_part_of_code(text)
        {
            return Some(value.to_found_secret());
        }
    }
    // The value may follow a typing verb, as in `type x at the password prompt`.
    let typed = line.windows(2).find_map(|two| {
        let [verb, value] = two else { return None };
        let told = TYPING_VERBS.contains_word(verb.bytes(text))
            && grade_word(value.bytes(text)) >= Some(PasswordGrade::Likely)
            && !value.is_part_of_code(text);
        told.then(|| value.to_found_secret())
    });
    if typed.is_some() {
        return typed;
    }
    // The value may be the second part of `user / x`.
    line.windows(3).find_map(|three| {
        let [user, mark, value] = three else { return None };
        let told = mark.bytes(text) == b"/" && user.end > user.start && !user.has_colon;
        (told && grade_word(value.bytes(text)) >= Some(PasswordGrade::Likely) && !value.is_part_of_code(text))
            .then(|| value.to_found_secret())
    })
}

/// Finds the password at the start of a sentence such as `falcon is the password` or
/// `"copper.kettle" is our root password`.
fn words_that_are_the_password(
    text: &[u8],
    line_start: usize,
    start: usize,
    end: usize,
) -> Option<FoundSecret> {
    let before = &text[line_start..start];
    let verb = memchr::memmem::find(before, b" is ").filter(|verb| before.len() - verb < 32)?;
    let ends = made_up::ends_clause(text, end) || is_preposition_next(text, end);
    let article = [&b" is the "[..], b" is our ", b" is my ", b" is your "]
        .iter()
        .any(|words| before[verb..].starts_with(words));
    let value = words_between(text, line_start, line_start + verb).last().filter(|_| ends && article)?;
    let alone =
        before[..value.start - line_start].iter().all(|byte| !is_byte_in_class(*byte, LETTER_OR_DIGIT))
            || matches!(before.get(value.start - line_start - 1), Some(b'"' | b'\'' | b'`'));
    let content = value.bytes(text);
    let told = made_up::is_noun_not_used_as_modifier(content)
        || made_up::consists_of_joined_words(content)
            && content.iter().any(|byte| !is_byte_in_class(*byte, LETTER));
    (alone && told && !value.is_part_of_code(text)).then(|| value.to_found_secret())
}

/// Returns whether a preposition, a verb or a conjunction follows the noun, as in `the password for the vpn`.
fn is_preposition_next(text: &[u8], end: usize) -> bool {
    let line_end = end_of_line_within_reach(text, end);
    byte_or_newline(text, end) == b' '
        && words_between(text, end, line_end).next().is_some_and(|word| {
            let bare = word.bytes(text);
            WORDS_BEFORE_OWNER.contains_word(bare)
                || WORDS_BEFORE_VALUE.contains_word(bare)
                || matches!(bare, b"when" | b"if" | b"here" | b"there" | b"wenn" | b"quand")
        })
}

/// Finds the password in `admin:x` and `admin/x`.
fn password_of_pair(text: &[u8], word: &LineWord, noun: SecretNoun) -> Option<FoundSecret> {
    if noun == SecretNoun::Secret {
        return None;
    }
    let bare = word.bytes(text);
    let mark = bare.iter().position(|byte| matches!(byte, b':' | b'/'))?;
    let (user, password) = (&bare[..mark], &bare[mark + 1..]);
    let named = user.len() > 1
        && user.iter().all(|byte| {
            is_byte_in_class(*byte, LETTER_OR_DIGIT) || matches!(byte, b'.' | b'_' | b'-' | b'@')
        })
        && is_byte_in_class(user[0], LETTER);
    let told = named && grade_word(password) >= Some(PasswordGrade::Likely) && !word.is_part_of_code(text);
    told.then_some(FoundSecret { start: word.start + mark + 1, end: word.end, kind: "password" })
}
