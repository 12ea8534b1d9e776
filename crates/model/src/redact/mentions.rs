//! Passwords in a line that speaks of one, in any order of its parts: `the root password is still x`,
//! `j'ai remis ton mot de passe à « x »`, `x is the old password`, `root / x (password from the sticker)`.
//!
//! The line is read as words. The noun says what is meant, the word before a value says whether a value can be there
//! ([`Slot`]), and the value itself how much it looks like a password ([`grades::Grade`]). The languages share one
//! grammar, because their words for `is`, `as` and `of` have the same places.

use super::Hit;
use super::classes::{ALNUM, DIGIT, LETTER, LOWER, UPPER, byte, ends_with_ignore_case, is};
use super::grades::{Grade, grade};
use super::names::{List, list};
use super::{context, languages, made_up, named, shape, stated};

/// How many bytes of the line are read on each side of the noun.
const REACH: usize = 160;
/// How many words of the line are read on each side of the noun.
const MOST_WORDS: usize = 16;

/// What the noun of a line means.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Noun {
    Password,
    /// A secret or a key, of which many have a value that is no password.
    Secret,
    /// A user and a password: `credentials`, `Zugangsdaten`.
    Pair,
}

/// What can follow a word.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Slot {
    /// A value is expected, as after `is` and after a colon.
    Value,
    /// Anything can follow.
    Open,
    /// A name is expected, as after `for` and `of`.
    Name,
}

/// Words that come right before a value.
static LINKS: List = list(
    "is was are were be been being becomes became now reads equals equal remains stays answer type enter use try using \
     ist lautet war bleibt wird sei heißt heisst lautete est c'est était etait sera devient reste vaut es era será sera \
     sigue siendo queda vale é foi fica sendo continua è sarà diventa resta rimane wordt blijft luidt worden = => -> : — – - / it's its s \
     says called namely viz sprich nämlich voici soit",
);
/// Words after which a value comes if the line says that a password is set.
static TARGETS: List =
    list("to from auf en a à su naar para in por par op into zu with mit avec con com met");
/// Beginnings of words that say that a password is set.
static SETTING: [&str; 40] = [
    "set",
    "reset",
    "chang",
    "updat",
    "rotat",
    "switch",
    "revert",
    "replac",
    "gesetzt",
    "geänd",
    "zurück",
    "änder",
    "remis",
    "mis ",
    "modif",
    "rempla",
    "réinit",
    "défin",
    "cambi",
    "puse",
    "puest",
    "restabl",
    "actualiz",
    "mud",
    "alter",
    "troc",
    "troq",
    "redefin",
    "defin",
    "impost",
    "reimpost",
    "modific",
    "aggiorn",
    "gewijzigd",
    "gezet",
    "veranderd",
    "aangepast",
    "ingesteld",
    "log in",
    "login",
];
/// Words that come before a name.
static OWNERS: List = list(
    "for of on at from by user username host server the a an für von vom des der dem den im am pour de du d' la le les l' sur \
     del di do da dos das della dello dei al alla voor van het per para utente usuario usuário utilisateur benutzer gebruiker to in \
     and or account database db y e o ou und oder et",
);
/// Words that change nothing.
static ADVERBS: List = list(
    "now currently still just simply temporarily again always immer noch jetzt nun weiterhin aktuell désormais maintenant toujours \
     encore ahora todavía aún siempre agora ainda sempre ora adesso ancora nu nog steeds altijd actuellement actualmente atualmente \
     attualmente momenteel momentan même only exactly literally please bitte alsjeblieft svp kindly",
);
/// Words that join a value to the noun after it.
static JOINTS: List = list(
    "that's thats this is was are est ist es é è era war était foi were as als como comme come = -> <- => → for und",
);

/// Verbs before a value that is typed.
static TYPING: List = list(
    "type typed typing enter entered entering use used using tape tapez tippe escribe digite digita typ",
);

