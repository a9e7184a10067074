//! Values in parameters that look like secrets: private keys, tokens with a known form, and texts of keys such as `password`.

use std::sync::LazyLock;

use regex::Regex;

use super::class_file::{ClassFile, visit_texts};
use super::finding::{LintCode, LintFinding};

/// The forms of known secrets, with their words.
const FORMS: [(&str, &str); 10] = [
    (r"-----BEGIN [A-Z ]*PRIVATE KEY", "a private key"),
    (r"\bAGE-SECRET-KEY-1[0-9A-Z]{20,}", "a private key of age"),
    (r"\bgh[pousr]_[0-9A-Za-z]{20,}|\bgithub_pat_[0-9A-Za-z_]{20,}", "a token of GitHub"),
    (r"\bgl(?:pat|dt|rt|cbt|ptt)-[0-9A-Za-z_\-]{16,}", "a token of GitLab"),
    (r"\bxox[abeprs]-[0-9A-Za-z\-]{10,}", "a token of Slack"),
    (r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b", "an access key of AWS"),
    (r"\bAIza[0-9A-Za-z_\-]{35}", "an API key of Google"),
    (r"\bhv[sbr]\.[0-9A-Za-z_\-]{20,}", "a token of Vault"),
    (r"\b(?:dckr_pat|npm|sk_live|rk_live|pypi)[_-][0-9A-Za-z_\-]{16,}", "an access token"),
    (r"\beyJ[0-9A-Za-z_\-]{10,}\.eyJ[0-9A-Za-z_\-]{10,}\.[0-9A-Za-z_\-]{10,}", "a signed token (JWT)"),
];

static PATTERNS: LazyLock<Vec<(Regex, &str)>> = LazyLock::new(|| {
    let compiled = |(pattern, words)| {
        (Regex::new(pattern).expect("invariant: the pattern is constant and valid"), words)
    };
    FORMS.map(compiled).into()
});

/// Checks the parameters of a file. The value of a secret is never part of a finding.
pub(super) fn check(class: &ClassFile, findings: &mut Vec<LintFinding>) {
    for (key, value) in class.parameters() {
        visit_texts(value, &format!("parameters.{key}"), &mut |field, text| {
            if let Some(words) = secret_form(field, text) {
                let file = class.path.display();
                let message = format!("Field '{field}' in file '{file}' looks like {words}");
                findings.push(class.finding(LintCode::Secret, field, message));
            }
        });
    }
}

/// Returns the words for a text that looks like a secret.
fn secret_form(field: &str, text: &str) -> Option<&'static str> {
    let known = PATTERNS.iter().find(|(pattern, _)| pattern.is_match(text)).map(|(_, words)| *words);
    if known.is_some() {
        return known;
    }
    // References to secrets and to parameters are no literal values.
    if text.is_empty() || text.contains("?{") || text.contains("${") || text.contains(char::is_whitespace) {
        return None;
    }
    let words = key_words(field);
    let last = words.last().map(String::as_str)?;
    if matches!(last, "password" | "passwd" | "passphrase") {
        return (!text.starts_with('/')).then_some("a password");
    }
    let before = words.len().checked_sub(2).map(|at| words[at].as_str());
    let is_key = matches!(
        (before, last),
        (_, "token" | "secret" | "apikey")
            | (Some("api" | "secret" | "private" | "access" | "encryption"), "key")
    );
    (is_key && is_random(text)).then_some("a literal secret")
}

/// Returns the words of the last key of a field, in lower case: `clientSecret` has `client` and `secret`.
fn key_words(field: &str) -> Vec<String> {
    let last = field.rsplit('.').next().unwrap_or(field);
    let key = last.split('[').next().unwrap_or(last);
    let mut words = vec![String::new()];
    let mut was_lower = false;
    for character in key.chars() {
        let starts_word = character.is_ascii_uppercase() && was_lower;
        if !character.is_ascii_alphanumeric() || starts_word {
            words.push(String::new());
        }
        if character.is_ascii_alphanumeric()
            && let Some(word) = words.last_mut()
        {
            word.push(character.to_ascii_lowercase());
        }
        was_lower = character.is_ascii_lowercase() || character.is_ascii_digit();
    }
    words.retain(|word| !word.is_empty());
    words
}

/// True for a text that is no name, path or URL: long enough, with digits and letters, and no separators of names.
fn is_random(text: &str) -> bool {
    let has = |test: fn(&char) -> bool| text.chars().any(|character| test(&character));
    let has_upper = has(char::is_ascii_uppercase);
    let is_long = text.len() >= if has_upper { 12 } else { 20 };
    is_long
        && has(char::is_ascii_digit)
        && has(char::is_ascii_alphabetic)
        && !text.contains("://")
        && !text.starts_with('/')
        && (has_upper || !text.contains(['-', '.', '/', ':']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_have_a_known_form_or_a_telling_key() {
        let token = |prefix: &str| format!("{prefix}{}", "a1B2c3D4e5".repeat(4));
        for (field, text, expected) in [
            ("a.cert", "-----BEGIN RSA PRIVATE KEY-----\nx", Some("a private key")),
            ("a.cert", "-----BEGIN CERTIFICATE-----\nx", None),
            ("a.x", &token("ghp_"), Some("a token of GitHub")),
            ("a.x", &format!("https://x:{}@git.example.org", token("glpat-")), Some("a token of GitLab")),
            ("a.x", &format!("AKIA{}", "ABCD1234".repeat(2)), Some("an access key of AWS")),
            ("a.image", "registry.example.org/a:v1", None),
            ("a.password", "hunter2", Some("a password")),
            ("a.adminPassword", "admin", Some("a password")),
            ("a.ADMIN_PASSWORD", "admin", Some("a password")),
            ("a.password", "?{vaultkv:t/c/a/b}", None),
            ("a.password", "${a:b}", None),
            ("a.password", "", None),
            ("a.passwordSecretName", "admin", None),
            ("a.clientSecret", "Zm9vYmFyMTIzNDU2Nzg5", Some("a literal secret")),
            ("a.clientSecret", "oauth-client-2", None),
            ("a.secret", "web-tls", None),
            ("a.token", "0123456789abcdef0123", Some("a literal secret")),
            ("a.api_key", "0123456789abcdef0123", Some("a literal secret")),
            ("a.tokens[1].token", "/var/run/secrets/0/token", None),
            ("a.key", "0123456789abcdef0123", None),
        ] {
            assert_eq!(secret_form(field, text), expected, "{field} {text}");
        }
    }

    #[test]
    fn a_key_is_split_into_words() {
        for (field, words) in [
            ("a.clientSecret", "client secret"),
            ("a.S3_SECRET_KEY", "s3 secret key"),
            ("x.y-z[0]", "y z"),
            ("OAuth", "oauth"),
        ] {
            assert_eq!(key_words(field).join(" "), words, "{field}");
        }
    }
}
