//! Passwords that people make up from words, such as `Walnutjacket`, `copper.kettle.moon`, `NectarSandal` and
//! `Comet_Timber6`.
//!
//! Such passwords look like names in a program or words in a sentence. But code and sentences use only a limited
//! vocabulary next to the name of a password. This module lists that vocabulary.

use super::classes::{DIGIT, LETTER, LOWER, UPPER, byte_or_newline, is_byte_in_class};
use super::lexicon::{NounLexicon, build_lexicon, count_everyday_nouns};
use super::names;

/// The maximum length of a single word. A longer run of letters consists of several words.
const MAX_WORD_LETTERS: usize = 13;
/// The maximum length of a single word that has none of the suffixes of long words.
const MAX_STEM_LETTERS: usize = 10;
const MAX_MADE_UP_PASSWORD_BYTES: usize = 64;

/// How certain it is that a string is a made-up password.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum PasswordCertainty {
    /// One word that is not common in code or in sentences about passwords. Such a word is accepted only at the end of
    /// a clause or a line.
    SingleWord,
    /// One word that is longer than ordinary words.
    LongWord,
    /// Several words, or words with digits.
    SeveralWords,
    /// Only everyday nouns. Neither code nor sentences about passwords contain them.
    EverydayNouns,
}

/// Returns how certain it is that `content` is a password made up from words. Returns `None` for a name in code, a word
/// of a sentence, or a string without words.
pub fn made_up_certainty(content: &[u8]) -> Option<PasswordCertainty> {
    if content.len() < 8 && is_noun_not_used_as_modifier(content) {
        return Some(PasswordCertainty::SingleWord);
    }
    if content.len() < 8 || content.len() > MAX_MADE_UP_PASSWORD_BYTES || names::judge_name(content).is_some()
    {
        return None;
    }
    if is_random_letters(content) {
        return Some(PasswordCertainty::SeveralWords);
    }
    let (mut words, mut long, mut capitals, mut letters, mut digits) = (0, 0, 0, 0, 0);
    let (mut common, mut ends_common, mut shortest) = (0, false, usize::MAX);
    // The number of words that consist of everyday nouns, and the total number of these nouns.
    let (mut everyday, mut nouns, mut ends_everyday) = (0, 0, false);
    let mut start = 0;
    let mut joint = 0;
    while start < content.len() {
        match content[start] {
            b'.' | b'-' | b'_' => {
                if joint != 0 && joint != content[start] || start == 0 {
                    return None;
                }
                joint = content[start];
                start += 1;
            }
            mark if is_byte_in_class(mark, DIGIT) => {
                digits += 1;
                start += 1;
            }
            mark if is_latin_letter(mark) => {
                let length = camel_case_word_length(&content[start..]);
                let word = &content[start..start + length];
                ends_common = COMMON_WORDS.contains_word(word)
                    || word.last() == Some(&b's') && COMMON_WORDS.contains_word(&word[..length - 1]);
                common += usize::from(ends_common);
                let parts = count_everyday_nouns(word);
                ends_everyday = parts > 0;
                everyday += usize::from(ends_everyday);
                nouns += parts;
                words += 1;
                long += usize::from(length >= 3);
                letters += length;
                shortest = shortest.min(length);
                capitals += usize::from(is_byte_in_class(word[0], UPPER));
                start += length;
            }
            b'!' | b'@' | b'#' | b'$' | b'%' | b'&' | b'*' | b'+' | b'?' | b'^' if start > 2 => start += 1,
            _ => return None,
        }
    }
    // In code, the last word of a name is usually a common word, as in `AcmeManager`, and a name with separators often
    // contains a common word. If three or more words are joined by dashes, one of them may be common.
    let strung = words >= 3 && joint == b'-' && shortest >= 4 && common == 1;
    // A common word is not a sign of code if all other words are everyday nouns, as in `copper.window` and
    // `WindowFalcon7`.
    let beside_nouns =
        common == 1 && everyday > 0 && everyday + 1 == words && (joint != 0 || digits > 0 || !ends_common);
    if (ends_common || common > 1 || common > 0 && joint != 0) && !strung && !beside_nouns {
        return None;
    }
    // Names and constants in code, such as `snake_case`, `CONSTANT`, `utf-8` and `v1.2.3`, are not passwords.
    let shouts = !content.iter().any(|byte| is_byte_in_class(*byte, LOWER));
    // A short word needs several digits, as in `Lemon2013!`.
    let few = letters < 6 && !(letters >= 4 && digits >= 3);
    let all_everyday = everyday == words && (nouns > 1 || digits > 0);
    // Everyday nouns, as in `Cedar_apricot6` and `cedar_apricot`, rarely occur in the names of variables.
    let homely = (2..=4).contains(&words) && everyday * 2 >= words && common == 0 && shortest >= 4;
    let numbered = digits >= 2
        && words >= 2
        && common == 0
        && content.last().is_some_and(|last| is_byte_in_class(*last, DIGIT));
    let snake = joint == b'_'
        && !(capitals == words || capitals > 0 && digits > 0 || all_everyday || numbered || homely);
    if few || long != words || shouts || snake || joint == b'_' && words > 4 {
        return None;
    }
    // Punctuation at the end is usually not part of a password. For example, the asterisks in `available**` only end
    // bold text.
    let shouted = content.ends_with(b"!") && words >= 2 && capitals == words && !content.ends_with(b"!!");
    if digits == 0 && !content.last().is_some_and(|last| is_latin_letter(*last)) && !shouted {
        return None;
    }
    if all_everyday && digits <= 6 && words <= 6 {
        return Some(PasswordCertainty::EverydayNouns);
    }
    if digits > 0 {
        return (digits <= 6 && words <= 4).then_some(PasswordCertainty::SeveralWords);
    }
    match words {
        1 if everyday > 0 => Some(PasswordCertainty::SingleWord),
        1 if has_state_ending(content) => None,
        1 if letters > MAX_WORD_LETTERS || letters > MAX_STEM_LETTERS && !has_long_word_suffix(content) => {
            Some(PasswordCertainty::LongWord)
        }
        1 => Some(PasswordCertainty::SingleWord),
        // Two or three words in the form `lowerCamel` are usually a name in code, unlike `Title-word` and
        // `word.word`.
        2 | 3 if joint == 0 && is_byte_in_class(content[0], LOWER) => None,
        2..=6
            if joint == b'-'
                && !ends_everyday
                && has_state_ending(content.rsplit(|byte| *byte == b'-').next()?) =>
        {
            None
        }
        // A term such as `brute-force` or `two-factor` is no more likely to be a password than a single word.
        2 if joint == b'-' && capitals == 0 && (everyday == 0 || common > 0) => {
            Some(PasswordCertainty::SingleWord)
        }
        2..=6 => Some(PasswordCertainty::SeveralWords),
        _ => None,
    }
}

