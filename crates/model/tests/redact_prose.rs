//! Lines about passwords. Every phrase is combined with every kind of made-up password, in seven languages. Other lines
//! mention a password but do not state it. The passwords are assembled here, so the source code contains none.

use model::redact::{RedactOptions, redact_text};

/// Phrases with `{}` in place of the password.
const LINES_WITH_PASSWORD: &str = "\
the password is {}
Password for the staging db is {}
my password is {}, fix the login
the admin pw is still {}
I set the root password to {}
We reset bob's password to {} and told him
The secret for the webhook is {} and the endpoint is /hook
use {} as the password
she uses {} as her password
I use {} for the admin password
When asked for the passphrase, answer {}
just type {} at the password prompt
{} is the root password
{} was the old password
\"{}\" is the password for the vpn
{} <- that's the password
so the old password, {}, still works on the printer
the password's still {}
the secret is {}
wifi key is {}
root / {} works for me on the iDRAC (password from the sticker)
Staging login: qa@example.com / {}
creds are admin / {}
login attempt: bob/{}
what's the pass?\\nRita: {}\\nSam: thx
what is the wifi password\\nB: {}
Password\\n{}\\nSign in
Your new password is:\\n\\n{}
$ cat password.txt\\n{}
pass show acme/root\\n{}\\nlogin: root
le mdp root est toujours {}
J'ai remis ton mot de passe à « {} » hier soir
Code secret du NAS : {}
La phrase secrète de la clé est {}, note-la
voici tes identifiants : jlefevre / {} (mot de passe provisoire)
{} est le mot de passe
usuario=pepe contraseña={}
la contraseña sigue siendo {}
la clave de acceso al panel sigue siendo {}
restablecí la contraseña a {}
Das Root-Passwort ist immer noch {}
Ich habe dein Passwort auf {} zurückgesetzt
Nimm als Passwort bitte {} und starte den Import
Der WLAN-Schlüssel ist {}
Zugangsdaten: admin / {}
a senha do root continua sendo {}, tá?
a senha foi alterada para {}
a chave secreta é {}
la password di root è ancora {}
ho reimpostato la password su {}
La chiave segreta è {}, salvala
het wachtwoord is nog steeds {}
ik heb het wachtwoord op {} gezet
de geheime sleutel is {}
密码:{}
git checkout -b hotfix/reset-pw-to-{}
mv dump.sql dump_pw_{}.sql
touch 'wifi password {}.md'
┌──────┬──────────┐\\n│ user │ password │\\n├──────┼──────────┤\\n│ zoe  │ {} │\\n└──────┴──────────┘
Username,One-time password,Employee id\\nrachel81,{},9012
server  gebruiker  wachtwoord\\nvm-3    beheer     {}
user_password|{}|active
|===\\n|Account |Passphrase\\n\\n|keeper |{}\\n|===
chpasswd:\\n  list: |\\n    ubuntu:{}
args: ['-a', '{}']  # redis-cli auth password
echo '{}' > ~/.vault_pass
UPDATE users SET password=MD5('{}') WHERE login='keeper';
CREATE SECRET s3 (TYPE s3, KEY_ID 'x', SECRET '{}');
\"password\":\\n  \"{}\"
ROOT_PASSWORD ?= {}
PASSWORD_ADMIN={} ./seed.sh
";

/// Returns made-up passwords of every kind, built from two words that do not occur in sentences about passwords.
fn made_up_passwords(first: &str, second: &str) -> Vec<String> {
    let capital = |word: &str| word[..1].to_uppercase() + &word[1..];
    vec![
        [first, second, "umber", "quill"].join("-"),
        [first, second, "851"].join("_"),
        format!("{}{}{}", capital(first), '@', 3260),
        format!("{}{}{}", capital(first), 6566, '!'),
        format!("{}{}{}", capital(first), capital(second), 48),
        format!("{first}{second}{}", 72),
        [capital(first), capital(second), "60".to_owned()].join("."),
    ]
}

#[test]
fn a_password_goes_wherever_its_line_has_it() {
    let mut missed = Vec::new();
    for (first, second) in [("carbon", "trellis"), ("pebble", "nimbus"), ("gondola", "parsnip")] {
        for phrase in LINES_WITH_PASSWORD.lines() {
            let phrase = phrase.replace("\\n", "\n");
            for password in made_up_passwords(first, second) {
                let text = phrase.replace("{}", &password);
                let found = redact_text(&text, RedactOptions::default());
                if found.contains(&password) || !found.contains("[REDACTED:") {
                    missed.push(format!("{text}\n    -> {found}"));
                }
                assert_eq!(redact_text(&found, RedactOptions::default()), found, "twice is once");
            }
        }
    }
    assert!(missed.is_empty(), "{} missed\n{}", missed.len(), missed.join("\n"));
}

