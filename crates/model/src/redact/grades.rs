//! Grades how much a word looks like a password, in a line that mentions one.

use super::chance::{ValueProfile, profile_value};
use super::classes::{ALNUM, DIGIT, LETTER, LOWER, UPPER, byte_is};
use super::lexicon;
use super::made_up;
use super::names::{self, WordList, word_list};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum PasswordGrade {
    /// Made of words and digits. It is a password only where the line expects a value.
    Likely,
    /// A password anywhere in the line.
    Obvious,
}

const MIN_WORD_BYTES: usize = 5;
const MAX_WORD_BYTES: usize = 64;

/// Returns how much a word looks like a password; `None` if it is a term, a name, a path or an id.
pub fn grade_word(word: &[u8]) -> Option<PasswordGrade> {
    if !(MIN_WORD_BYTES..=MAX_WORD_BYTES).contains(&word.len())
        || !byte_is(word[0], ALNUM) && word[0] < 0x80
        || word.iter().any(|byte| b"/\\\"'`<>(){}[]|,;=:".contains(byte))
        || word.iter().any(|byte| *byte >= 0x80 && !made_up::is_accented(*byte))
    {
        return None;
    }
    // A word of letters alone belongs to the sentence. Most words are like this.
    let plain = |byte: &u8| byte_is(*byte, LOWER) || *byte >= 0x80;
    if word[1..].iter().all(plain) {
        return None;
    }
    let looks = profile_value(word);
    if looks.letters() < 3
        || looks.is_filler()
        || is_known_id(word)
        || names::judge_name(word).is_some()
        || is_computing_term(word)
        || is_mail_address(word)
    {
        return None;
    }
    let sure = made_up::made_up_certainty(word);
    if sure == Some(made_up::PasswordCertainty::Nouns) {
        return Some(if looks.digits > 0 || lexicon::everyday_words(word) > 2 {
            PasswordGrade::Obvious
        } else {
            PasswordGrade::Likely
        });
    }
    let parts = WordParts::of(word);
    let marks = word.iter().filter(|byte| b"!@#$%^&*?+~".contains(byte)).count();
    if marks > 0 && marks <= 6 && looks.digits > 0 && parts.common == 0 {
        return Some(PasswordGrade::Obvious);
    }
    if is_randomly_mixed(&looks) && parts.common == 0 {
        return Some(PasswordGrade::Obvious);
    }
    if looks.digits == 0 {
        let strung = parts.count >= 3
            && parts.common == 0
            && parts.shortest >= 3
            && word.contains(&b'-')
            && looks.upper <= parts.count;
        return (strung
            || sure == Some(made_up::PasswordCertainty::Words) && word.contains(&b'_')
            || sure == Some(made_up::PasswordCertainty::Words)
                && word.iter().any(|byte| byte_is(*byte, UPPER)))
        .then_some(PasswordGrade::Likely);
    }
    // An id such as `PROJ-1234` is all in capitals.
    let shouts = looks.lower == 0;
    let worded = parts.common == 0 && parts.longest >= 4 && !shouts && looks.letters() >= 4;
    if word.len() == MIN_WORD_BYTES {
        let short = looks.upper == 1 && byte_is(word[0], UPPER) && looks.digits >= 2 && parts.common == 0;
        return short.then_some(PasswordGrade::Likely);
    }
    let numbered = looks.digits >= 2 || looks.upper > 0 || looks.letters() >= 5;
    (worded && numbered).then_some(PasswordGrade::Likely)
}

/// Whether letters and digits alternate more than in names: `jMcv3KvEwQwR`.
fn is_randomly_mixed(looks: &ValueProfile) -> bool {
    looks.digits > 0
        && looks.upper > 0
        && looks.lower > 0
        && looks.len >= 8
        && looks.changes >= 4
        && looks.changes * 4 >= looks.len
}

/// Whether a word is a hash, an id, a number with a unit, a date or a version.
fn is_known_id(word: &[u8]) -> bool {
    let hex = word.iter().all(|byte| byte.is_ascii_hexdigit() || *byte == b'-');
    let digits_first =
        byte_is(word[0], DIGIT) && word.iter().filter(|byte| byte_is(**byte, LETTER)).count() <= 3;
    let version = matches!(word[0], b'v' | b'V')
        && byte_is(word[1], DIGIT)
        && word[1..].iter().all(|byte| byte_is(*byte, DIGIT | LOWER) || *byte == b'.');
    hex || digits_first || version
}