/// Returns whether a word is an everyday noun. Words that often describe another noun, such as `green` and `wild`, are
/// excluded.
pub fn is_noun_not_used_as_modifier(word: &[u8]) -> bool {
    const DESCRIBING_WORDS: &str = "black blue brave bright fluffy fuzzy glass gold golden green grey happy heart house ice jolly king lucky lunar \
        magic merry mighty morning music night pink polar purple red royal shiny silly silver snowy solar spicy star sunday \
        sunny sweet water white wild yellow turbo lonely windy zesty feral gilded hollow mellow anchor basket tunnel carbon";
    (4..=12).contains(&word.len())
        && word.iter().all(|byte| is_byte_in_class(*byte, LETTER))
        && word[1..].iter().all(|byte| is_byte_in_class(*byte, LOWER))
        && count_everyday_nouns(word) > 0
        && !DESCRIBING_WORDS.split_ascii_whitespace().any(|known| word.eq_ignore_ascii_case(known.as_bytes()))
}

/// Returns whether a string consists of several words joined by separators, capitals or digits. Labels and sentences
/// about passwords contain no such strings.
pub fn consists_of_joined_words(content: &[u8]) -> bool {
    made_up_certainty(content) >= Some(PasswordCertainty::SeveralWords)
}

/// Returns whether a string consists of everyday nouns. Next to the name of a password, such a string is always
/// redacted.
pub fn consists_of_everyday_nouns(content: &[u8]) -> bool {
    made_up_certainty(content) == Some(PasswordCertainty::EverydayNouns)
}

/// Returns whether a word is a German or Dutch participle that describes a password, such as `verlopen`, `gewijzigd` or
/// `abgelaufen`.
pub fn is_participle_about_password(word: &[u8]) -> bool {
    const PARTICIPLE_PREFIXES: &str = "ver ge be ont her ab ein aus un zer ent neu op uit";
    const ENDINGS: &str = "en t d";
    PARTICIPLE_PREFIXES.split(' ').any(|prefix| word.starts_with(prefix.as_bytes()))
        && ENDINGS.split(' ').any(|ending| word.ends_with(ending.as_bytes()))
        && count_everyday_nouns(word) == 0
}