/// Finds the password in the line of the noun `text[start..end]`.
pub fn near(text: &[u8], start: usize, end: usize, floor: usize) -> Option<Hit> {
    if let Some(hit) = phrase(text, start, end, floor) {
        return Some(hit);
    }
    let Some((noun, start, end)) = noun(text, start, end, floor) else {
        return printed(text, start, end, floor);
    };
    // The rules for assignments come first.
    if matches!(byte(text, end), b':' | b'=') {
        if noun == Noun::Secret && text[end - 1].is_ascii() && !text[start..end].contains(&0xc3) {
            return None;
        }
        if let Some(hit) = named::assigned(text, end, floor) {
            return Some(hit);
        }
    }
    let (line_start, line_end) = (line_start(text, start, floor), line_end(text, end));
    after(text, start, end, line_end, noun)
        .or_else(|| before(text, line_start, start, end, noun))
        .or_else(|| below(text, line_start, end, line_end, noun))
        .filter(|hit| hit.start >= floor)
}

/// Finds the recovery phrase of a wallet, and recovery codes, after their noun.
fn phrase(text: &[u8], start: usize, end: usize, floor: usize) -> Option<Hit> {
    let told = |words: &[&str]| words.iter().any(|word| ends_with_ignore_case(&text[floor..start], word));
    match &text[start..end] {
        b"phrase" | b"Phrase" | b"words" | b"seed"
            if told(&["seed ", "recovery ", "wallet ", "backup ", "secret "]) =>
        {
            context::seed(text, end)
        }
        b"mnemonic" | b"Mnemonic" | b"MNEMONIC" => context::seed(text, end),
        b"codes" | b"code" | b"Codes" if told(&["recovery ", "backup ", "scratch ", "emergency "]) => {
            code(text, end)
        }
        _ => None,
    }
}

/// Finds the next recovery code, such as `7mh6m-oi7oc`, on this line or the next ones. `end` is after the noun or the
/// code before.
fn code(text: &[u8], end: usize) -> Option<Hit> {
    let window_end = text.len().min(end + REACH);
    words(text, end, window_end)
        .take(6)
        .find(|word| {
            let bare = word.bytes(text);
            let halves = bare.iter().filter(|byte| **byte == b'-').count();
            let drawn = bare.len() >= 8
                && bare.iter().all(|byte| is(*byte, ALNUM) || *byte == b'-')
                && bare.iter().any(u8::is_ascii_digit)
                && (1..=3).contains(&halves)
                && bare.split(|byte| *byte == b'-').all(|half| (4..=6).contains(&half.len()));
            drawn && (word.end < window_end || window_end == text.len())
        })
        .map(|word| word.hit())
}

/// Finds what a command prints that shows a password: `$ cat password.txt` and `x` on the next line.
fn printed(text: &[u8], start: usize, end: usize, floor: usize) -> Option<Hit> {
    let line = context::last_line(&text[floor.max(start.saturating_sub(REACH))..start]);
    let typed = line.starts_with(b"$ ") || line.starts_with(b"# ") || line.starts_with(b"% ");
    let word = &text[start..end];
    let shows = word == b"pass" && text[end..].starts_with(b" show ");
    if !(shows || typed && word.len() >= 4 && names_secret(word)) {
        return None;
    }
    alone(text, line_end(text, end), Grade::Likely)
}

fn names_secret(word: &[u8]) -> bool {
    ["password", "passwd", "secret", "token", "passphrase"]
        .iter()
        .any(|noun| ends_with_ignore_case(word, noun))
}

/// Finds the value on the line below a label, a question or a demand: `Password` and `x`, `what's the pass?` and
/// `Rita: x`.
fn below(text: &[u8], line_start: usize, end: usize, line_end: usize, noun: Noun) -> Option<Hit> {
    const LONGEST_LABEL: usize = 8;
    if noun != Noun::Password || byte(text, line_end) != b'\n' && byte(text, line_end) != b'\\' {
        return None;
    }
    let rest = text[end..line_end].trim_ascii();
    let asks = text[..line_end].trim_ascii_end().ends_with(b"?");
    let last = rest.iter().all(|byte| b":?!.*`'\")=".contains(byte))
        || matches!(rest, b"is" | b"is:" | b"again" | b"pls" | b"please");
    let label = words(text, line_start, end).take(LONGEST_LABEL + 1).count() <= LONGEST_LABEL;
    // A line of code is no label.
    let code = text[line_start..line_end].iter().any(|byte| b"(){}=;%$[]+|&".contains(byte));
    // A demand may announce the value: `use the following password to proceed:`.
    let announces = rest.ends_with(b":") && !code;
    if !asks && !announces && !(last && label && !code) {
        return None;
    }
    alone(text, line_end, Grade::Likely)
}

