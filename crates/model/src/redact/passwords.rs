//! Decides whether the value after a password's name is a password. Any literal is accepted except for text that is
//! typical of code, forms and sentences.

use super::chance::ValueProfile;
use super::classes::{
    DIGIT, IDENTIFIER_BYTE, LETTER, LOWER, UPPER, byte_or_newline, is_byte_in_class, starts_with_ignore_case,
};
use super::made_up::PasswordCertainty;
use super::values::{
    LiteralValue, ValueContext, is_constant_name, is_numbered_variable, is_type_or_algorithm_name,
};
use super::{context, languages, lexicon, made_up, names};

/// Returns whether a value is a literal password, which is anything that is not obviously code or prose.
pub fn is_literal_password(
    text: &[u8],
    value: LiteralValue,
    looks: &ValueProfile,
    joint: ValueContext,
) -> bool {
    let content = &text[value.start..value.end];
    if looks.len < 3 {
        return false;
    }
    let plain = looks.letters() == looks.len
        || content
            .iter()
            .all(|byte| made_up::is_latin_letter(*byte) || matches!(byte, b'_' | b'-' | b'.' | b' '));
    if plain && mentions_password(content) {
        return false;
    }
    if content.contains(&b' ') {
        // In a shell, a quoted value such as `PGPASSWORD='my pass word' psql` is not a sentence.
        let assigned = joint.is_env_style && joint.without_blanks;
        return value.is_quoted
            && (assigned || is_passphrase(content) || is_phrase_with_digit_inside_word(content));
    }
    if value.is_quoted {
        // The value in `"password": "Passwort"` is a label. Labels contain no full stops.
        let label = is_byte_in_class(content[0], UPPER)
            && looks.upper == 1
            && !content.contains(&b'.')
            && !(joint.without_blanks && joint.is_in_list)
            && made_up::made_up_certainty(content).is_none();
        let state = !joint.without_blanks && made_up::is_password_state_word(content);
        // A table in a minified program may contain `{password:"SessionToken"}`, where the value is a name and not a
        // password.
        let named =
            || looks.class_changes > 0 && !joint.without_blanks && names::judge_name(content).is_some();
        return !(plain && (label || state || is_constant_name(content) || named()));
    }
    if made_up::consists_of_everyday_nouns(content)
        || made_up::consists_of_joined_words(content) && is_printed_object(text, value)
    {
        return true;
    }
    // A sentence may follow the name, as in `DB_PASSWORD: the password of the database`.
    let fruit = looks.len >= 6
        && lexicon::count_everyday_nouns(content) > 0
        && !made_up::is_common_word_or_its_plural(content)
        && made_up::ends_clause(text, value.end);
    let sentence = !joint.without_blanks
        && !fruit
        && plain
        && byte_or_newline(text, value.end) == b' '
        && is_byte_in_class(byte_or_newline(text, value.end + 1), LETTER);
    // The value may be the label of a form, as in `label.password=Mot de passe`.
    let labelled = plain
        && !fruit
        && !joint.is_env_style
        && !joint.is_in_list
        && is_rest_of_line_prose(&text[value.end..]);
    if fruit && byte_or_newline(text, value.end) == b' ' && is_rest_of_line_prose(&text[value.end..]) {
        return true;
    }
    if is_type_or_algorithm_name(content) || sentence || labelled {
        return false;
    }
    let separated = content.iter().any(|byte| matches!(byte, b'_' | b'-' | b'.'));
    if looks.digits == looks.len {
        return looks.len >= if joint.without_blanks { 4 } else { 5 };
    }
    if joint.is_env_style {
        return joint.without_blanks || !(plain && separated) || made_up::consists_of_joined_words(content);
    }
    let joined = content.iter().any(|byte| matches!(byte, b'.' | b'-'))
        && matches!(byte_or_newline(text, value.end), b'\n' | b'\r');
    // The value may be in a YAML flow mapping, as in `- { name: bob, password: Copper.kettle }`.
    let flow = matches!(text[value.end..], [b'}', ..] | [b' ', b'}', ..])
        && context::text_after_last_break(&text[value.start.saturating_sub(120)..value.start])
            .trim_ascii_start()
            .starts_with(b"- {");
    if flow && made_up::made_up_certainty(content).is_some() {
        return true;
    }
    if made_up::is_noun_not_used_as_modifier(content) && has_note_after(text, value) {
        return true;
    }
    if made_up::consists_of_joined_words(content)
        && (has_note_after(text, value)
            || (joint.without_blanks || joined || is_note_label(text, value))
                && !is_argument_or_member(text, value))
    {
        return true;
    }
    // Values such as `user-name`, `user_name` and `user.name` are names, unless capitals occur inside them as in
    // `Otter-rKqWb`.
    let next = byte_or_newline(text, value.end);
    let passed = matches!(next, b',' | b')');
    let ends = !(passed || next == b';' || plain && next == b' ');
    let humped = separated && looks.class_changes >= 2 && ends;
    if plain {
        // `connect(password=secret)` passes a variable, but `password=secret` at the end of a line sets a password.
        let literal =
            (joint.without_blanks && !separated && !passed && !made_up::is_password_state_word(content))
                || is_only_word_on_line(text, value);
        // Printed objects often have a form such as `Config(user=app, password=word, ssl=false)`.
        let rest = &text[value.end..text.len().min(value.end + 60)];
        let printed = passed
            && joint.without_blanks
            && looks.len >= 6
            && [&b"=false"[..], b"=true", b"=null"].iter().any(|word| super::contains_bytes(rest, word));
        let capitals = looks.upper == looks.len && looks.len >= 16; // longer than any word
        return joint.is_in_list || literal || printed || humped || capitals || looks.looks_random();
    }
    // A value such as `violet-cobalt-85` must end its line. In code, the same text would be a subtraction.
    let summed = is_words_and_number(content) && matches!(next, b'\n' | b'\r' | 0);
    let name_like = separated && looks.symbols == 0 && !humped && !summed;
    joint.without_blanks || !(name_like || is_numbered_variable(content)) || looks.looks_random()
}