/// Returns whether a clause ends at `end`. If so, a single word before `end` is the whole value.
pub fn ends_clause(text: &[u8], end: usize) -> bool {
    let next = byte_or_newline(text, end);
    match next {
        b'\n' | b'\r' | b'"' | b'\'' | b'`' | b')' | b'<' | b'\\' => true,
        b',' | b'.' | b';' | b'!' | b'?' => {
            matches!(byte_or_newline(text, end + 1), b' ' | b'\n' | b'\r' | b'"' | b'\\' | b'<')
        }
        b' ' => {
            let rest = &text[end + 1..];
            let length = rest.iter().take(12).take_while(|byte| is_byte_in_class(**byte, LOWER)).count();
            byte_or_newline(rest, 0) == b'('
                || rest.starts_with(b"- ")
                || rest.starts_with(b"</")
                || rest.starts_with("—".as_bytes())
                || matches!(byte_or_newline(rest, length), b' ' | b'\n' | b',' | b'.')
                    && CLAUSE_BEGINNERS.split(' ').any(|word| word.as_bytes() == &rest[..length])
        }
        _ => false,
    }
}

/// Words that start the next part of a sentence.
const CLAUSE_BEGINNERS: &str =
    "now on for until since and but so from please then yesterday today before after when while";

/// Returns whether a byte is an ASCII letter or part of an accented letter.
pub fn is_latin_letter(byte: u8) -> bool {
    is_byte_in_class(byte, LETTER) || is_accented(byte)
}

/// Returns whether a byte is part of an accented Latin letter in UTF-8.
pub fn is_accented(byte: u8) -> bool {
    matches!(byte, 0xc3..=0xc5 | 0x80..=0xbf)
}

/// Returns whether letters look random, as in `BFTvcqnUxUbuLv`. In words, a vowel comes between two capitals, and the
/// last letter is not a capital.
fn is_random_letters(content: &[u8]) -> bool {
    if content.len() < 10 || content.len() > 40 || !content.iter().all(|byte| is_byte_in_class(*byte, LETTER))
    {
        return false;
    }
    let (mut humps, mut dumb, mut start) = (0, 0, 0);
    for at in 1..=content.len() {
        let hump = at < content.len()
            && is_byte_in_class(content[at], UPPER)
            && is_byte_in_class(content[at - 1], LOWER);
        humps += usize::from(hump);
        if hump || at == content.len() {
            let vowel = |byte: &u8| matches!(byte | 32, b'a' | b'e' | b'i' | b'o' | b'u' | b'y');
            let part = &content[start..at];
            dumb += usize::from(
                part.len() >= 3 && is_byte_in_class(part[part.len() - 1], LOWER) && !part.iter().any(vowel),
            );
            start = at;
        }
    }
    let ends_loud = is_byte_in_class(content[content.len() - 1], UPPER);
    humps >= 2 && (dumb >= 1 || ends_loud && humps >= 3)
}

/// Returns the number of letters up to the capital that starts the next word.
pub fn camel_case_word_length(text: &[u8]) -> usize {
    let letters = text.iter().take_while(|byte| is_latin_letter(**byte)).count();
    (1..letters)
        .find(|at| is_byte_in_class(text[*at], UPPER) && !is_byte_in_class(text[*at - 1], UPPER))
        .unwrap_or(letters)
}

/// Returns whether a word describes the state of a password, as in the log lines `password=changed` and
/// `password=valid`.
pub fn is_password_state_word(word: &[u8]) -> bool {
    const STATE_WORDS: &str =
        "present absent valid invalid incorrect correct unset hidden weak strong missing good expiring";
    word.ends_with(b"ed") && word.len() >= 6 || STATE_WORDS.split(' ').any(|state| state.as_bytes() == word)
}

/// Returns whether a string consists of words that are not in `COMMON_WORDS`, joined by a separator, as in
/// `hollow_zeppelin`.
pub fn is_unlisted_words_joined(text: &[u8]) -> bool {
    let parts = || text.split(|byte| matches!(byte, b'_' | b'-' | b'.'));
    parts().count() > 1
        && parts().all(|part| {
            part.len() > 2
                && part.iter().all(|byte| is_byte_in_class(*byte, LETTER))
                && !is_common_word_or_its_plural(part)
        })
}

/// Returns whether `COMMON_WORDS` contains the word or its singular.
pub fn is_common_word_or_its_plural(word: &[u8]) -> bool {
    COMMON_WORDS.contains_word(word)
        || word.split_last().is_some_and(|(last, stem)| *last == b's' && COMMON_WORDS.contains_word(stem))
}