/// Returns the only word on the line after the break at `at`, perhaps after the name of who says it.
fn alone(text: &[u8], at: usize, least: Grade) -> Option<Hit> {
    let mut at = at;
    let mut breaks = 0;
    while breaks < 3
        && let length @ 1.. = super::keys::break_length(text[at..].strip_prefix(b"\r").unwrap_or(&text[at..]))
    {
        at += length + usize::from(byte(text, at) == b'\r');
        breaks += 1;
        // The value may be in a block of code.
        let fence = text[at..].trim_ascii_start();
        if fence.starts_with(b"```") {
            at = line_end(text, text.len() - fence.len());
        }
    }
    if breaks == 0 {
        return None;
    }
    let line_end = line_end(text, at);
    let mut said = None;
    for (count, word) in words(text, at, line_end).enumerate() {
        if let Some((previous, _)) = said.replace((word, count)) {
            let previous: Word = previous;
            let bare = previous.bytes(text);
            let speaker = previous.colon
                || bare.ends_with(b"]")
                || LINKS.holds(bare)
                || matches!(bare, b">" | b"sure" | b"ok");
            let time = bare.iter().all(|byte| byte.is_ascii_digit() || matches!(byte, b':' | b']' | b'.'));
            if !(speaker || time || count == 1 && is_speaker(text, &word)) || count > 3 {
                return None;
            }
        }
    }
    let (word, _) = said?;
    let whole = matches!(byte(text, line_end), b'\n' | b'\r' | b'\\') && !word.colon && !word.is_code(text);
    (whole && grade(word.bytes(text)) >= Some(least)).then(|| word.hit())
}

/// Whether the word is a name with a colon.
fn is_speaker(_text: &[u8], word: &Word) -> bool {
    word.colon
}

/// Returns what the word means, and where the noun of which it is a part begins and ends.
fn noun(text: &[u8], start: usize, end: usize, floor: usize) -> Option<(Noun, usize, usize)> {
    let word = &text[start..end];
    let next = byte(text, end);
    if !(KNOWN.holds(word) || word.len() >= 8 && is_compound(word) || next == 0xc3) {
        return None;
    }
    // A noun ends at a blank or a mark of a sentence. In code, a bracket or a dot follows.
    let closes = match next {
        b' ' | b'\n' | b'\r' | b':' | b',' | b'"' | b'\'' | b'`' | b'*' | b')' | b'?' | b'!' | b';'
        | b'=' => true,
        b'.' => !is(byte(text, end + 1), ALNUM),
        b'|' | b'\t' => true,
        0xc3 => true,
        _ => false,
    };
    let opened = start.checked_sub(1).map_or(b'\n', |at| text[at]);
    let opens = match opened {
        b'-' => is(word[0], UPPER) || matches!(word, b"value" | b"text"),
        b'n' | b't' | b'r' => text[..start - 1].ends_with(b"\\"),
        mark => !is(mark, ALNUM) && !matches!(mark, b'_' | b'.' | b'/' | b'$' | b'@' | b'#' | b'%' | b'\\'),
    };
    if !closes || !opens || !is_plain(word) {
        return None;
    }
    if next == 0xc3 {
        return accented(text, start, end);
    }
    let before = &text[floor..start];
    if PASSWORDS.holds(word) || stated::names_password(word) || languages::names_password(word) {
        if word.eq_ignore_ascii_case(b"passe") {
            let name = ["mot de ", "palavra-", "phrase de "]
                .iter()
                .find(|name| ends_with_ignore_case(before, name))?;
            return Some((Noun::Password, start - name.len(), end));
        }
        return Some((Noun::Password, start, end));
    }
    if PAIRS.holds(word) {
        return Some((Noun::Pair, start, end));
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
            ]) || is_below_user(before);
            used.then_some((Noun::Password, start, end))
        }
        b"secret" if !told(&["public "]) => Some((Noun::Secret, start, end)),
        b"geheim" | b"geheimnis" | b"segreto" | b"segredo" | b"secreto" => {
            // The adjective in `code secret`, `codice segreto`.
            Some((Noun::Secret, start, end))
        }
        b"code" | b"codice" if is_secret_code(text, end) || told(&["secret ", "access ", "pass "]) => {
            Some((Noun::Password, start, end))
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
            Some((Noun::Password, start, end))
        }
        b"key" | b"secret" | b"token" if told(&["public ", "no ", "public-"]) => None,
        b"key" | b"token" | b"sleutel" | b"chiave" | b"chave" | b"llave" => Some((Noun::Secret, start, end)),
        b"pin" => told(&["the ", "my ", "your ", "sim ", "card ", "door ", "new ", "our "]).then_some((
            Noun::Password,
            start,
            end,
        )),
        b"value" | b"text" if told(&["password-", "secret-"]) => Some((Noun::Password, start, end)),
        b"phrase" | b"frase" => {
            let rest = &text[end..];
            let secret = [" secrète", " secreta", " segreta", " de passe", " de paso", " secrete"]
                .iter()
                .any(|words| rest.starts_with(words.as_bytes()));
            (secret || told(&["pass ", "secret "])).then_some((Noun::Password, start, end))
        }
        b"ordine" if told(&["parola d'", "parole d'"]) => Some((Noun::Password, start, end)),
        b"ordre" if told(&["mot d'"]) => Some((Noun::Password, start, end)),
        _ => None,
    }
}

