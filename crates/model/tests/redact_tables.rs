//! Secrets that are recognised by the header of their column, and values on the line below their name.

use model::redact::{RedactOptions, redact_text};

fn check_redaction(text: &str, expected: &str) {
    let redacted = redact_text(text, RedactOptions::default());
    assert_eq!(redacted, expected);
    assert_eq!(redact_text(&redacted, RedactOptions::default()), redacted, "twice is once");
}

#[test]
fn columns_tell_what_is_below_them() {
    check_redaction(
        "name,email,password\nann,ann@example.com,orchidlane\nbob,bob@example.com,Xk29fQhuT7\n",
        "name,email,password\nann,ann@example.com,[REDACTED:password]\nbob,bob@example.com,[REDACTED:password]\n",
    );
    check_redaction(
        "host;user;pass\n10.0.0.4;root;gC0OYpa3RkFq",
        "host;user;pass\n10.0.0.4;root;[REDACTED:password]",
    );
    check_redaction(
        "| service | user | password |\n|---|---|---|\n| grafana | admin | SvX9UlbwXrLD |\n",
        "| service | user | password |\n|---|---|---|\n| grafana | admin | [REDACTED:password] |\n",
    );
    check_redaction(
        " id | username | password\n----+----------+----------\n  1 | admin    | moonriver\n(1 row)\n",
        " id | username | password\n----+----------+----------\n  1 | admin    | [REDACTED:password]\n(1 row)\n",
    );
    check_redaction(
        "USER      PASSWORD\nann       8HX2czYSbJJg\n",
        "USER      PASSWORD\nann       [REDACTED:password]\n",
    );
}

#[test]
fn many_rows_are_one_look() {
    let rows: String = (0..2_000).map(|n| format!("user{n},Xk29fQh{n}uT7\n")).collect();
    let redacted = redact_text(&format!("user,password\n{rows}"), RedactOptions::default()).into_owned();
    assert_eq!(redacted.matches("[REDACTED:password]").count(), 2_000);
}

/// If a line repeats a cell of the line above, both are rows and the line above is not a header.
#[test]
fn lines_that_repeat_a_cell_are_no_table() {
    for text in [
        "syn keyword\tpfService\tauth\nsyn keyword\tpfService\tkrb524\n",
        "    \"key_password\",  # str\n    \"key_cert_file\",  # str\n",
    ] {
        check_redaction(text, text);
    }
}

#[test]
fn tables_about_passwords_stay() {
    for text in [
        "| name | password |\n|---|---|\n| type | string |\n| needed | yes |\n",
        "field,password\nmin length,12 characters\n",
        "a sentence about the user, password\nand another one, with words\n",
        "password   string\nusername   string\n",
    ] {
        check_redaction(text, text);
    }
}

#[test]
fn values_on_the_line_below() {
    check_redaction(
        "{\n  \"password\":\n    \"u1ITExznMfF6p0\"\n}",
        "{\n  \"password\":\n    \"[REDACTED:password]\"\n}",
    );
    check_redaction("kinit ann <<< Xk29fQhuT7\n", "kinit ann <<< [REDACTED:password]\n");
    check_redaction(
        "gh auth login --with-token <<< Xk29fQhuT7\n",
        "gh auth login --with-token <<< [REDACTED:password]\n",
    );
    check_redaction("  password: sunflowerfield\n", "  password: [REDACTED:password]\n");
    for text in
        ["password: string\n", "  password: required\n", "password = userinput\n", "{\n  password: hashed\n}"]
    {
        check_redaction(text, text);
    }
}

