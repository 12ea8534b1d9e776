//! Judges names. `DB_PASSWORD`, `apiKey` and `X-Auth-Token` name secrets, but `primary_key` and `max_tokens` do not.
//!
//! A name is split into words at `_`, `-`, `.`, blanks and changes of case. Its last word determines what the value
//! *is*: `secret_name` is a name, and `name_secret` is a secret. The words before it determine which kind of key or
//! token is meant.

use super::classes::{DIGIT, LOWER, UPPER, ends_with_ignore_case, is_byte_in_class};
use super::languages;

/// Returns whether `$word` is one of the words in `$known`, ignoring case.
macro_rules! is_one_of {
    ($word:expr, $known:literal $(,)?) => {
        const { &word_list($known) }.contains_word($word)
    };
}

/// Returns whether `$word` ends with one of the words in `$known`, ignoring case.
macro_rules! ends_with_one_of {
    ($word:expr, $known:literal $(,)?) => {
        const { &word_list($known) }.ends_with_any($word)
    };
}

/// How strongly a name suggests a secret. The strength determines which values are accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NameStrength {
    /// A password. Any literal is accepted.
    Password,
    /// An API key, a token or a secret. The value must not consist of words.
    Secret,
    /// Usually a password, such as `pass` or `pw`. The value must not be a single word.
    LikelyPassword,
    /// Possibly a secret, such as `key` or `sort_token`. The value must look random and must not be a hash or an id.
    PossiblySecret,
    /// A signature, which grants access only as part of a URL.
    Signature,
    /// An `Authorization` header, which contains a scheme and then the credential.
    Authorization,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NameVerdict {
    pub strength: NameStrength,
    pub kind: &'static str,
}

/// Judges a name. Returns `None` if it does not name a secret, which is true of most names.
pub fn judge_name(name: &[u8]) -> Option<NameVerdict> {
    if !may_name_secret(name) {
        return languages::judge_foreign_name(name);
    }
    // In Helm charts, `existingPassword: name` refers to a secret that already exists. `applicationServerKey` is a
    // server's public key. Neither value is a secret.
    if name.starts_with(b"existing") || name == b"applicationServerKey" {
        return None;
    }
    // Terraform puts the host after the keyword, as in `TF_TOKEN_app_terraform_io`.
    if name.starts_with(b"TF_TOKEN_") {
        return Some(NameVerdict { strength: NameStrength::Secret, kind: "token" });
    }
    let mut words = NameWords { rest: name };
    let mut head = words.next()?;
    while is_neutral_suffix(head) {
        head = words.next()?;
    }
    let mut before = words.next().unwrap_or_default();
    // The owner may come last, as in `PASSWORD_ADMIN` and `PASSWD_DB`.
    if is_one_of!(before, "password passwd pwd") && OWNER_WORDS.contains_word(head) {
        head = before;
        before = words.next().unwrap_or_default();
    }
    judge_words(head, before, words).or_else(|| languages::judge_foreign_name(name))
}