/// Whether the noun begins a line below `user name`.
fn is_below_user(before: &[u8]) -> bool {
    let Some(above) = before.strip_suffix(b"\n") else { return false };
    let line = context::last_line(&above[above.len().saturating_sub(60)..]);
    ["user ", "USER ", "login ", "username "].iter().any(|user| line.starts_with(user.as_bytes()))
}

/// Whether an adjective makes a code secret: `code secret`, `code d'accès`, `codice segreto`, `código de acceso`.
fn is_secret_code(text: &[u8], end: usize) -> bool {
    [" secret", " d'acc", " segret", " de acceso", " de acesso", " di accesso", " d'accesso", " pin"]
        .iter()
        .any(|words| text[end..].starts_with(words.as_bytes()))
}

/// Nouns with a letter that is not ASCII: `contraseña`, `clé`, `Schlüssel`.
fn accented(text: &[u8], start: usize, end: usize) -> Option<(Noun, usize, usize)> {
    let rest = &text[end..];
    let word = text[start..end].to_ascii_lowercase();
    let (noun, length) = match word.as_slice() {
        b"contrase" if rest.starts_with("ña".as_bytes()) => (Noun::Password, 3),
        b"cl" if rest.starts_with("é".as_bytes()) => (Noun::Secret, 2),
        b"c" if rest.starts_with("ódigo".as_bytes()) && is_secret_code(text, end + 6) => (Noun::Password, 6),
        _ if word.ends_with(b"schl") && rest.starts_with("üssel".as_bytes()) => (Noun::Secret, 6),
        _ => return None,
    };
    Some((noun, start, end + length))
}

/// All nouns. Almost every word fails here.
static KNOWN: List = list(
    "pw pwd mdp clave senha passphrase passcode psk passkey wachtwoord kennwort parola mdps creds cred credentials credential login logins \
     identifiants identifiant zugangsdaten anmeldedaten credenciales credenciais credenziali inloggegevens accesos pass secret geheim geheimnis \
     segreto segredo secreto code codice key token sleutel chiave chave llave pin value text phrase frase ordine ordre password passwd passwort \
     passe haslo heslo salasana sifre jelszo losenord adgangskode contrasena toegangscode codeword passord",
);

/// Whether a word is a noun that [`near`] examines on its own.
fn is_head(word: &[u8]) -> bool {
    HEADS.holds(word)
}

static HEADS: List = list(
    "pw pwd mdp clave senha passphrase passcode psk wachtwoord kennwort creds credentials token password passwd passwort",
);

/// Whether a word ends like a German or Dutch word for a password: `Standardpasswort`.
fn is_compound(word: &[u8]) -> bool {
    ["passwort", "password", "kennwort", "wachtwoord", "passwd"]
        .iter()
        .any(|noun| ends_with_ignore_case(word, noun))
}

