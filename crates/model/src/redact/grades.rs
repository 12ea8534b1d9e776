//! Grades how much a word in a line about passwords looks like a password.

use super::chance::{ValueProfile, profile_value};
use super::classes::{DIGIT, LETTER, LETTER_OR_DIGIT, LOWER, UPPER, is_byte_in_class};
use super::lexicon;
use super::made_up;
use super::names::{self, WordList, word_list};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum PasswordGrade {
    /// The string consists of words and digits. It counts as a password only where the line expects a value.
    Likely,
    /// The string counts as a password anywhere in the line.
    Obvious,
}

const MIN_PASSWORD_WORD_BYTES: usize = 5;
const MAX_GRADED_WORD_BYTES: usize = 64;

/// Returns how much a word looks like a password. Returns `None` for a term, a name, a path or an id.
pub fn grade_word(word: &[u8]) -> Option<PasswordGrade> {
    if !(MIN_PASSWORD_WORD_BYTES..=MAX_GRADED_WORD_BYTES).contains(&word.len())
        || !is_byte_in_class(word[0], LETTER_OR_DIGIT) && word[0] < 0x80
        || word.iter().any(|byte| b"/\\\"'`<>(){}[]|,;=:".contains(byte))
        || word.iter().any(|byte| *byte >= 0x80 && !made_up::is_accented(*byte))
    {
        return None;
    }
    // A word without digits, punctuation or inner capitals belongs to the sentence. Most words are rejected here.
    let plain = |byte: &u8| is_byte_in_class(*byte, LOWER) || *byte >= 0x80;
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
    if sure == Some(made_up::PasswordCertainty::EverydayNouns) {
        return Some(if looks.digits > 0 || lexicon::count_nouns_in_text(word) > 2 {
            PasswordGrade::Obvious
        } else {
            PasswordGrade::Likely
        });
    }
    let parts = WordParts::count_word_parts(word);
    let marks = word.iter().filter(|byte| b"!@#$%^&*?+~".contains(byte)).count();
    if marks > 0 && marks <= 6 && looks.digits > 0 && parts.common_words == 0 {
        return Some(PasswordGrade::Obvious);
    }
    if is_randomly_mixed(&looks) && parts.common_words == 0 {
        return Some(PasswordGrade::Obvious);
    }
    if looks.digits == 0 {
        let strung = parts.count >= 3
            && parts.common_words == 0
            && parts.shortest >= 3
            && word.contains(&b'-')
            && looks.upper <= parts.count;
        return (strung
            || sure == Some(made_up::PasswordCertainty::SeveralWords) && word.contains(&b'_')
            || sure == Some(made_up::PasswordCertainty::SeveralWords)
                && word.iter().any(|byte| is_byte_in_class(*byte, UPPER)))
        .then_some(PasswordGrade::Likely);
    }
    // An id such as `PROJ-1234` contains no lower-case letters.
    let shouts = looks.lower == 0;
    let worded = parts.common_words == 0 && parts.longest >= 4 && !shouts && looks.letters() >= 4;
    if word.len() == MIN_PASSWORD_WORD_BYTES {
        let short = looks.upper == 1
            && is_byte_in_class(word[0], UPPER)
            && looks.digits >= 2
            && parts.common_words == 0;
        return short.then_some(PasswordGrade::Likely);
    }
    let numbered = looks.digits >= 2 || looks.upper > 0 || looks.letters() >= 5;
    (worded && numbered).then_some(PasswordGrade::Likely)
}

/// Returns whether letters and digits alternate more than in names, as in `jMcv3KvEwQwR`.
fn is_randomly_mixed(looks: &ValueProfile) -> bool {
    looks.digits > 0
        && looks.upper > 0
        && looks.lower > 0
        && looks.len >= 8
        && looks.class_changes >= 4
        && looks.class_changes * 4 >= looks.len
}

/// Returns whether a word is a hash, an id, a number with a unit, a date or a version.
fn is_known_id(word: &[u8]) -> bool {
    let hex = word.iter().all(|byte| byte.is_ascii_hexdigit() || *byte == b'-');
    let digits_first = is_byte_in_class(word[0], DIGIT)
        && word.iter().filter(|byte| is_byte_in_class(**byte, LETTER)).count() <= 3;
    let version = matches!(word[0], b'v' | b'V')
        && is_byte_in_class(word[1], DIGIT)
        && word[1..].iter().all(|byte| is_byte_in_class(*byte, DIGIT | LOWER) || *byte == b'.');
    hex || digits_first || version
}