fn judge_words(head: &[u8], before: &[u8], mut words: NameWords) -> Option<NameVerdict> {
    let verdict = |strength, kind| Some(NameVerdict { strength, kind });
    // The most common last words of secret names are tried before the lists.
    match head.len() {
        3 if head.eq_ignore_ascii_case(b"key") => return judge_key_name(before),
        5 if head.eq_ignore_ascii_case(b"token") => {
            // The `PublicKeyToken` of a .NET assembly is part of its name and not a secret.
            let public = |words: &mut NameWords| {
                is_one_of!(before, "public")
                    || is_one_of!(before, "key")
                        && words.next().is_some_and(|word| is_one_of!(word, "public"))
            };
            return if WORDS_MAKING_TOKEN_HARMLESS.contains_word(before) || public(&mut words) {
                None
            } else {
                verdict(NameStrength::Secret, "token")
            };
        }
        6 if head.eq_ignore_ascii_case(b"secret") => return verdict(NameStrength::Secret, "secret"),
        // The next two cases match `client-key-data` in a kubeconfig and `npmAuthIdent` in a Yarn configuration.
        4 if head.eq_ignore_ascii_case(b"data") => {
            return if before.eq_ignore_ascii_case(b"key") {
                verdict(NameStrength::Secret, "private-key")
            } else {
                None
            };
        }
        5 if head.eq_ignore_ascii_case(b"ident") => {
            return if before.eq_ignore_ascii_case(b"auth") {
                verdict(NameStrength::Secret, "auth")
            } else {
                None
            };
        }
        8 if head.eq_ignore_ascii_case(b"password") => return verdict(NameStrength::Password, "password"),
        _ => {}
    }
    let head = without_plural(head);
    if is_one_of!(head, "authorization") {
        return verdict(NameStrength::Authorization, "authorization");
    }
    if ends_with_one_of!(head, "assword passwd passphrase passwort passcode authtok")
        || is_one_of!(head, "pwd passe")
    {
        return verdict(NameStrength::Password, "password");
    }
    if is_one_of!(
        head,
        "pw pass sshpass userpass dbpass adminpass rootpass mailpass smtppass ldappass requirepass masterauth bindpw rootpw phrase mnemonic psk",
    ) || ends_with_one_of!(
        head,
        "storepass keypass remotepass localpass imappass sqlpass wifipass vaultpass"
    ) {
        let sure = ACCOUNT_WORDS.contains_word(before) || !is_one_of!(head, "pw pass phrase");
        return match is_one_of!(head, "phrase") && !is_one_of!(before, "seed recovery pass") {
            true => None,
            false => {
                verdict(if sure { NameStrength::Password } else { NameStrength::LikelyPassword }, "password")
            }
        };
    }
    // The Erlang cookie is a secret, because anybody who has it can run code in the cluster.
    if is_one_of!(head, "cookie") && is_one_of!(before, "erlang") {
        return verdict(NameStrength::Password, "cookie");
    }
    let personal = is_one_of!(head, "pat")
        && (before.is_empty() && head == b"PAT"
            || is_one_of!(
                before,
                "ado airtable asana atlassian azure bitbucket ci clickup databricks deploy devops docker ext figma gh ghcr git github \
                 gitlab gl harness hubspot jfrog jira linear netlify notion npm registry render sonar supabase vercel"
            ));
    if ends_with_ignore_case(head, "token") || is_one_of!(head, "jwt") || personal {
        return if WORDS_MAKING_TOKEN_HARMLESS.contains_word(before) {
            None
        } else {
            verdict(NameStrength::Secret, "token")
        };
    }
    if ends_with_ignore_case(head, "secret") && !is_one_of!(head, "issecret") {
        return verdict(NameStrength::Secret, "secret");
    }
    if is_one_of!(head, "credential cred") {
        return verdict(NameStrength::Secret, "credential");
    }
    if is_one_of!(head, "auth bearer authkey wif") {
        return verdict(NameStrength::Secret, "auth");
    }
    // The value of `-Dsonar.login=x` is a token.
    if is_one_of!(head, "login") && ends_with_ignore_case(before, "sonar") {
        return verdict(NameStrength::Secret, "token");
    }
    if is_one_of!(head, "sig signature") {
        return verdict(NameStrength::Signature, "signature");
    }
    if is_one_of!(head, "salt") {
        let strength = if is_one_of!(before, "auth hash in nonce encryption secret session") {
            NameStrength::Secret
        } else {
            NameStrength::PossiblySecret
        };
        return verdict(strength, "secret");
    }
    // Some frameworks accept several keys, as in `APP_KEYS=x,y`.
    if is_one_of!(head, "keys")
        && is_one_of!(before, "app api secret access signing encryption cookie master")
    {
        return verdict(NameStrength::PossiblySecret, "api-key");
    }
    // Honeycomb's `x-honeycomb-team` header contains the API key of a team.
    if is_one_of!(head, "team") && is_one_of!(before, "honeycomb") {
        return verdict(NameStrength::Secret, "api-key");
    }
    if ends_with_one_of!(
        head,
        "apikey secretkey accesskey privatekey privkey authkey accountkey encryptionkey",
    ) {
        return verdict(NameStrength::Secret, "api-key");
    }
    // A `secret_id` is a secret, because an AppRole in Vault logs in with it.
    if is_one_of!(head, "id") && is_one_of!(before, "secret") {
        return verdict(NameStrength::PossiblySecret, SECRET_ID_KIND);
    }
    // This matches names such as `BW_SESSION` and `X-JFrog-Art-Api`.
    if is_one_of!(head, "session api") {
        return verdict(NameStrength::PossiblySecret, "token");
    }
    if is_one_of!(head, "id") && is_one_of!(before, "key") {
        // The id of a key is not a secret, except for `private_key_id` in a Google service account.
        return is_one_of!(words.next()?, "private")
            .then_some(NameVerdict { strength: NameStrength::Secret, kind: "private-key-id" });
    }
    None
}

