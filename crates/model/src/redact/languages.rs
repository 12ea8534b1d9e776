//! Passwords and tokens stated in other languages: `mot de passe : x`, `Das Passwort für … lautet x`, `密码：x`.

use super::FoundSecret;
use super::chance::profile_value;
use super::classes::{LETTER, LOWER, byte_or_newline, count_blanks, ends_with_ignore_case, is_byte_in_class};
use super::made_up::{self, PasswordCertainty};
use super::names::{NameStrength, NameVerdict};
use super::sentences::{self, NameLanguage, length_of_value_in_sentence};
use super::values::{self, LiteralValue};

/// The maximum number of bytes between a name and its value, as in `Das Passwort für die Datenbank lautet x`.
const MAX_BYTES_FROM_FOREIGN_NAME_TO_VALUE: usize = 64;

/// Words for a password that can be the last word of a name. Words that contain `passw` are handled by `names`.
const ASCII_PASSWORD_WORDS: [&[u8]; 16] = [
    b"toegangscode",
    b"codeword",
    b"kennwort",
    b"wachtwoord",
    b"contrasena",
    b"senha",
    b"mdp",
    b"haslo",
    b"losenord",
    b"adgangskode",
    b"salasana",
    b"heslo",
    b"jelszo",
    b"sifre",
    b"parola",
    b"motdepasse",
];

/// Like [`super::names::judge_name`], but for names in languages other than English.
#[inline]
pub fn judge_foreign_name(name: &[u8]) -> Option<NameVerdict> {
    // The owner may come last, as in `senha_admin` and `mdp_base`.
    if let Some(joint) = name.iter().position(|byte| *byte == b'_')
        && (3..=10).contains(&joint)
        && ASCII_PASSWORD_WORDS.iter().any(|word| name[..joint].eq_ignore_ascii_case(word))
    {
        return Some(NameVerdict { strength: NameStrength::Password, kind: "password" });
    }
    let last = name.last_chunk::<3>()?.map(|byte| byte | 32);
    // These are the last three letters of all words that this function knows. The test quickly rules out almost all
    // other names.
    if !matches!(
        &last,
        b"ort"
            | b"ord"
            | b"ena"
            | b"nha"
            | b"mdp"
            | b"slo"
            | b"ode"
            | b"ana"
            | b"szo"
            | b"fre"
            | b"ola"
            | b"sse"
            | b"nis"
            | b"edo"
            | b"eto"
            | b"ton"
            | b"tel"
    ) {
        return None;
    }
    let known = ASCII_PASSWORD_WORDS.iter().any(|word| {
        let Some(at) = name.len().checked_sub(word.len()) else { return false };
        // German and Dutch words may be compounds, such as `standaardwachtwoord`, so a long word may follow other
        // letters.
        let joins = word.len() >= 8;
        name[at..].eq_ignore_ascii_case(word) && (at == 0 || joins || !is_byte_in_class(name[at - 1], LETTER))
    });
    if known {
        return Some(NameVerdict { strength: NameStrength::Password, kind: "password" });
    }
    const SECRET_WORDS: [&[u8]; 6] = [b"geheimnis", b"segredo", b"segreto", b"secreto", b"jeton", b"sleutel"];
    let told = SECRET_WORDS
        .iter()
        .any(|word| name.len() >= word.len() && name[name.len() - word.len()..].eq_ignore_ascii_case(word));
    told.then_some(NameVerdict { strength: NameStrength::Secret, kind: "token" })
}

/// Returns whether a word in a language other than English names a password.
pub fn names_password(word: &[u8]) -> bool {
    judge_foreign_name(word).is_some_and(|verdict| verdict.strength == NameStrength::Password)
}

/// Names that are not ASCII, each with its kind of secret.
const NON_ASCII_NAMES: [(&str, &str); 26] = [
    ("contraseña", "password"),
    ("Contraseña", "password"),
    ("contrasenya", "password"),
    ("hasło", "password"),
    ("Hasło", "password"),
    ("lösenord", "password"),
    ("Lösenord", "password"),
    ("şifre", "password"),
    ("Şifre", "password"),
    ("пароль", "password"),
    ("Пароль", "password"),
    ("ПАРОЛЬ", "password"),
    ("токен", "token"),
    ("Токен", "token"),
    ("密码", "password"),
    ("密碼", "password"),
    ("口令", "password"),
    ("令牌", "token"),
    ("密钥", "api-key"),
    ("パスワード", "password"),
    ("トークン", "token"),
    ("APIキー", "api-key"),
    ("비밀번호", "password"),
    ("토큰", "token"),
    ("mật khẩu", "password"),
    ("รหัสผ่าน", "password"),
];