/// Returns whether the text after the value, up to the end of the line, consists only of words.
fn is_rest_of_line_prose(rest: &[u8]) -> bool {
    let line = &rest[..rest.iter().take(80).position(|byte| *byte == b'\n').unwrap_or(rest.len().min(80))];
    let words = line.strip_prefix(b" ").unwrap_or_default();
    !words.is_empty()
        && words.iter().all(|byte| made_up::is_latin_letter(*byte) || matches!(byte, b' ' | b'\'' | b'.'))
}

/// Returns whether the value is followed by a note or a closing mark that does not occur in code, as in
/// `password: CopperKettle (shown once)`, `… (password: CopperKettle)` and `/* password: CopperKettle */`.
fn has_note_after(text: &[u8], value: LiteralValue) -> bool {
    let rest = &text[value.end..];
    if rest.starts_with(b" (") || rest.starts_with(b" */") || rest.starts_with(b" -->") {
        return true;
    }
    let line = context::text_after_last_break(&text[value.start.saturating_sub(120)..value.start]);
    // The whole text may be quoted, as in `git commit -m 'password: CopperKettle'`.
    if matches!(byte_or_newline(rest, 0), b'"' | b'\'') && line.contains(&byte_or_newline(rest, 0)) {
        return true;
    }
    if byte_or_newline(rest, 0) == b']' && line.trim_ascii_start().starts_with(b"[") {
        return true;
    }
    // An opening parenthesis that follows a space does not belong to a call.
    let opened = memchr::memrchr(b'(', line).is_some_and(|at| line[..at].ends_with(b" "));
    opened
        && byte_or_newline(rest, 0) == b')'
        && match byte_or_newline(rest, 1) {
            b'\n' | b'\r' | b'.' | b',' | b'"' => true,
            b' ' => is_byte_in_class(byte_or_newline(rest, 2), LOWER),
            _ => false,
        }
}

/// Returns whether the value is next to a user name in a printed object, as in `User(name=ann, password=CopperKettle)`
/// and `Config{User:ann Password:CopperKettle}`. In code, both values would be variables.
fn is_printed_object(text: &[u8], value: LiteralValue) -> bool {
    let closes = matches!(byte_or_newline(text, value.end), b')' | b']' | b'}' | b',' | b' ');
    let line = context::text_after_last_break(&text[value.start.saturating_sub(120)..value.start]);
    let Some(open) = line.iter().rposition(|byte| matches!(byte, b'(' | b'[' | b'{')) else { return false };
    let typed = line[..open].trim_ascii_end();
    let typed = &typed[typed.len()
        - typed.iter().rev().take_while(|byte| is_byte_in_class(**byte, IDENTIFIER_BYTE)).count()..];
    let is_type = typed.first().is_none_or(|first| is_byte_in_class(*first, UPPER));
    let mut members =
        line[open + 1..].split(|byte| matches!(byte, b',' | b' ')).filter(|part| !part.is_empty());
    closes
        && is_type
        && members.any(|member| {
            let Some(joint) = member.iter().position(|byte| matches!(byte, b'=' | b':')) else {
                return false;
            };
            let (name, held) = (&member[..joint], &member[joint + 1..]);
            ["user", "username", "name", "login"]
                .iter()
                .any(|known| name.eq_ignore_ascii_case(known.as_bytes()))
                && !held.is_empty()
                && held != name
        })
}