static PASSWORDS: List = list(
    "pw pwd mdp clave senha passphrase passcode psk passkey wachtwoord kennwort parola pass-phrase mdps",
);
static PAIRS: List = list(
    "creds cred credentials credential login logins identifiants identifiant zugangsdaten anmeldedaten credenciales credenciais credenziali \
     inloggegevens accesos",
);

/// Whether a word is spelled like one of a sentence: `password`, `Password`, `PASSWORD`.
fn is_plain(word: &[u8]) -> bool {
    let upper = word.iter().filter(|byte| is(**byte, UPPER)).count();
    let letters = word.iter().all(|byte| is(*byte, LETTER));
    letters && (upper == 0 || upper == word.len() || upper == 1 && is(word[0], UPPER))
}

/// Whether a part of a line can contain a password: a digit, a capital inside a word, or words joined by dashes. Most
/// lines about passwords contain none of them.
fn may_hold(line: &[u8]) -> bool {
    let mut dashes = 0;
    line.windows(3).any(|three| {
        let joined = is(three[0], LETTER) && three[1] == b'-' && is(three[2], LETTER);
        dashes += usize::from(joined);
        let hump = is(three[0], LOWER) && is(three[1], UPPER) && is(three[2], LOWER);
        is(three[1], DIGIT) || is(three[2], DIGIT) || hump || dashes > 1 || joined && is(three[2], UPPER)
    })
}

/// Finds a value after the noun.
fn after(text: &[u8], start: usize, end: usize, line_end: usize, noun: Noun) -> Option<Hit> {
    if !may_hold(&text[end..line_end]) {
        return None;
    }
    // A name that is not ASCII is no name of code: `contraseña=x`.
    let foreign = !text[..end].last().is_some_and(u8::is_ascii) || text[start..end].contains(&0xc3);
    let end = end + usize::from(foreign && matches!(byte(text, end), b'=' | b':'));
    let stated = foreign && matches!(text[end - 1], b'=' | b':');
    let rest = &text[end..line_end];
    let mut slot = match (byte(rest, 0), byte(rest, 1)) {
        _ if stated => Slot::Value,
        (b':' | b'=', _) => Slot::Value,
        (b' ', _) if noun == Noun::Password => Slot::Value,
        (b',', b' ') if noun == Noun::Password && is_apposed(text, end + 1, line_end) => Slot::Value,
        _ => Slot::Open,
    };
    // In `password reset for x` nothing is stated right after the noun.
    let assigned = matches!(byte(rest, 0), b':' | b'=');
    let (mut first, mut seen_name, mut astray, mut answered) = (true, false, false, false);
    let sets = || {
        let line = &text[start.saturating_sub(80)..line_end];
        let line =
            &line[memchr::memrchr(b'\n', &line[..start - start.saturating_sub(80)]).map_or(0, |at| at + 1)..];
        SETTING.iter().any(|verb| super::contains(line, verb.as_bytes()))
    };
    for word in words(text, end, line_end).take(MOST_WORDS) {
        let bare = word.bytes(text);
        // The next noun has its own value.
        if is_head(bare) {
            return None;
        }
        if let Some(hit) = pair(text, &word, noun) {
            return Some(hit);
        }
        // Braces are code.
        if text[end..word.start].iter().any(|byte| matches!(byte, b'{' | b'}' | b';')) {
            return None;
        }
        let least = match (slot, noun) {
            (Slot::Value, Noun::Password) => Some(Grade::Likely),
            (Slot::Value, Noun::Secret) if !astray => Some(Grade::Likely),
            (Slot::Value, Noun::Pair) => None,
            (Slot::Open, Noun::Password) if is_aside(text, &word) => Some(Grade::Likely),
            (Slot::Open, Noun::Password) => Some(Grade::Obvious),
            _ => None,
        };
        let english = noun == Noun::Secret && !foreign && matches!(text[start] | 32, b's' | b't' | b'k');
        if let Some(least) = least
            && grade(bare) >= Some(least)
            && !word.is_code(text)
            && !(assigned && bare.iter().all(|byte| is(*byte, LETTER)))
            && (!english || bare.iter().any(u8::is_ascii_digit) || bare.contains(&b'-'))
        {
            return Some(word.hit());
        }
        // A key of hexadecimal digits or base64 right after the noun, unless the line speaks of a hash.
        if slot == Slot::Value
            && noun == Noun::Password
            && first
            && is_key(bare)
            && !speaks_of_hash(&text[start.saturating_sub(60)..line_end])
        {
            return Some(word.hit());
        }
        // The value may be the name of a file: `touch 'wifi password x.md'`.
        if slot == Slot::Value
            && noun == Noun::Password
            && let Some(dot) = memchr::memrchr(b'.', bare)
            && matches!(&bare[dot + 1..], b"md" | b"txt" | b"zip" | b"pdf" | b"docx" | b"log" | b"png")
            && grade(&bare[..dot]).is_some()
        {
            return Some(Hit { start: word.start, end: word.start + dot, kind: "password" });
        }
        slot = match () {
            () if word.colon => Slot::Value,
            () if ADVERBS.holds(bare) => slot,
            () if LINKS.holds(bare) => Slot::Value,
            () if TARGETS.holds(bare) && sets() => Slot::Value,
            () if OWNERS.holds(bare) => Slot::Name,
            () if slot == Slot::Name && first => Slot::Open,
            () => Slot::Open,
        };
        first = false;
        if noun == Noun::Secret && slot != Slot::Name && is_token(bare) && !word.is_code(text) {
            return shape::find(text, word.start, word.start).or(Some(Hit { kind: "token", ..word.hit() }));
        }
        // Of a secret, more is said than its value, and code assigns it.
        astray |= noun == Noun::Secret
            && (english
                && (word.colon && bare.iter().any(|byte| is(*byte, ALNUM))
                    || matches!(bare, b"=" | b":" | b"=>" | b"->" | b"-" | b"/"))
                || slot == Slot::Open && !is_adjective(bare) && !seen_name
                || text[word.end..].starts_with(b","));
        seen_name |= slot == Slot::Name;
        if bare.iter().all(|byte| *byte == b'.') {
            slot = Slot::Value;
            continue;
        }
        // An answer may follow: `"what's the password?" "x"`.
        if byte(text, word.end) == b'?' && matches!(byte(text, word.end + 1), b'"') && !answered {
            answered = true;
            slot = Slot::Value;
            continue;
        }
        if word.stops && !continues(text, word.end, line_end) {
            return None;
        }
    }
    None
}