/// Returns whether one of the non-ASCII names can start with this byte.
pub const fn may_begin_non_ascii_name(byte: u8) -> bool {
    matches!(byte, 0xe2 | 0xc5 | 0xd0 | 0xd1 | 0xe0 | 0xe3 | 0xe4 | 0xe5 | 0xeb | 0xed)
}

/// Like [`judge_foreign_name`], but for names that are not ASCII.
pub fn verdict_of_non_ascii_name(name: &[u8]) -> Option<NameVerdict> {
    let (_, kind) = NON_ASCII_NAMES.iter().find(|(known, _)| name == known.as_bytes())?;
    (*kind == "password").then_some(NameVerdict { strength: NameStrength::Password, kind })
}

/// Finds the value stated after the non-ASCII name at `at`.
pub fn secret_after_name(text: &[u8], at: usize) -> Option<FoundSecret> {
    let (name, kind) = NON_ASCII_NAMES.iter().find(|(name, _)| text[at..].starts_with(name.as_bytes()))?;
    let end = at + name.len();
    // The name may be a key in JSON, as in `"contraseña": "x"`.
    if *kind == "password"
        && text[end..].starts_with(b"\": \"")
        && let Some(value) = values::literal_value_at(text, end + 3).filter(|value| value.is_quoted)
    {
        let content = &text[value.start..value.end];
        let told = super::grades::grade_word(content).is_some() || made_up::consists_of_joined_words(content);
        return told.then_some(FoundSecret { start: value.start, end: value.end, kind });
    }
    if *kind == "password"
        && matches!(byte_or_newline(text, end), b':' | b'=')
        && byte_or_newline(text, end + 1) > b' '
    {
        let length = length_of_value_in_sentence(&text[end + 1..]);
        let told = super::grades::grade_word(&text[end + 1..end + 1 + length]).is_some();
        return told.then_some(FoundSecret { start: end + 1, end: end + 1 + length, kind });
    }
    value_after_name(text, at + name.len(), kind)
}

/// Finds the value stated after an ASCII word for a password or a token, as in `le mot de passe … est x`. The word is
/// `text[start..end]`.
pub fn secret_after_foreign_secret_word(text: &[u8], start: usize, end: usize) -> Option<FoundSecret> {
    let word = &text[start..end];
    // The name may consist of several words, as in `APIキー`, `API-Schlüssel`, `clé API` and `token de acceso`.
    let kind = match word {
        b"API" if text[end..].starts_with("キー".as_bytes()) => {
            return value_after_name(text, end + 6, "api-key");
        }
        b"API" if text[end..].starts_with("-Schlüssel".as_bytes()) => {
            return value_after_name(text, end + 11, "api-key");
        }
        b"API" if text[end..].starts_with(b"-sleutel") => return value_after_name(text, end + 8, "api-key"),
        b"API" if is_key_word_before(&text[..start]) => "api-key",
        b"token" | b"Token"
            if [&b" de "[..], b" di ", b" do ", b" da ", b" d'"]
                .iter()
                .any(|of| text[end..].starts_with(of)) =>
        {
            "token"
        }
        b"token" | b"Token" => return None,
        // These names occur in sentences such as `la chiave segreta è x` and `mon jeton vaut x`.
        b"chave" | b"Chave" | b"chiave" | b"Chiave" | b"jeton" | b"Jeton" => "token",
        b"passe" if !completes_name(&text[..start]) => return None,
        b"clave" | b"Clave" => "password",
        _ => {
            let known = judge_foreign_name(word).is_some()
                || matches!(word, b"passe" | b"passwort" | b"Passwort" | b"password" | b"Password");
            known.then_some("password")?
        }
    };
    // The module `stated` handles English sentences. Only the form `admin, password x` is handled here.
    if word.eq_ignore_ascii_case(b"password") {
        let length = length_of_value_in_sentence(text.get(end + 1..)?);
        let is_word = text[end + 1..end + 1 + length].iter().all(|byte| is_byte_in_class(*byte, LETTER));
        let is_told = byte_or_newline(text, end) == b' ' && length >= 8 && !is_word;
        return is_told.then(|| secret_at(text, end + 1, kind, ValueForm::AfterBlank))?;
    }
    value_after_name(text, end, kind)
}

/// Returns whether the text before the word `passe` completes a name such as `mot de passe` or `palavra-passe`.
fn completes_name(before: &[u8]) -> bool {
    ends_with_ignore_case(before, "mot de ") || ends_with_ignore_case(before, "palavra-")
}