#[test]
fn lines_about_passwords_without_one_stay() {
    const LINES_WITHOUT_PASSWORD: &str = "\
the password for user42 was reset by admin on 2024-01-01
password hashing uses argon2id with 64 MiB
argon2.hash(password, { type: argon2.argon2id })
10.0.0.1 - ann \"GET /account/password HTTP/2.0\" 200 1352
see docs/password-reset-v2.md for the password policy
the password must have 8-64 characters, one digit and one of !@#$
# public key: age1l1vndsm4eqyw6k3c9akhm7ejlvvuaq7xxqfv3tm5ibk7zxe5jsufa2ek3o
label.password=Mot de passe
password reset tokens expire after 15m (see PROJ-1234)
we pin to that version: TLSv1.2 and a token of 32 bytes
changes.push({ key, change: 'removed-pinned-allow' })
token = Keyword.Reserved
val password: CharSequence
le mot de passe est obligatoire
la contraseña es incorrecta
Das Passwort ist abgelaufen, bitte ändern
a senha é obrigatória
la password è errata
het wachtwoord is verlopen
type the password at the prompt, then press Enter
what's the password?
the login page of app3 asks for credentials
git checkout -b fix/password-reset-flow
user_pass = '%s:%s' % (user, pw)
";
    for line in LINES_WITHOUT_PASSWORD.lines() {
        assert_eq!(redact_text(line, RedactOptions::default()), line);
    }
}

#[test]
fn wide_marks_and_entities_hide_nothing() {
    let password = ["Mimosa", "Birch", "27"].concat();
    for text in [
        format!("password：{password}"),
        format!("password\u{a0}: {password}"),
        format!("<p>Your password is <b>{}&lt;{}</b></p>", "comet", "Orchid12"),
        format!("db.password={}\\u00e9{}", "Orchid", "sunset336"),
        format!("redirect=%2Flogin%3Fpassword%3D{}%23{}%26lang%3Den", "Rocket", "willow975"),
    ] {
        let found = redact_text(&text, RedactOptions::default());
        assert!(
            !found.contains(&password) && !found.contains("rchid") && !found.contains("willow"),
            "{found}"
        );
    }
}

#[test]
fn phrases_and_codes_that_recover_an_account() {
    let words = "crimson ribbon ocean bronze spider birch breeze papaya ivory anchor paddle sunset";
    for text in [format!("recovery phrase:\n{words}"), format!("my wallet mnemonic is \"{words}\"")] {
        assert!(!redact_text(&text, RedactOptions::default()).contains("papaya"), "{text}");
    }
    let code = ["7mh6m", "oi7oc"].join("-");
    assert!(!redact_text(&format!("Recovery codes:\n1. {code}\n"), RedactOptions::default()).contains(&code));
}

/// Secrets at a fixed position or under a name that only one tool uses.
#[test]
fn settings_of_tools_and_servers() {
    let key = ["d8Kq2", "Vb7Lx", "0PzT4", "mWc9R", "fYh3n"].concat();
    for line in [
        "wandb login --relogin {}",
        "curl https://a.example/api -u ops@a.example/token:{}",
        "wg set wg0 peer x preshared-key <(echo {})",
        "bundle config set --global gems.a.example ci:{}",
        "IMAPAccount work\nPass \"{}\"",
        "lars  pppoe  \"{}\"  *",
        "ldap_default_authtok = {}",
        "'crypt' => [ 'key' => '{}' ],",
        "CREDS=([user]=svc [password]='{}')",
        "- key: auth_token\n  type: secret\n  value: {}",
        "\"clientSecret\": {\n   \"value\": \"{}\"\n}",
        "Application.put_env(:app, :token_salt_secret, \"{}\")",
        "confluent api-key store L0E9SJOVECB1IRBN {}",
        "\"github-oauth\": {\"github.com\": \"{}\"}",
        "[smtp.a.example]:587 ann:{}",
        "mc config host add m https://h u {}",
        "- --requirepass\n- {}",
        "my $passwd = q({});",
        "Authorization: Bearer \\\n  {}",
        "<meta name=\"api-token\" content=\"{}\">",
        "passwordeval \"echo {}\"",
        "the token you need is {}",
        "the signing secret ({}) must match on both sides",
    ] {
        let text = line.replace("{}", &key);
        let found = redact_text(&text, RedactOptions::default());
        assert!(!found.contains(&key), "{found}");
    }
}