/// Returns whether the value is an argument or a member in code rather than the end of a statement.
fn is_argument_or_member(text: &[u8], value: LiteralValue) -> bool {
    // In a note, a comma may follow the value, as in `old password: x, new password: y`.
    let line = context::text_after_last_break(&text[value.start.saturating_sub(120)..value.start]);
    let end = value.end;
    match byte_or_newline(text, end) {
        b',' if is_phrase_before_name(line) => false,
        // `Password=copper-kettle-moon;` is a setting and not code, because the dashes do not mean subtraction.
        b';' if text[value.start - 1] == b'=' && text[value.start..end].contains(&b'-') => false,
        b')' | b';' => true,
        b',' => {
            byte_or_newline(text, end + 1) == b' ' && is_byte_in_class(byte_or_newline(text, end + 2), LETTER)
        }
        _ => false,
    }
}

/// Returns whether `Password: NectarSandal` is a note rather than a type annotation. It is a note if its line starts
/// with a capital, is below a line with a user name, or has words before `Password`.
fn is_note_label(text: &[u8], value: LiteralValue) -> bool {
    let before = &text[value.start.saturating_sub(120)..value.start];
    let line = context::text_after_last_break(before);
    let above = context::text_after_last_break(before[..before.len() - line.len()].trim_ascii_end());
    let starts = line.trim_ascii_start().first();
    let noted = starts
        .is_some_and(|first| is_byte_in_class(*first, UPPER) || matches!(first, b'-' | b'*' | b'#' | b'>'));
    let told = line.contains(&b'/') || line.iter().filter(|byte| **byte == b':').count() > 1;
    let user = (0..above.len()).any(|at| {
        [
            "user",
            "login",
            "ssid",
            "host",
            "server",
            "usuario",
            "benutzer",
            "utilisateur",
            "identifiant",
            "utente",
            "gebruiker",
        ]
        .iter()
        .any(|word| starts_with_ignore_case(&above[at..], word))
    });
    let labelled = noted
        || told
        || user
        || is_settings_line(above)
        || is_phrase_before_name(line)
        || is_apart_from_code(text, value, line, above);
    labelled && made_up::ends_clause(text, value.end)
}

/// Returns whether a word other than a keyword of a programming language comes before the name, as in
/// `the wifi password: `.
fn is_phrase_before_name(line: &[u8]) -> bool {
    const CODE_KEYWORDS: &str = "let const var val static public private protected internal readonly final export mut pub ref fn def func lateinit \
        override abstract optional required field property type";
    let mut words = line.trim_ascii().split(|byte| *byte == b' ');
    let last = words.next_back().unwrap_or_default();
    // The separator may be `=`, as in `master password = x`.
    let assigned = matches!(last, b"=" | b"=>");
    let last = if assigned { words.next_back().unwrap_or_default() } else { last };
    let Some(before) = words.next_back().filter(|_| assigned && !last.is_empty() || last.ends_with(b":"))
    else {
        return false;
    };
    if assigned && !before.iter().all(|byte| is_byte_in_class(*byte, LOWER)) {
        return false;
    }
    let word = before.iter().all(|byte| made_up::is_latin_letter(*byte) || matches!(byte, b'-' | b'\''));
    word && before.len() > 1
        && !CODE_KEYWORDS.split_ascii_whitespace().any(|known| known.as_bytes() == before)
}

/// Returns whether the lines above and below are empty or belong to a settings file, so that the value is not part of
/// code.
fn is_apart_from_code(text: &[u8], value: LiteralValue, line: &[u8], above: &[u8]) -> bool {
    // A declaration such as `val password: CharSequence` is code and contains no password.
    if line.trim_ascii().strip_suffix(b"=").unwrap_or(line).trim_ascii().contains(&b' ') {
        return false;
    }
    let rest = &text[value.end..text.len().min(value.end + 120)];
    let Some(first) = memchr::memchr(b'\n', rest) else {
        return value.end == text.len() && is_not_code(above);
    };
    let below = &rest[first + 1..];
    let below = &below[..memchr::memchr(b'\n', below).unwrap_or(below.len())];
    is_not_code(above) && is_not_code(below)
}