/// The kind of a value with a name such as `secret_id`. Such a value is often a UUID. Under any other name, a UUID is
/// not a secret.
pub const SECRET_ID_KIND: &str = "secret-id";

/// Judges a name whose last word is `key` by the word before `key`.
fn judge_key_name(before: &[u8]) -> Option<NameVerdict> {
    if WORDS_MAKING_KEY_HARMLESS.contains_word(before) {
        return None;
    }
    let sure = WORDS_MAKING_KEY_SECRET.contains_word(before) || ends_with_ignore_case(before, "api");
    Some(NameVerdict {
        strength: if sure { NameStrength::Secret } else { NameStrength::PossiblySecret },
        kind: "api-key",
    })
}

/// Words before `key` that make the key a secret.
static WORDS_MAKING_KEY_SECRET: WordList = word_list(
    "\
    abuseipdb access account admin adyen aes airtable alchemy algolia amplitude anthropic api app application \
    asana assemblyai auth auth0 authentication authkey aws azure binance bot box braintree bugsnag canva censys \
    cerebras cipher claude clerk clickup client cloudflare codecov cohere coinbase connection consumer cookie \
    coveralls crypt crypto datadog dd decryption deepgram deepseek deploy django doppler dropbox dynatrace \
    elevenlabs encrypt encryption enterprise etherscan fastly fernet figma firebase fireworks flask freshdesk \
    gemini giphy global google grafana groq here heroku hf hmac honeybadger honeycomb hubspot huggingface \
    infisical infura ingest ingestion insights instrumentation integration intercom ipinfo jwt kraken laravel \
    launchdarkly license linear logdna loggly mailchimp mailgun mapbox maptiler master maxmind mfa mistral \
    mixpanel moralis newrelic newsapi notion okta omdb openai openrouter openweather opsgenie origin pagerduty \
    papertrail password paypal perplexity personal pinecone plaid plausible posthog postmark preshared private \
    pro provisioning psk rails rapidapi raygun recovery relic replicate rest role rollbar root secret segment \
    sendgrid sentry serper server service session setup shared shodan shopify signing snyk sonarcloud sparkpost \
    spotify square statuspage storage stripe stytch subscription supabase tavily tmdb together token tomtom totp \
    trello twilio twitch typeform unseal user validation virustotal weather webhook wg wireguard write zendesk",
);

