//! Nouns for secrets in the supported languages: `password`, `mot de passe`, `Zugangsdaten`.

use super::classes::{
    LETTER, LETTER_OR_DIGIT, UPPER, byte_or_newline, ends_with_ignore_case, is_byte_in_class,
};
use super::names::{WordList, word_list};
use super::{context, languages, stated};

/// The kind of secret that a noun names.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum SecretNoun {
    Password,
    /// A secret or a key. Unlike a password, its value is often random.
    Secret,
    /// A user name and a password, as in `credentials` and `Zugangsdaten`.
    Pair,
}

/// Returns the kind of secret that the word names, and the start and end of the whole noun.
pub fn secret_noun_at(
    text: &[u8],
    start: usize,
    end: usize,
    floor: usize,
) -> Option<(SecretNoun, usize, usize)> {
    let word = &text[start..end];
    let next = byte_or_newline(text, end);
    // In prose, a blank or a punctuation mark follows a noun. In code, a bracket or a dot follows it.
    let closes = match next {
        b' ' | b'\n' | b'\r' | b':' | b',' | b'"' | b'\'' | b'`' | b'*' | b')' | b'?' | b'!' | b';'
        | b'=' => true,
        b'.' => !is_byte_in_class(byte_or_newline(text, end + 1), LETTER_OR_DIGIT),
        b'|' | b'\t' => true,
        0xc3 => true,
        _ => false,
    };
    let opened = start.checked_sub(1).map_or(b'\n', |at| text[at]);
    let opens = match opened {
        b'-' => is_byte_in_class(word[0], UPPER) || matches!(word, b"value" | b"text"),
        b'n' | b't' | b'r' => text[..start - 1].ends_with(b"\\"),
        mark => {
            !is_byte_in_class(mark, LETTER_OR_DIGIT)
                && !matches!(mark, b'_' | b'.' | b'/' | b'$' | b'@' | b'#' | b'%' | b'\\')
        }
    };
    if !closes || !opens || !is_spelled_like_word(word) {
        return None;
    }
    if !(next == 0xc3 || ALL_NOUNS.contains_word(word) || word.len() >= 8 && ends_like_password_noun(word)) {
        return None;
    }
    if next == 0xc3 {
        return accented_noun(text, start, end);
    }
    let before = &text[floor..start];
    if PASSWORD_NOUNS.contains_word(word) || stated::is_password_name(word) || languages::names_password(word)
    {
        if word.eq_ignore_ascii_case(b"passe") {
            let name = ["mot de ", "palavra-", "phrase de "]
                .iter()
                .find(|name| ends_with_ignore_case(before, name))?;
            return Some((SecretNoun::Password, start - name.len(), end));
        }
        return Some((SecretNoun::Password, start, end));
    }
    if CREDENTIAL_PAIR_NOUNS.contains_word(word) {
        return Some((SecretNoun::Pair, start, end));
    }
    let told = |words: &[&str]| words.iter().any(|word| ends_with_ignore_case(before, word));
    let mut lower = [0; 12];
    let lower = lower.get_mut(..word.len())?;
    lower.copy_from_slice(word);
    lower.make_ascii_lowercase();
    match &*lower {
        b"pass" => {
            let used = told(&[
                "the ", "my ", "your ", "and ", ", ", "/ ", "root ", "admin ", "is ", "'s ", "default ",
                "new ", "with ", "user/",
            ]) || is_below_user_name(before);
            used.then_some((SecretNoun::Password, start, end))
        }
        b"secret" if !told(&["public "]) => Some((SecretNoun::Secret, start, end)),
        b"geheim" | b"geheimnis" | b"segreto" | b"segredo" | b"secreto" => {
            // The word is returned even if it is an adjective, as in the Italian `codice segreto`.
            Some((SecretNoun::Secret, start, end))
        }
        b"code" | b"codice"
            if is_secret_code(text, end)
                || told(&[
                    "secret ", "access ", "pass ", "door ", "gate ", "alarm ", "safe ", "unlock ", "entry ",
                    "garage ", "pin ", "lock ",
                ]) =>
        {
            Some((SecretNoun::Password, start, end))
        }
        b"key"
            if told(&[
                "wifi ",
                "wi-fi ",
                "wlan ",
                "wpa ",
                "wpa2 ",
                "shared ",
                "secret ",
                "network ",
                "encryption ",
                "master ",
                "geheime ",
            ]) =>
        {
            Some((SecretNoun::Password, start, end))
        }
        b"key" | b"secret" | b"token" if told(&["public ", "no ", "public-"]) => None,
        b"key" | b"token" | b"jeton" | b"sleutel" | b"chiave" | b"chave" | b"llave" => {
            Some((SecretNoun::Secret, start, end))
        }
        b"pin" => {
            let owned = [
                "the ", "my ", "your ", "sim ", "card ", "door ", "new ", "our ", "\n", "de ", "il ", "o ",
                "el ", "le ",
            ];
            (before.is_empty() || told(&owned)).then_some((SecretNoun::Password, start, end))
        }
        b"value" | b"text" if told(&["password-", "secret-"]) => Some((SecretNoun::Password, start, end)),
        b"phrase" | b"frase" => {
            let rest = &text[end..];
            let secret = [" secrète", " secreta", " segreta", " de passe", " de paso", " secrete"]
                .iter()
                .any(|words| rest.starts_with(words.as_bytes()));
            (secret || told(&["pass ", "secret "])).then_some((SecretNoun::Password, start, end))
        }
        b"ordine" if told(&["parola d'", "parole d'"]) => Some((SecretNoun::Password, start, end)),
        b"ordre" if told(&["mot d'"]) => Some((SecretNoun::Password, start, end)),
        _ => None,
    }
}