fn is_not_code(line: &[u8]) -> bool {
    let line = line.trim_ascii();
    let parent = line.strip_suffix(b":").is_some_and(|name| {
        name.iter().all(|byte| is_byte_in_class(*byte, IDENTIFIER_BYTE) || matches!(byte, b'.' | b'-'))
    });
    line.is_empty() || parent || is_settings_line(line) || is_program_message(line)
}

/// Returns whether a line consists of words, like the program message `Exit code 1`.
fn is_program_message(line: &[u8]) -> bool {
    let mut words = line.split(|byte| *byte == b' ');
    let plain = |word: &[u8]| {
        let word = word.strip_suffix(b",").or_else(|| word.strip_suffix(b".")).unwrap_or(word);
        !word.is_empty() && word.iter().all(|byte| is_byte_in_class(*byte, LETTER | DIGIT))
    };
    line.iter().filter(|byte| **byte == b' ').count() >= 2
        && line.first().is_some_and(|first| is_byte_in_class(*first, UPPER))
        && words.all(plain)
}

/// Returns whether a line belongs to a settings file and not to code, as in `- name: ann`, `host: db.example.com` and
/// `port: 587`. In code, a member ends with a comma or its value is the name of a type.
fn is_settings_line(line: &[u8]) -> bool {
    const TYPE_WORDS: &str =
        "str string int integer bool boolean bytes float number any object char none null undefined";
    let line = line.trim_ascii();
    let (listed, line) = line.strip_prefix(b"- ").map_or((false, line), |item| (true, item));
    let Some(colon) = memchr::memmem::find(line, b": ") else { return false };
    let (name, held) = (&line[..colon], line[colon + 2..].trim_ascii());
    let named = !name.is_empty()
        && name.iter().all(|byte| is_byte_in_class(*byte, IDENTIFIER_BYTE) || matches!(byte, b'.' | b'-'));
    let plain = held.iter().all(|byte| {
        is_byte_in_class(*byte, IDENTIFIER_BYTE) || matches!(byte, b'.' | b'-' | b'@' | b'/' | b':')
    });
    let typed = TYPE_WORDS.split(' ').any(|known| held.eq_ignore_ascii_case(known.as_bytes()));
    named
        && plain
        && !typed
        && (listed || held.first().is_some_and(|first| is_byte_in_class(*first, LOWER | DIGIT)))
}

/// Returns whether the whole value on a line is one word that consists only of letters, as in
/// `password: sunflowerfield` in YAML files, INI files and notes. Words that are common as names in code are
/// excluded.
fn is_only_word_on_line(text: &[u8], value: LiteralValue) -> bool {
    const NOT_PASSWORDS: &str = "plaintext encoded decoded hashed encrypted decrypted username password passwords passphrase credential         credentials expected actual provided current previous original confirmed generated random value values input output         result results response request params config settings options secret secrets element field fields object payload         variable argument parameter property default sensitive incorrect required optional redacted filtered disabled enabled         string strings varchar binary buffer option column secure safely unset missing wrong expired changed updated rejected         accepted denied failed failure success unknown anything something nothing everything external internal manual         automatic argon scrypt bcrypt";
    let content = &text[value.start..value.end];
    let next = byte_or_newline(text, value.end);
    let closes = matches!(next, b'"' | b'\'' | b'`') && made_up::made_up_certainty(content).is_some();
    let ends = closes
        || text[value.end..].starts_with(b"</") && made_up::made_up_certainty(content).is_some()
        || matches!(next, b'\n' | b'\r')
        || is_comment_next(&text[value.end..])
        || (next == b'\\' && matches!(byte_or_newline(text, value.end + 1), b'n' | b'r'));
    let line = context::text_after_last_break(&text[value.start.saturating_sub(120)..value.start]);
    let assigned = line.trim_ascii_end().ends_with(b"=");
    let capital = is_byte_in_class(content[0], UPPER);
    (content.len() >= if capital { 8 } else { 6 } || made_up::made_up_certainty(content).is_some())
        && ends
        && content.iter().skip(1).all(|byte| is_byte_in_class(*byte, LOWER))
        && !made_up::is_common_or_state_word(content)
        && !NOT_PASSWORDS.split_ascii_whitespace().any(|name| content.eq_ignore_ascii_case(name.as_bytes()))
        && (!assigned
            || made_up::made_up_certainty(content) == Some(PasswordCertainty::LongWord)
            || lexicon::count_everyday_nouns(content) > 0
            || is_below_settings_line(text, value.start - line.len()))
}