/// Words before `key` that make the key harmless.
static WORDS_MAKING_KEY_HARMLESS: WordList = word_list(
    "\
    alt answer any arrow artifact asset attribute backup blob bucket build cache candidate checksum chunk cmd \
    column command commit composite config content context ctrl data dedup dedupe dict digest each edge enter \
    escape event every feature field file first flag fn foreign function gpg group hash host hot i18n \
    idempotency index issue item jira join json label last layer left list locale lookup map message meta metric \
    modifier module natural next no node object one option order other partition press prev primary project prop \
    property pub public publishable query range react registry restore return rev revision right routing row \
    same search setting shard shift short shortcut site sonar sort ssh state store super surrogate tab table \
    task the this topic translation tree turn unique version websocket",
);

/// Words before `token` that show that the token is a syntax element or a position in a list.
static WORDS_MAKING_TOKEN_HARMLESS: WordList = word_list(
    "\
    ast bad bos cancel cancellation cls color completion continuation css current cursor design each end eof eos \
    expected first illegal input invalid last lexer marker mask max min missing next num output pad page \
    pagination parse parser peek per position prev previous prompt resume resumption sep special start stop sync \
    syntax text theme total unexpected unk word",
);

/// Words before `pass` and `pw` that indicate a password rather than a compiler pass.
static ACCOUNT_WORDS: WordList = word_list(
    "\
    account admin amqp ansible api auth backup basic become bind borg bot cert database db default docker \
    elastic email encryption ftp git gpg http imap jenkins kafka key keystore ldap login mail mongo mongodb mqtt \
    mssql mysql nexus oracle p12 pfx pg postgres proxy rabbitmq redis registry restic root router sa sftp smtp \
    sql ssh sudo svn truststore user vault vpn wifi",
);

/// Words after the noun that name the password's owner.
static OWNER_WORDS: WordList = word_list(
    "\
    admin app database db ftp guest ldap mail master mongo mysql owner pg postgres redis root sa sftp smtp svc",
);

/// Words at the end of a name that do not change what the value is.
static NEUTRAL_SUFFIXES: WordList = word_list(
    "\
    again b base ci confirm confirmation default dev development env eu here hex in live local main new old \
    plain plaintext primary private prod production raw repeat sandbox secondary stage staging stg string test \
    testing us v value",
);

fn is_neutral_suffix(word: &[u8]) -> bool {
    word.iter().all(|byte| is_byte_in_class(*byte, DIGIT)) || NEUTRAL_SUFFIXES.contains_word(word)
}

/// Returns whether a name may belong to a secret. The test is cheap and rules out almost every other name.
fn may_name_secret(name: &[u8]) -> bool {
    let stem = |stem: &[u8]| {
        matches!(
            &[stem[0] | 32, stem[1] | 32, stem[2] | 32],
            b"key"
                | b"tok"
                | b"sec"
                | b"pas"
                | b"pwd"
                | b"son"
                | b"ssw"
                | b"cre"
                | b"aut"
                | b"sig"
                | b"jwt"
                | b"pat"
                | b"bea"
                | b"sal"
                | b"phr"
                | b"mne"
                | b"psk"
                | b"coo"
                | b"wif"
                | b"ses"
                | b"hon"
                | b"api"
        )
    };
    name.windows(3).any(stem) || ends_with_ignore_case(name, "pw")
}

/// Returns the singular of a word whose plural still names one secret. `credentials` is such a plural, but `tokens` and
/// `keys` are lists or counts.
fn without_plural(word: &[u8]) -> &[u8] {
    match word.last() {
        Some(b's' | b'S') if ends_with_one_of!(word, "credentials creds") => &word[..word.len() - 1],
        _ => word,
    }
}

/// A list of words. It is stored as one string, so no table of pointers needs relocation at start-up. The other fields
/// are computed at compile time and rule out almost every word that is not listed.
pub(super) struct WordList {
    words: &'static str,
    /// For each letter, a bit set of the lengths of the words that begin with it.
    word_lengths: [u32; 32],
    /// For each letter, a bit set of the second letters of the words that begin with it.
    second_letters: [u32; 32],
    /// The last letters of all words as a bit set.
    last_letters: u32,
    /// For each first letter, the part of `words` that contains all words starting with that letter. The part is
    /// short if the list is sorted.
    letter_spans: [(u16, u16); 32],
}