/// Returns whether a common word is also an everyday noun. Such a word may be part of a password such as
/// `window-copper-42`.
pub fn is_everyday_noun(word: &[u8]) -> bool {
    [
        "window", "pop", "mask", "icon", "seed", "lock", "guard", "salt", "box", "bar", "hook", "table",
        "bucket", "gateway", "holder", "wallet",
    ]
    .iter()
    .any(|known| word.eq_ignore_ascii_case(known.as_bytes()))
}

/// Returns whether a word is common in code or in sentences about passwords.
pub fn is_common_or_state_word(word: &[u8]) -> bool {
    COMMON_WORDS.contains_word(word) || has_state_ending(word)
}

/// Returns whether a word has a suffix that marks a state or an action, as in `required`, `missing` and
/// `automatically`.
fn has_state_ending(word: &[u8]) -> bool {
    const ENDINGS: [&[u8]; 18] = [
        b"ed", b"ing", b"ly", b"able", b"ible", b"tive", b"ious", b"less", b"ment", b"tion", b"sion", b"ity",
        b"ness", b"ical", b"ance", b"ence", b"ator", b"izer",
    ];
    word.len() <= MAX_WORD_LETTERS + 2 && ENDINGS.iter().any(|ending| word.ends_with(ending))
}

/// Returns whether a word has one of the suffixes that are common in long words of the supported languages.
pub fn has_long_word_suffix(word: &[u8]) -> bool {
    const LONG_WORD_SUFFIXES: &str = "able ada ade ado age aire al ally ance ando ant ants ar ary ase ata ate ated ates ato ció ción ão ade code dad de do e \
        ed ein elle ence end endo ent ente entes ents ere eren erent ern ers erung es euse eur eurs fen file fish ful graph hood ial \
        ible ic ical ics ido ing ion ions isch ische ism ist isti it ité ity ium ive ivo izar ize ized keit land lich liche lijk line \
        lity ly man mente ment mente ments name ness net né oder ogy on oni ons or ora ors ory osa oso ous page port qué red ria ric \
        rio s script self set ship side site son sql tà tal tas teed ten time tion to tor tte tung tur tus ual ung ura ure us ven ver \
        ware way wise word work yte zione";
    LONG_WORD_SUFFIXES.split_ascii_whitespace().any(|suffix| word.ends_with(suffix.as_bytes()))
}