/// Finds the value in `le mot de passe, c'est x`. The name's last word is `text[start..end]`.
pub fn secret_after_comma(text: &[u8], start: usize, end: usize) -> Option<FoundSecret> {
    let word = &text[start..end];
    let known = judge_foreign_name(word).is_some() || word == b"passe" && completes_name(&text[..start]);
    known.then(|| sentences::secret_in_sentence(text, end + 1, NameLanguage::Other))?
}

/// Finds a value before the name that starts at `start`, as in `usa x como contraseña` and `nimm x als Kennwort`.
pub fn secret_before_name(text: &[u8], start: usize, end: usize, floor: usize) -> Option<FoundSecret> {
    if matches!(&text[start..end], b"token" | b"Token" | b"API") {
        return None;
    }
    let whole = match &text[..start] {
        before if before.ends_with(b"mot de ") => start - 7,
        before if before.ends_with(b"palavra-") => start - 8,
        _ => start,
    };
    let hit = sentences::secret_used_as_password(text, whole, floor)?;
    let known = whole < start
        || judge_foreign_name(&text[start..end]).is_some()
        || NON_ASCII_NAMES.iter().any(|(name, _)| text[start..].starts_with(name.as_bytes()));
    known.then_some(hit)
}

/// Finds the value after a name. A colon or a verb comes between the name and the value, either right after the name or
/// a few words later.
fn value_after_name(text: &[u8], end: usize, kind: &'static str) -> Option<FoundSecret> {
    // In `"password": "Contraseña", "confirm": "…"` the name is itself a value.
    if matches!(text.get(end..end + 2), Some(b"\"," | b"\"}" | b"\":" | b"\"\n" | b"',")) {
        return None;
    }
    if kind == "password"
        && let Some(hit) = sentences::secret_in_sentence(text, end, NameLanguage::Other)
    {
        return Some(hit);
    }
    const STATING_VERBS: [&str; 20] = [
        " vaut ", " vale ", " ist ", " lautet ", " est ", " c'est ", " es ", " é ", " è ", " to ", " is ",
        " — ", " - ", "：", "是", "は", ": ", " : ", " = ", "为",
    ];
    let window = &text[end..text.len().min(end + MAX_BYTES_FROM_FOREIGN_NAME_TO_VALUE)];
    let window =
        &window[..window.iter().position(|byte| matches!(byte, b'\n' | b'"' | b'`')).unwrap_or(window.len())];
    // A quoted value may follow the name directly, as in `le mot de passe "x"`.
    if window == b" " {
        return secret_at(text, end + 1, kind, ValueForm::RightAfterName);
    }
    let (verb, length) = STATING_VERBS
        .iter()
        .filter_map(|verb| memchr::memmem::find(window, verb.as_bytes()).map(|at| (at, verb.len())))
        .min()
        // The name and the value may be separated by a blank alone, as in `utente admin, password x` and
        // `логин admin пароль x`.
        .or_else(|| (byte_or_newline(window, 0) == b' ').then_some((0, 1)))?;
    // An ordinary word is accepted only after a colon next to the name, because words such as `wrong` can follow a
    // verb.
    let told = match verb == 0 && window[..length].iter().any(|byte| matches!(byte, b':' | 0xef)) {
        true => ValueForm::RightAfterName,
        false if length == 1 => ValueForm::AfterBlank,
        false => ValueForm::AfterVerb,
    };
    secret_at(text, sentences::position_after_adverb(text, end + verb + length), kind, told)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum ValueForm {
    /// The value follows the name directly, after a colon or in quotes.
    RightAfterName,
    AfterVerb,
    /// The value follows a blank. It must look more like a password than in the other forms, because ordinary words can
    /// also follow a name and a blank.
    AfterBlank,
}

fn secret_at(text: &[u8], start: usize, kind: &'static str, told: ValueForm) -> Option<FoundSecret> {
    let at_once = told == ValueForm::RightAfterName;
    // German nouns start with a capital, as in `das Passwort Formular`, so a capital does not mark a password.
    let german = text[..start].trim_ascii_end().ends_with(b"wort");
    let start = start + count_blanks(&text[start..], 4);
    let quoted = matches!(byte_or_newline(text, start), b'"' | b'\'' | b'`');
    let start = start + usize::from(quoted);
    let content = length_of_value_in_sentence(&text[start..]);
    let value = LiteralValue { start, end: start + content, is_quoted: false, is_in_call: false };
    let content = &text[value.start..value.end];
    let looks = profile_value(content);
    if kind == "password"
        && let Some(sure) = made_up::made_up_certainty(content)
        && match told {
            ValueForm::RightAfterName => true,
            ValueForm::AfterVerb => {
                // An adjective, as in `a senha é obrigatória`, is not a password.
                let adjective = is_byte_in_class(content[0], LOWER)
                    && !super::lexicon::joins_everyday_noun(content)
                    && (made_up::has_long_word_suffix(content)
                        || made_up::is_participle_about_password(content));
                sure > PasswordCertainty::SingleWord
                    || quoted
                    || !adjective && made_up::ends_clause(text, value.end)
            }
            ValueForm::AfterBlank => {
                let noun = is_byte_in_class(content[0], LOWER) || german;
                sure >= PasswordCertainty::SeveralWords
                    || quoted
                    || !noun && made_up::ends_clause(text, value.end)
            }
        }
        && !super::contains_bytes(content, b"REDACTED")
    {
        return Some(FoundSecret { start: value.start, end: value.end, kind });
    }
    let mixed = looks.has_letters_and_digits() && (looks.len >= 8 || looks.class_changes >= 2);
    let word = at_once && looks.len >= 6 && looks.lower + 1 >= looks.len && is_line_end(text, value.end);
    // After a name for an API key, a hexadecimal string is a key. After other names, it may be a hash, so it does not
    // count as a token.
    let hash = || content.iter().all(|byte| byte.is_ascii_hexdigit() || *byte == b'-');
    let strong = match kind {
        "password" => mixed || word,
        _ => {
            looks.looks_random()
                && looks.len >= 16
                && looks.has_letters_and_digits()
                && (kind == "api-key" || !hash())
        }
    };
    let stands = !matches!(byte_or_newline(text, value.end), b'(' | b'[' | b'{' | b'=' | b'/')
        && super::names::judge_name(content).is_none();
    let secret = strong
        && stands
        && values::is_secret_value(
            text,
            value,
            NameStrength::Password,
            values::ValueContext {
                without_blanks: true,
                is_in_list: true,
                ..values::ValueContext::default()
            },
        );
    secret.then_some(FoundSecret { start: value.start, end: value.end, kind })
}

fn is_line_end(text: &[u8], at: usize) -> bool {
    let at = at + usize::from(byte_or_newline(text, at) == b'.');
    matches!(byte_or_newline(text, at), b'\n' | b'\r' | b'\\' | b'"')
}

/// Returns whether [`secret_after_foreign_secret_word`] may support this word. Most words are ruled out here.
#[inline]
pub fn may_announce_secret(word: &[u8]) -> bool {
    let Some(tail) = word.last_chunk::<3>() else { return false };
    matches!(
        tail,
        b"API"
            | b"ton"
            | b"mdp"
            | b"sse"
            | b"ave"
            | b"nha"
            | b"ken"
            | b"ort"
            | b"ord"
            | b"slo"
            | b"ena"
            | b"ola"
    ) && (word.len() <= 10 || is_byte_in_class(word[0], LOWER))
}

/// Finds the value after a word that means "key" and contains an accented letter, such as `clé` and `Schlüssel`.
/// `end` is the position of the accented letter.
pub fn secret_after_accented_key(text: &[u8], start: usize, end: usize) -> Option<FoundSecret> {
    let word = &text[start..end];
    let rest = &text[end..];
    let length = match word {
        b"cl" | b"Cl" if rest.starts_with("é".as_bytes()) => 2,
        _ if word.ends_with(b"chl") && rest.starts_with("üssel".as_bytes()) => 6,
        _ => return None,
    };
    let public = [&b"public "[..], "öffentliche ".as_bytes(), "öffentlicher ".as_bytes()]
        .iter()
        .any(|other| text[..start].ends_with(other));
    if public { None } else { value_after_name(text, end + length, "token") }
}

/// Finds the value in `clé API : x` and `chave da API: x`. `API` starts at `start`, and `at` points to the colon.
pub fn secret_after_api_key_words(text: &[u8], start: usize, at: usize) -> Option<FoundSecret> {
    if is_key_word_before(&text[..start]) {
        secret_at(text, at + 1, "api-key", ValueForm::RightAfterName)
    } else {
        None
    }
}

/// Returns whether the text before `API` ends with a French, Italian, Portuguese or Spanish word for "key". A
/// preposition may follow that word.
fn is_key_word_before(before: &[u8]) -> bool {
    let before = ["de ", "da ", "di ", "do ", "d'", "dell'"]
        .iter()
        .find_map(|of| before.strip_suffix(of.as_bytes()))
        .unwrap_or(before);
    ["clé ", "clave ", "chave ", "chiave ", "llave "].iter().any(|word| ends_with_ignore_case(before, word))
}