/// Returns whether only a comment follows, such as `  # rotate before friday`.
fn is_comment_next(rest: &[u8]) -> bool {
    let blanks = super::classes::count_blanks(rest, 16);
    blanks > 0 && (rest[blanks..].starts_with(b"# ") || rest[blanks..].starts_with(b"// "))
}

/// Returns whether the line above `start` belongs to a settings file, as `[section]` and `user = word` do.
fn is_below_settings_line(text: &[u8], start: usize) -> bool {
    let Some(above) = text[..start].strip_suffix(b"\n") else { return false };
    let line = context::text_after_last_break(&above[above.len().saturating_sub(80)..]).trim_ascii();
    let word = |part: &[u8]| {
        !part.is_empty()
            && part.iter().all(|byte| is_byte_in_class(*byte, IDENTIFIER_BYTE) || matches!(byte, b'.' | b'-'))
    };
    let section = line.starts_with(b"[") && line.ends_with(b"]");
    let pair = memchr::memchr(b'=', line).is_some_and(|at| {
        let (name, rest) = (line[..at].trim_ascii(), line[at + 1..].trim_ascii());
        matches!(name, b"user" | b"username" | b"login" | b"host" | b"database") && word(rest) && rest != name
    });
    section || pair
}

/// Returns whether a value consists of at least two words and a number of at least two digits, as in
/// `violet-cobalt-85`.
fn is_words_and_number(content: &[u8]) -> bool {
    let parts = || content.split(|byte| *byte == b'-');
    let number =
        parts().next_back().is_some_and(|part| part.len() > 1 && part.iter().all(u8::is_ascii_digit));
    let words = parts()
        .filter(|part| part.len() > 2 && part.iter().all(|byte| is_byte_in_class(*byte, LETTER)))
        .count();
    number && words >= 2 && words + 1 == parts().count()
}

/// Returns whether the value mentions a password instead of being one, as in `password: user_password` and
/// `"password": "Confirm password"`.
fn mentions_password(content: &[u8]) -> bool {
    let english = (0..content.len()).any(|at| {
        starts_with_ignore_case(&content[at..], "passw")
            || starts_with_ignore_case(&content[at..], "passphrase")
    });
    let foreign = || {
        languages::judge_foreign_name(content).is_some()
            || languages::verdict_of_non_ascii_name(content).is_some()
    };
    (english || foreign())
        && !(content.len() > 8 && content.iter().all(|byte| is_byte_in_class(*byte, LOWER)))
}

/// Words that are typical of a sentence about a password.
const PROSE_WORDS: &str = "is are was must should may can cannot the a an your you my for to of and or not at least with \
    no be been has have required invalid missing incorrect wrong too short long if in on this that please enter";

fn split_words(content: &[u8]) -> impl Iterator<Item = &[u8]> + Clone {
    content.split(|byte| *byte == b' ').filter(|word| !word.is_empty())
}

pub fn is_prose_word(word: &[u8]) -> bool {
    PROSE_WORDS.split_ascii_whitespace().any(|prose| word.eq_ignore_ascii_case(prose.as_bytes()))
}

/// Returns whether `content` is a passphrase. It must have at least three words of lower-case letters and digits, none
/// of which is typical of a sentence about passwords.
pub fn is_passphrase(content: &[u8]) -> bool {
    content.iter().all(|byte| is_byte_in_class(*byte, LOWER | DIGIT) || *byte == b' ')
        && split_words(content).count() >= 3
        && !split_words(content).any(is_prose_word)
}

/// Returns whether `content` has at most four words and one of them has a digit between letters, as in `Xk9w0rd zz!`.
pub fn is_phrase_with_digit_inside_word(content: &[u8]) -> bool {
    let has_letters_and_digits = |word: &[u8]| {
        let between = |three: &[u8]| {
            is_byte_in_class(three[0], LETTER)
                && is_byte_in_class(three[1], DIGIT)
                && is_byte_in_class(three[2], LETTER)
        };
        word.len() >= 5 && word.windows(3).any(between) && !is_type_or_algorithm_name(word)
    };
    split_words(content).count() <= 4
        && split_words(content).any(has_letters_and_digits)
        && !split_words(content).any(is_prose_word)
}