/// Returns whether the noun starts a line and the line above starts with a word such as `user` or `login`.
fn is_below_user_name(before: &[u8]) -> bool {
    let Some(above) = before.strip_suffix(b"\n") else { return false };
    let line = context::text_after_last_break(&above[above.len().saturating_sub(60)..]);
    ["user ", "USER ", "login ", "username "].iter().any(|user| line.starts_with(user.as_bytes()))
}

/// Returns whether the words after `code` show that it is a secret, as in `code secret`, `code d'accès`, `codice
/// segreto` and `código de acceso`.
fn is_secret_code(text: &[u8], end: usize) -> bool {
    [" secret", " d'acc", " segret", " de acceso", " de acesso", " di accesso", " d'accesso", " pin"]
        .iter()
        .any(|words| text[end..].starts_with(words.as_bytes()))
}

/// Returns the noun if it contains a letter outside ASCII, such as `contraseña`, `clé` or `Schlüssel`.
fn accented_noun(text: &[u8], start: usize, end: usize) -> Option<(SecretNoun, usize, usize)> {
    let rest = &text[end..];
    let word = text[start..end].to_ascii_lowercase();
    let (noun, length) = match word.as_slice() {
        b"contrase" if rest.starts_with("ña".as_bytes()) => (SecretNoun::Password, 3),
        b"cl" if rest.starts_with("é".as_bytes()) => (SecretNoun::Secret, 2),
        b"c" if rest.starts_with("ódigo".as_bytes()) && is_secret_code(text, end + 6) => {
            (SecretNoun::Password, 6)
        }
        _ if word.ends_with(b"schl") && rest.starts_with("üssel".as_bytes()) => (SecretNoun::Secret, 6),
        _ => return None,
    };
    Some((noun, start, end + length))
}

/// All nouns for secrets. This list rules out almost every other word.
static ALL_NOUNS: WordList = word_list(
    "\
    accesos adgangskode anmeldedaten chave chiave clave code codeword codice contrasena cred credenciais \
    credenciales credential credentials credenziali creds frase geheim geheimnis haslo heslo identifiant \
    identifiants inloggegevens jelszo jeton kennwort key llave login logins losenord mdp mdps ordine ordre \
    parola pass passcode passe passkey passord passphrase passwd password passwort phrase pin psk pw pwd \
    salasana secret secreto segredo segreto senha sifre sleutel text toegangscode token value wachtwoord \
    zugangsdaten",
);

/// Returns whether a single word, such as `password`, names a secret. Such a word has its own value, which is
/// searched for separately.
pub fn does_word_alone_name_secret(word: &[u8]) -> bool {
    LONE_NOUNS.contains_word(word)
}

static LONE_NOUNS: WordList = word_list(
    "\
    clave credentials creds kennwort mdp passcode passphrase passwd password passwort psk pw pwd senha token \
    wachtwoord",
);

/// Returns whether a word ends like a German or Dutch word for a password, as in `Standardpasswort`.
fn ends_like_password_noun(word: &[u8]) -> bool {
    ["passwort", "password", "kennwort", "wachtwoord", "passwd"]
        .iter()
        .any(|noun| ends_with_ignore_case(word, noun))
}

static PASSWORD_NOUNS: WordList = word_list(
    "\
    clave kennwort mdp mdps parola pass-phrase passcode passkey passphrase psk pw pwd senha wachtwoord",
);

static CREDENTIAL_PAIR_NOUNS: WordList = word_list(
    "\
    accesos anmeldedaten cred credenciais credenciales credential credentials credenziali creds identifiant \
    identifiants inloggegevens login logins zugangsdaten",
);

/// Returns whether a word has only letters and is capitalized like `password`, `Password` or `PASSWORD`.
fn is_spelled_like_word(word: &[u8]) -> bool {
    let upper = word.iter().filter(|byte| is_byte_in_class(**byte, UPPER)).count();
    let letters = word.iter().all(|byte| is_byte_in_class(*byte, LETTER));
    letters && (upper == 0 || upper == word.len() || upper == 1 && is_byte_in_class(word[0], UPPER))
}