#[test]
fn values_that_go_on_below() {
    let (first, rest) = (["gh", "o_H0gMejEBl3BiGlTMLnqN"].concat(), "vMMDFvmAjvEIcA43");
    check_redaction(
        &format!("export GITHUB_TOKEN={first}\\\n{rest}"),
        "export GITHUB_TOKEN=[REDACTED:github-token]\\\n[REDACTED:token]",
    );
    check_redaction(
        &format!("token: \"{first}\" +\n  \"{rest}\""),
        "token: \"[REDACTED:github-token]\" +\n  \"[REDACTED:token]\"",
    );
    check_redaction("export SECRET_KEY=\\\nefYSptZD3y9al9LpWMp0", "export SECRET_KEY=\\\n[REDACTED:api-key]");
    check_redaction(
        "<password>\n  OrchidYonder07\n</password>",
        "<password>\n  [REDACTED:password]\n</password>",
    );
    check_redaction("Enter password:\n> L3m0nr1bb0n#36\n", "Enter password:\n> [REDACTED:password]\n");
    check_redaction("Password\nCopperKettle7\n", "Password\n[REDACTED:password]\n");
    check_redaction("password\nConfirmPassword\nEmail\n", "password\nConfirmPassword\nEmail\n");
    check_redaction("\"name\": \"x\" +\n \"y1z2w3\"", "\"name\": \"x\" +\n \"y1z2w3\"");
}

/// Every long value of a Kubernetes secret is redacted.
#[test]
fn secrets_of_kubernetes() {
    check_redaction(
        "apiVersion: v1\nkind: Secret\ndata:\n  user: YW5u\n  conf: aGVsbG8td29ybGQxMjM0\n",
        "apiVersion: v1\nkind: Secret\ndata:\n  user: YW5u\n  conf: [REDACTED:secret]\n",
    );
    check_redaction(
        "{\"data\":{\".dockerconfigjson\":\"MbkUVyvwDYAdIyf7q8D8\"},\"kind\":\"Secret\"}",
        "{\"data\":{\".dockerconfigjson\":\"[REDACTED:token]\"},\"kind\":\"Secret\"}",
    );
    for text in [
        "kind: ConfigMap\ndata:\n  conf: aGVsbG8td29ybGQxMjM0\n",
        "kind: Secret\nstringData:\n  x: ${DB_VALUE_1234567}\n",
        "kind: Secret\nmetadata:\n  name: web-secrets-12345\n",
    ] {
        check_redaction(text, text);
    }
}

#[test]
fn what_mail_clients_send() {
    check_redaction(
        "AUTH LOGIN\n334 VXNlcm5hbWU6\nYW5u\n334 UGFzc3dvcmQ6\nQ29wcGVyS2V0dGxlNw==\n235 ok",
        "AUTH LOGIN\n334 VXNlcm5hbWU6\nYW5u\n334 UGFzc3dvcmQ6\n[REDACTED:password]\n235 ok",
    );
    check_redaction("C: PASS CopperKettle\n", "C: PASS [REDACTED:password]\n");
}

#[test]
fn values_in_lists_and_answers_below() {
    let token = ["ZMY2paRGzGdgySmUKmxJ", "fNGWxeaXZaflqX1opSig"].concat();
    check_redaction(&format!("access_token:\n- {token}"), "access_token:\n- [REDACTED:token]");
    check_redaction(
        &format!("\"secrets\": [\n  \"{token}\"\n]"),
        "\"secrets\": [\n  \"[REDACTED:password]\"\n]",
    );
    check_redaction(
        "password = \"\"\"\npaprika-hazel-dolphin\n\"\"\"",
        "password = \"\"\"\n[REDACTED:password]\n\"\"\"",
    );
    check_redaction(
        "[\"password\"]=>\n  string(14) \"h6gMMuN7lRkN4L\"\n}",
        "[\"password\"]=>\n  string(14) \"[REDACTED:password]\"\n}",
    );
    check_redaction(
        &format!("(pdb) p settings.SECRET_KEY\n'{token}'"),
        "(pdb) p settings.SECRET_KEY\n'[REDACTED:api-key]'",
    );
    check_redaction(
        "In [4]: os.environ['DB_PASSWORD']\nOut[4]: 'IK9Vll30gUhI39cFS5'",
        "In [4]: os.environ['DB_PASSWORD']\nOut[4]: '[REDACTED:password]'",
    );
}