/// Whether a word is an address or `name@host`.
fn is_mail_address(word: &[u8]) -> bool {
    let Some(at) = memchr::memchr(b'@', word) else { return false };
    let (name, host) = (&word[..at], &word[at + 1..]);
    let dotted = memchr::memchr(b'.', host)
        .is_some_and(|dot| host[dot + 1..].first().is_some_and(|byte| byte_is(*byte, LETTER)));
    let plain = name.len() > 2
        && name.iter().all(|byte| byte_is(*byte, LOWER | DIGIT))
        && host.first().is_some_and(|byte| byte_is(*byte, LOWER));
    dotted || plain
}

/// Whether a word is a computing term or a file name. Both may contain digits.
pub fn is_computing_term(word: &[u8]) -> bool {
    if !word.iter().any(|byte| byte_is(*byte, DIGIT) || *byte == b'.') {
        return false;
    }
    let stem = &word[..word.iter().position(|byte| !byte_is(*byte, LETTER)).unwrap_or(word.len())];
    let dot = memchr::memrchr(b'.', word);
    let file = dot.is_some_and(|dot| FILE_EXTENSIONS.contains_word(&word[dot + 1..]));
    let letters = word[stem.len()..].iter().filter(|byte| byte_is(**byte, LETTER)).count();
    let member = word[stem.len()..].iter().take_while(|byte| byte_is(**byte, DIGIT)).count();
    let scoped = COMPUTING_TERMS.contains_word(stem) && word.get(stem.len() + member) == Some(&b'.');
    file || scoped || letters <= 4 && COMPUTING_TERMS.contains_word(stem) && word.len() - stem.len() <= 12
}

static FILE_EXTENSIONS: WordList = word_list(
    "rs py js ts tsx jsx go rb php java kt c h cpp cs sh md txt json yaml yml toml ini cfg conf env log csv sql xml html css scss lock zip gz \
     tgz tar 7z rar pdf png jpg svg exe dll so jar war pem key crt cer p12 pfx pub vue svelte com org net io dev local internal example",
);

/// Computing terms with digits, listed by their letters.
static COMPUTING_TERMS: WordList = word_list(
    "sha md base utf http https oauth oath argon pbkdf ed rsa aes ipv rfc cve tls ssl ec php python java node mysql postgres postgresql es win \
     windows ubuntu debian centos rhel fedora vue angular bootstrap step stage phase part section chapter figure table line row col column version \
     ver rev build release sprint milestone week day month year quarter level tier grade page item host server srv web app vm box pod worker \
     master slave primary replica user usr admin test tester dev prod staging qa account client customer port channel room floor ticket issue bug \
     task case example sample demo foo bar baz tmp temp backup snapshot file img image photo screenshot track disk sda nvme eth wlan tun tty \
     scrypt bcrypt blake ntlm kerberos sql db database redis mongo kafka k8s arm x amd intel core cpu gpu ios android macos iphone ipad sam \
     secp nistp curve poly chacha salsa hmac hotp totp fido webauthn saml oidc jwt pkcs x509 iso ieee nist fips pci soc gdpr hs es ps rs \
     utf ascii latin cp shift gb big euc html css js ecmascript py go rust net dotnet asp web v r p q h us eu ap uk de fr \
     router switch ap fw firewall gw gateway proxy lb cache queue job run attempt try round pass iteration try batch shard partition region zone rack \
     monday tuesday wednesday thursday friday saturday sunday january february march april june july august september october november december",
);

/// The parts of a text that is joined from words.
struct WordParts {
    count: usize,
    common: usize,
    shortest: usize,
    longest: usize,
}

impl WordParts {
    fn of(word: &[u8]) -> WordParts {
        let mut parts = WordParts { count: 0, common: 0, shortest: usize::MAX, longest: 0 };
        let mut start = 0;
        while start < word.len() {
            if !made_up::is_latin_letter(word[start]) {
                start += 1;
                continue;
            }
            let length = made_up::word_length(&word[start..]);
            let part = &word[start..start + length];
            parts.count += 1;
            parts.common += usize::from(
                length > 2 && made_up::is_common_or_plural(part) && !made_up::is_everyday_noun(part),
            );
            parts.shortest = parts.shortest.min(length);
            parts.longest = parts.longest.max(length);
            start += length;
        }
        parts
    }
}