/// Words that are common in code, in sentences about passwords, and in the labels of forms.
static COMMON_WORDS: NounLexicon = build_lexicon(
    "\
    abgelaufen accepted access account accounts across action active actual adapter address adequate adgangskode \
    admin afficher after again against agent aktuelles algorithm alive all alphanumeric also alterar always \
    ambiguous and annotation another any anyone anything anzeigen api app apparent application appropriate arbitrary \
    arg argon args argument around array attempt attr attribute atual auth authenticate authentication authenticator \
    authenticators authorized auto autocomplete autofill aware aws azure \
    backend bar base basic bcrypt because been before being below between beyond biometric bitte bitwarden blank \
    blob block body bool boolean both bound box breach breaches broken browser bucket buffer builder but button byte \
    bytes \
    cache call callback called cambia cambiar can cannot capital capitals case cell central cert certificate cfg \
    challenge change changer char character characters check checkbox checker chosen class clave clear cleartext cli \
    client cloud cluster code column com command comment common company comparator compare compat complex complexity \
    compliant component compromised concern conf confidential config configuration confirm conjur connection \
    connector consistent const constant consumer container content context contrasena contrasenya contraseña control \
    controller converter copy correct correcta correcte corretta could count cracked create credential credentials \
    critical crypt cryptic csv ctx current custom \
    dashboard dashlane data database date day days db decode decoder decorator decrypt default del delete dependent \
    deploy derive describe details dialog dict different digest digit digite digits dimenticata dir directive \
    directly directory disable disclosure discovery dll doc docs document documentation does domain done doppler \
    down driven dto dummy dump dumps during dynamic \
    easy edit editor eight eingeben either element else elsewhere email empty enable encode encoder encoding encrypt \
    encryption end endpoint enough enter entirely entity entrez entropy entry enum env environment equal equals \
    equivalent erforderlich err errata errato error errors esquecida essential event every everything everywhere \
    exact exactly example except exception exe exist existing exists expected expire expiry export exposed ext \
    external \
    factor factory fail failure fake falsch false fetch field fields file filename filter final finally find first \
    flag float flow fn follow foo for forbidden forget forgot forgotten form format formatter forte from frozen \
    function further \
    gateway gcp gen generator generic geslo get getter github gitlab given global goes going good gotten great group \
    guard \
    handler handshake hard hardcode harmless has hash hasher hashes hasło having header health hello help helper \
    helpers here heslo hidden hide high hint historical history hmac holder hook hooks host hours how however html \
    http https hygiene \
    icon iden identical identity ignore image immediate impl import important in inadequate inappropriate \
    inconsistent incorrect incorrecta incorrecte incorrecto incorreta independent index infisical info ingresar \
    ingrese ini init inline input insecure inserire inserisci insert inside insignificant insira install instance \
    instead insufficient int intact integer interceptor interface internal into introducir introduzca inv invalid \
    invisible invoer irrelevant is issue item iter itself \
    jar java jelszó js json juist just \
    keep keepass keepassxc kennwort kerberos key keychain keyring keys keystore kind known kodeord korrekt \
    label lambda lan language last lastpass later ldap leading leak leaks least leeg leer legacy legitimate length \
    less level lib library likely line link list listener literal little load local locale localhost location lock \
    log logger login logout long longer look lookup losenord lost low lower lowercase lozinka lykilorð lösenord \
    main manager mandatory manual manually many map mapper markdown mask match matcher material max maximum may mean \
    means mechanism member message meta method metrics middleware migration min minimum minute missing mixed mock \
    modal mode model modify module more most mostra mostrar motdepasse much multi multiple must my \
    name names namespace necessary need needed net network neue neues never new next nieuw nil nobody node non nonce \
    none nonempty normal not note nothing nouveau nouvelle nova nowhere nueva null nullable num number numbers \
    numeric numerical nuova \
    oauth obbligatoria object obligatoire obligatoria obligatorio obrigat observer obsolete obvious off offline oidc \
    old older olvidada one onepassword oneself onjuist online only op open openid option optional options opts or \
    org original other otherwise oubli our out output over override overview overwritten own owner \
    package page panel param parameter params parent parola parole parool parse parser part passcode passkey passord \
    passphrase passwd password passwordless passwort path pattern payload per perfect perhaps perm permanent \
    permission persist phone php picker pipe pipeline place placeholder plain plaintext plaintexts plan please \
    policy pop popup port portal possible post practical prefer prefix present previous primary private probably \
    problem process production profile project prompt prompts prop property props protect protected protection \
    protocol provide provider proxy public pwd \
    query question \
    radius random rather raw read readable reader ready real reason reasonable recent record recover recovery redact \
    redundant ref regex register reject release relevant reluctant remember remote remove repeat repo repository req \
    requerida requerido request require requirement requis requise reset resistant resolver resource response \
    restart result retrieve retry return reuse rewritten richiesta richtig role root rotate rotations route router \
    row rule run \
    saisir salasana salt same saml sample sandbox sandi save schema scheme scope screen script scrypt sealed search \
    second secondary seconds secret secrets section secure security see seed segura select self send senha sensitive \
    separate sequential serializer server service session set setter setting settings setup several sha shared sheet \
    short should show shown sicher sicheres side sign signature significant signin signup similar simple since \
    single six sixteen size slaptažodis some someone something somewhere soon sops source spec special specific \
    spray spraying sql ssh ssl sso sssd stack stage staging standard starkes start state static status step still \
    stolen storage store stored str strategy stream strength string strings strong stub style sub submit success \
    such sudo sufficient suffix superfluous supplier support sure symbol symmetric sync system systemd \
    table tag taken task temp template temporary test tests text textbox than that the their then theoretical there \
    these they thing third this those though three through thus time timeout title tls to today together toggle \
    token tokens toml tomorrow too tool topic total totp transparent trivial true ts twelve twice two txt type typed \
    types \
    unchanged undefined under underlying ung unimportant unique universal unknown unless unlike unmask unsafe \
    unsecure unset until update upper uppercase url usable usage use used useless user username users util utils \
    vacia valid validate validation validator value values var variable vault vendor vergessen vergeten verifier \
    verify verplicht version via vide view visibility visible voer vulnerability vuota \
    wachtwoord wagwoord wallet warning was watch way weak web webauthn week weeks were what whatever when where \
    whether which while whitespace who whole why widget wijzigen will winbind window wish with within without word \
    workflow worthless would wrapper write writer written wrong \
    xml \
    yaml years yes yet you your yubikey \
    zero zip",
);