/// Returns whether a word is a mail address or has the form `name@host`.
fn is_mail_address(word: &[u8]) -> bool {
    let Some(at) = memchr::memchr(b'@', word) else { return false };
    let (name, host) = (&word[..at], &word[at + 1..]);
    let dotted = memchr::memchr(b'.', host)
        .is_some_and(|dot| host[dot + 1..].first().is_some_and(|byte| is_byte_in_class(*byte, LETTER)));
    let plain = name.len() > 2
        && name.iter().all(|byte| is_byte_in_class(*byte, LOWER | DIGIT))
        && host.first().is_some_and(|byte| is_byte_in_class(*byte, LOWER));
    dotted || plain
}

/// Returns whether a word is a computing term or a file name. Both may contain digits.
pub fn is_computing_term(word: &[u8]) -> bool {
    if !word.iter().any(|byte| is_byte_in_class(*byte, DIGIT) || *byte == b'.') {
        return false;
    }
    let stem = &word[..word.iter().position(|byte| !is_byte_in_class(*byte, LETTER)).unwrap_or(word.len())];
    let dot = memchr::memrchr(b'.', word);
    let file = dot.is_some_and(|dot| FILE_EXTENSIONS.contains_word(&word[dot + 1..]));
    let letters = word[stem.len()..].iter().filter(|byte| is_byte_in_class(**byte, LETTER)).count();
    let member = word[stem.len()..].iter().take_while(|byte| is_byte_in_class(**byte, DIGIT)).count();
    let scoped = COMPUTING_TERMS.contains_word(stem) && word.get(stem.len() + member) == Some(&b'.');
    file || scoped || letters <= 4 && COMPUTING_TERMS.contains_word(stem) && word.len() - stem.len() <= 12
}

static FILE_EXTENSIONS: WordList = word_list(
    "\
    c cer cfg com conf cpp crt cs css csv dev dll env example exe go gz h html ini internal io jar java jpg js \
    json jsx key kt local lock log md net org p12 pdf pem pfx php png pub py rar rb rs scss sh so sql svelte svg \
    tar tgz toml ts tsx txt vue 7z war xml yaml yml zip",
);

/// Technical terms and other words that are often followed by digits. Only the letters before the digits are
/// listed.
static COMPUTING_TERMS: WordList = word_list(
    "\
    account admin aes amd android angular ap app april argon arm ascii asp attempt august backup bar base batch \
    baz bcrypt big blake bootstrap box bug build cache case centos chacha channel chapter client col column core \
    cp cpu css curve customer cve database day db de debian december demo dev disk dotnet ec ecmascript ed es \
    eth eu euc example february fedora fido figure file fips firewall floor foo fr friday fw gateway gb gdpr go \
    gpu grade gw h hmac host hotp hs html http https ieee image img intel ios ipad iphone ipv iso issue item \
    iteration january java job js july june jwt k8s kafka kerberos latin lb level line macos march master md \
    milestone monday mongo month mysql net nist nistp node november ntlm nvme oath oauth october oidc p page \
    part partition pass pbkdf pci phase photo php pkcs pod poly port postgres postgresql primary prod proxy ps \
    py python q qa quarter queue r rack redis region release replica rev rfc rhel room round router row rs rsa \
    run rust salsa sam saml sample saturday screenshot scrypt sda secp section september server sha shard shift \
    slave snapshot soc sprint sql srv ssl stage staging step sunday switch table task temp test tester thursday \
    ticket tier tls tmp totp track try tty tuesday tun ubuntu uk us user usr utf v ver version vm vue web \
    webauthn wednesday week win windows wlan worker x x509 year zone",
);

/// Statistics about the words that are joined in a string such as `copper-kettle-42`.
struct WordParts {
    count: usize,
    common_words: usize,
    shortest: usize,
    longest: usize,
}

impl WordParts {
    fn count_word_parts(word: &[u8]) -> WordParts {
        let mut parts = WordParts { count: 0, common_words: 0, shortest: usize::MAX, longest: 0 };
        let mut start = 0;
        while start < word.len() {
            if !made_up::is_latin_letter(word[start]) {
                start += 1;
                continue;
            }
            let length = made_up::camel_case_word_length(&word[start..]);
            let part = &word[start..start + length];
            parts.count += 1;
            parts.common_words += usize::from(
                length > 2 && made_up::is_common_word_or_its_plural(part) && !made_up::is_everyday_noun(part),
            );
            parts.shortest = parts.shortest.min(length);
            parts.longest = parts.longest.max(length);
            start += length;
        }
        parts
    }
}