impl WordList {
    pub(super) fn contains_word(&self, word: &[u8]) -> bool {
        let Some(first) = word.first() else { return false };
        let (first, second) = (usize::from(*first & 31), word.get(1).map_or(0, |second| second & 31));
        word.len() < 32
            && self.word_lengths[first] & 1 << word.len() != 0
            && self.second_letters[first] & 1 << second != 0
            && self.contains_in_span(self.letter_spans[first], word)
    }

    fn contains_in_span(&self, (start, end): (u16, u16), word: &[u8]) -> bool {
        let words = &self.words.as_bytes()[usize::from(start)..usize::from(end)];
        let mut start = 0;
        memchr::memchr_iter(b' ', words).chain([words.len()]).any(|at| {
            let known = &words[start..at];
            start = at + 1;
            word.eq_ignore_ascii_case(known)
        })
    }

    fn ends_with_any(&self, word: &[u8]) -> bool {
        let Some(last) = word.last() else { return false };
        self.last_letters & 1 << (*last & 31) != 0
            && self.each_word().any(|known| ends_with_ignore_case(word, known))
    }

    fn each_word(&self) -> impl Iterator<Item = &'static str> {
        self.words.split_ascii_whitespace()
    }
}

pub(super) const fn word_list(words: &'static str) -> WordList {
    let bytes = words.as_bytes();
    let (mut word_lengths, mut second_letters, mut last_letters, mut letter_spans) =
        ([0; 32], [0; 32], 0, [(0, 0); 32]);
    let (mut at, mut start) = (0, 0);
    while at <= bytes.len() {
        if at == bytes.len() || bytes[at] == b' ' {
            if at > start {
                let first = (bytes[start] & 31) as usize;
                word_lengths[first] |= 1 << (at - start);
                second_letters[first] |= 1 << if at - start > 1 { bytes[start + 1] & 31 } else { 0 };
                last_letters |= 1 << (bytes[at - 1] & 31);
                let (begin, end) = letter_spans[first];
                letter_spans[first] = (if end == 0 { start as u16 } else { begin }, at as u16);
            }
            start = at + 1;
        }
        at += 1;
    }
    WordList { words, word_lengths, second_letters, last_letters, letter_spans }
}

/// Iterates over the words of a name, last word first.
struct NameWords<'a> {
    rest: &'a [u8],
}

impl<'a> Iterator for NameWords<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        while let Some((last, shorter)) = self.rest.split_last()
            && is_word_separator(*last)
        {
            self.rest = shorter;
        }
        let end = self.rest.len();
        let mut start = end;
        while start > 0
            && !is_word_separator(self.rest[start - 1])
            && !(start < end && begins_word_at(self.rest, start))
        {
            start -= 1;
        }
        let word = &self.rest[start..end];
        self.rest = &self.rest[..start];
        (!word.is_empty()).then_some(word)
    }
}

fn is_word_separator(byte: u8) -> bool {
    matches!(byte, b'_' | b'-' | b'.' | b' ' | b':' | b'/')
}

/// Returns whether a word starts at `at` inside `name`. In `a|B`, `1|b`, `b|1` and `AB|Cd`, the bar marks the
/// start of a word.
fn begins_word_at(name: &[u8], at: usize) -> bool {
    let (before, here) = (name[at - 1], name[at]);
    let after_is_lower = name.get(at + 1).is_some_and(|byte| is_byte_in_class(*byte, LOWER));
    (is_byte_in_class(before, LOWER) && is_byte_in_class(here, UPPER))
        || (is_byte_in_class(before, UPPER) && is_byte_in_class(here, UPPER) && after_is_lower)
        || (is_byte_in_class(before, DIGIT) != is_byte_in_class(here, DIGIT))
}