/// Whether a word is a long random value, perhaps of hexadecimal digits.
fn is_key(word: &[u8]) -> bool {
    (24..=128).contains(&word.len())
        && word.iter().all(|byte| is(*byte, super::classes::BASE64 | super::classes::BASE64_URL))
        && !word.contains(&b'/')
        && super::chance::profile(word).is_random()
        && super::chance::profile(word).digits > 1
}

fn speaks_of_hash(line: &[u8]) -> bool {
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
    .any(|word| super::contains(line, word))
}

/// Whether a word can only be a token or a key: long, and drawn from letters of both cases and digits.
fn is_token(word: &[u8]) -> bool {
    let looks = super::chance::profile(word);
    (24..=200).contains(&word.len())
        && word.iter().all(|byte| is(*byte, super::classes::BASE64 | super::classes::BASE64_URL))
        && !word.contains(&b'/')
        && looks.digits > 0
        && looks.upper > 2
        && looks.lower > 2
        && looks.changes * 4 >= looks.len
}

/// Whether a word after `clé`, `chiave` or `secret` describes it: `clé secrète`, `chiave segreta`, `secret partagé`.
fn is_adjective(word: &[u8]) -> bool {
    [
        "secr", "segr", "partag", "api", "wifi", "priv", "condivi", "compart", "maest", "root", "admin",
        "geheim",
    ]
    .iter()
    .any(|stem| super::classes::starts_with_ignore_case(word, stem))
}

/// Whether a word is between commas.
fn is_aside(text: &[u8], word: &Word) -> bool {
    byte(text, word.end) == b',' && text[..word.start].trim_ascii_end().ends_with(b",")
}

/// Whether the next word is between commas: `the old password, x, still works`.
fn is_apposed(text: &[u8], at: usize, line_end: usize) -> bool {
    words(text, at, line_end).next().is_some_and(|word| byte(text, word.end) == b',')
}

/// Whether the next sentence speaks of the same thing: `I changed the password. It's x`.
fn continues(text: &[u8], end: usize, line_end: usize) -> bool {
    words(text, end, line_end).next().is_some_and(|word| {
        ["it", "it's", "its", "c'est", "es", "é", "è", "now"]
            .iter()
            .any(|known| word.bytes(text).eq_ignore_ascii_case(known.as_bytes()))
    })
}

/// Finds a value before the noun: `x is the password`, `use x as the password`, `root / x (password …)`.
fn before(text: &[u8], line_start: usize, start: usize, end: usize, noun: Noun) -> Option<Hit> {
    if noun != Noun::Password || !may_hold(&text[line_start..start]) {
        return None;
    }
    let mut line = [Word::default(); 2 * MOST_WORDS];
    let mut count = 0;
    for word in words(text, line_start, start) {
        if count == line.len() {
            line.rotate_left(1);
            count -= 1;
        }
        line[count] = word;
        count += 1;
    }
    let line = &line[..count];
    let whole = made_up::ends_clause(text, end) || is_owned(text, end);
    for (back, joint) in line.iter().enumerate().rev().take(5) {
        let Some(value) = back.checked_sub(1).map(|at| &line[at]) else { break };
        let bare = joint.bytes(text);
        if joint.stops {
            break;
        }
        if JOINTS.holds(bare)
            && whole
            && grade(value.bytes(text)) >= Some(Grade::Likely)
            && !value.is_code(text)
        {
            return Some(value.hit());
        }
    }
    // A value that is typed: `type x at the password prompt`.
    let typed = line.windows(2).find_map(|two| {
        let [verb, value] = two else { return None };
        let told = TYPING.holds(verb.bytes(text))
            && grade(value.bytes(text)) >= Some(Grade::Likely)
            && !value.is_code(text);
        told.then(|| value.hit())
    });
    if typed.is_some() {
        return typed;
    }
    // A pair anywhere before.
    line.windows(3).find_map(|three| {
        let [user, mark, value] = three else { return None };
        let told = mark.bytes(text) == b"/" && user.end > user.start && !user.colon;
        (told && grade(value.bytes(text)) >= Some(Grade::Likely) && !value.is_code(text)).then(|| value.hit())
    })
}

/// Whether a preposition follows the noun: `the password for the vpn`.
fn is_owned(text: &[u8], end: usize) -> bool {
    let line_end = line_end(text, end);
    byte(text, end) == b' '
        && words(text, end, line_end).next().is_some_and(|word| {
            let bare = word.bytes(text);
            OWNERS.holds(bare)
                || LINKS.holds(bare)
                || matches!(bare, b"when" | b"if" | b"here" | b"there" | b"wenn" | b"quand")
        })
}

/// Finds the password in `admin:x` and `admin/x`.
fn pair(text: &[u8], word: &Word, noun: Noun) -> Option<Hit> {
    if noun == Noun::Secret {
        return None;
    }
    let bare = word.bytes(text);
    let mark = bare.iter().position(|byte| matches!(byte, b':' | b'/'))?;
    let (user, password) = (&bare[..mark], &bare[mark + 1..]);
    let named = user.len() > 1
        && user.iter().all(|byte| is(*byte, ALNUM) || matches!(byte, b'.' | b'_' | b'-' | b'@'))
        && is(user[0], LETTER);
    let told = named && grade(password) >= Some(Grade::Likely) && !word.is_code(text);
    told.then_some(Hit { start: word.start + mark + 1, end: word.end, kind: "password" })
}

/// A word of a line, without the marks around it.
#[derive(Clone, Copy, Default)]
pub struct Word {
    pub start: usize,
    pub end: usize,
    /// Whether a colon follows.
    pub colon: bool,
    /// Whether a sentence ends after it.
    pub stops: bool,
}

impl Word {
    pub fn bytes<'a>(&self, text: &'a [u8]) -> &'a [u8] {
        &text[self.start..self.end]
    }

    pub fn hit(&self) -> Hit {
        Hit { start: self.start, end: self.end, kind: "password" }
    }

    /// Whether a byte follows that only code has there.
    fn is_code(&self, text: &[u8]) -> bool {
        matches!(byte(text, self.end), b'(' | b'[' | b'{' | b'=' | b'/' | b'\\')
            && !text[self.end..].starts_with(b"\\n")
            && !text[self.end..].starts_with(b"\\\"")
            && !text[self.end..].starts_with(b"\\r")
            || byte(text, self.end) == b':' && !matches!(byte(text, self.end + 1), b' ' | b'\n' | b'\r')
    }
}

/// Iterates over the words of `text[at..end]`. Tags are skipped, and marks around a word do not belong to it.
pub fn words(text: &[u8], at: usize, end: usize) -> impl Iterator<Item = Word> + '_ {
    let mut at = at;
    std::iter::from_fn(move || {
        loop {
            while at < end && (text[at] <= b' ' || is_mark(text, at) > 0) {
                at += is_mark(text, at).max(1);
            }
            if at >= end {
                return None;
            }
            if text[at] == b'<' {
                let tag = text[at..end].iter().take(60).position(|byte| *byte == b'>');
                if let Some(tag) =
                    tag.filter(|_| is(byte(text, at + 1), LETTER) || byte(text, at + 1) == b'/')
                {
                    at += tag + 1;
                    continue;
                }
            }
            let start = at;
            while at < end
                && text[at] > b' '
                && !matches!(text[at], b'"' | b'`' | b'<')
                && wide_mark(&text[at..]) == 0
            {
                at += 1;
            }
            // The bracket may belong to an arrow: `x <- the password`.
            if at == start {
                at += 1;
                while at < end && text[at] > b' ' && matches!(text[at], b'-' | b'<') {
                    at += 1;
                }
            }
            return Some(trimmed(text, start, at));
        }
    })
}

fn trimmed(text: &[u8], start: usize, at: usize) -> Word {
    let mut end = at;
    let (mut colon, mut stops) = (false, false);
    while end > start + 1 {
        let mark = text[end - 1];
        // The exclamation mark of `Herbst2024!` belongs to the password.
        let owned =
            mark == b'!' && text[start..end].iter().any(u8::is_ascii_digit) && !matches!(text[end - 2], b'!');
        if owned || !b"'.,;:!?)]}*\\".contains(&mark) {
            break;
        }
        colon |= mark == b':';
        stops |= matches!(mark, b'.' | b'!' | b'?' | b';');
        end -= 1;
    }
    Word { start, end, colon, stops }
}

/// Returns the length of a mark that can open a word: a quote, a bracket, an asterisk.
fn is_mark(text: &[u8], at: usize) -> usize {
    match text[at] {
        b'"' | b'\'' | b'`' | b'(' | b'[' | b'{' | b'*' | b',' | b';' => 1,
        b'\\' if matches!(byte(text, at + 1), b'"' | b'\'' | b'`') => 2,
        _ => wide_mark(&text[at..]),
    }
}

fn wide_mark(text: &[u8]) -> usize {
    ["«", "»", "“", "”", "„", "‘", "’", "\u{a0}", "\u{202f}", "│", "║", "┃", "：", "。"]
        .iter()
        .find(|mark| text.starts_with(mark.as_bytes()))
        .map_or(0, |mark| mark.len())
}

/// Returns the end of the line that goes on at `at`: a real line break, an escaped one, or the last blank within reach.
fn line_end(text: &[u8], at: usize) -> usize {
    let window = &text[at..text.len().min(at + REACH)];
    let broken = memchr::memchr2_iter(b'\n', b'\\', window)
        .find(|at| window[*at] == b'\n' || matches!(window.get(at + 1), Some(b'n' | b'r')));
    match broken {
        Some(length) => at + length,
        None if at + window.len() == text.len() => text.len(),
        // A word must not be cut.
        None => at + window.iter().rposition(u8::is_ascii_whitespace).unwrap_or(0),
    }
}

/// Returns the start of the line before `at`: after a line break, or after the first blank within reach.
fn line_start(text: &[u8], at: usize, floor: usize) -> usize {
    let from = floor.max(at.saturating_sub(REACH));
    let line = at - context::last_line(&text[from..at]).len();
    if line > from || from == floor {
        return line;
    }
    line + text[line..at].iter().position(u8::is_ascii_whitespace).unwrap_or(at - line)
}
