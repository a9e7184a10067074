use std::path::Path;

use url::Url;

use super::Credential;
use crate::{Secret, address::authority};

/// Logins by host, in the order of the file.
///
/// Format: `machine NAME [login USER] [password WORD] [account WORD]`; `default` instead of `machine NAME` for all
/// other hosts. Words may be quoted. `#` starts a comment in place of a keyword. `macdef` ends at the next empty line.
/// Like other readers, the parser ignores invalid text instead of failing.
/// Source: the manual of GNU inetutils ("The .netrc file"); curl 8 lib/netrc.c for quotes and comments.
#[derive(Debug, Default)]
pub(super) struct Netrc {
    logins: Vec<Login>,
}

#[derive(Debug, Default)]
struct Login {
    /// None for `default`.
    machine: Option<String>,
    user: String,
    password: Option<Secret>,
}

impl Netrc {
    /// Parses a file. Its path becomes the name of every credential in the file.
    pub(super) fn parse(path: &Path, text: &str) -> Self {
        let name = format!("`{}`", path.display());
        let mut words = NetrcTokens(text);
        let mut logins: Vec<Login> = Vec::new();
        while let Some(word) = words.keyword() {
            match word.as_str() {
                "machine" => logins.push(Login { machine: words.value(), ..Login::default() }),
                "default" => logins.push(Login::default()),
                "macdef" => words.skip_paragraph(),
                "login" | "password" | "account" => {
                    let value = words.value().unwrap_or_default();
                    match (word.as_str(), logins.last_mut()) {
                        ("login", Some(login)) => login.user = value,
                        ("password", Some(login)) => login.password = Secret::new(name.as_str(), value),
                        _ => {}
                    }
                }
                _ => {}
            }
        }
        Self { logins }
    }

    /// Returns the first login with a password for the host of a URL.
    pub(super) fn login_for(&self, url: &Url) -> Option<Credential> {
        let host = url.host_str().unwrap_or_default();
        let plain = authority(url);
        let is_for = |login: &Login, host: &str| {
            login.machine.as_ref().is_some_and(|machine| machine.eq_ignore_ascii_case(host))
        };
        self.first_login(|login| is_for(login, host) || is_for(login, &plain))
    }

    /// Returns the login for all other hosts.
    pub(super) fn default_login(&self) -> Option<Credential> {
        self.first_login(|login| login.machine.is_none())
    }

    fn first_login(&self, is_meant: impl Fn(&Login) -> bool) -> Option<Credential> {
        self.logins.iter().filter(|login| is_meant(login)).find_map(|login| {
            let password = login.password.clone()?;
            Some(Credential::Basic { user: login.user.clone(), password })
        })
    }
}

/// The remaining text of a file.
struct NetrcTokens<'t>(&'t str);

impl NetrcTokens<'_> {
    /// Returns the next word in place of a keyword, and skips comments.
    fn keyword(&mut self) -> Option<String> {
        loop {
            self.0 = self.0.trim_start();
            if !self.0.starts_with('#') {
                return self.value();
            }
            self.0 = self.0.split_once('\n').map_or("", |(_, rest)| rest);
        }
    }

    /// Returns the next word, even if it starts with `#`.
    fn value(&mut self) -> Option<String> {
        self.0 = self.0.trim_start();
        if let Some(quoted) = self.0.strip_prefix('"') {
            return Some(self.quoted(quoted.len()));
        }
        let end = self.0.find(char::is_whitespace).unwrap_or(self.0.len());
        let (word, rest) = self.0.split_at(end);
        self.0 = rest;
        (!word.is_empty()).then(|| word.to_owned())
    }

    /// Reads a quoted word; `left` is the length of the text after the opening quote. Without a closing quote, the word
    /// ends with the text.
    fn quoted(&mut self, left: usize) -> String {
        let mut rest = self.0[self.0.len() - left..].chars();
        let mut word = String::new();
        while let Some(next) = rest.next() {
            match next {
                '"' => break,
                '\\' => word.extend(rest.next().map(unescaped)),
                other => word.push(other),
            }
        }
        self.0 = &self.0[self.0.len() - rest.as_str().len()..];
        word
    }

    /// Skips a macro, which ends at the first empty line.
    fn skip_paragraph(&mut self) {
        let end = ["\n\n", "\n\r\n"].iter().filter_map(|end| self.0.find(end)).min();
        self.0 = end.map_or("", |end| &self.0[end..]);
    }
}

fn unescaped(c: char) -> char {
    match c {
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use proptest::{prop_assert, proptest};

    use super::*;

    fn login(text: &str, url: &str) -> Option<(String, String)> {
        let netrc = Netrc::parse("/home/ann/.netrc".as_ref(), text);
        match netrc.login_for(&Url::parse(url).unwrap()).or_else(|| netrc.default_login())? {
            Credential::Basic { user, password } => Some((user, password.expose().to_owned())),
            Credential::Bearer(_) => None,
        }
    }

    #[test]
    fn the_first_login_of_a_host_wins_before_the_default() {
        let text = "machine git.lab login ann password one\n\
                    machine git.lab login bob password two\n\
                    machine half.lab login eve\n\
                    default login any password three\n";
        let found = |url| login(text, url).unwrap();
        assert_eq!(found("https://git.lab/x"), ("ann".into(), "one".into()));
        assert_eq!(found("https://GIT.lab:8443/x"), ("ann".into(), "one".into()));
        assert_eq!(found("https://half.lab/"), ("any".into(), "three".into()));
        assert_eq!(found("https://a.git.lab/"), ("any".into(), "three".into()));
        assert_eq!(login("machine git.lab login ann password one", "https://lab/"), None);
    }

    #[test]
    fn github_is_found_under_both_names() {
        for name in ["github.com", "api.github.com"] {
            let text = format!("machine {name} login ann password one");
            assert!(login(&text, "https://api.github.com/repos/a/b").is_some(), "{name}");
        }
    }

    #[test]
    fn macros_comments_and_quotes_follow_curl() {
        let text = "# machine git.lab login no password no\n\
                    macdef init\n machine git.lab login no password no\n\n\
                    machine git.lab # behind a name it is a comment, too\n\
                    \tlogin \"ann of \\\"lab\\\"\" account x password #hash\\n\n";
        let found = login(text, "https://git.lab/").unwrap();
        assert_eq!(found, ("ann of \"lab\"".into(), "#hash\\n".into()));
        let quoted = login(r#"machine git.lab password "a b\tc" login ann"#, "https://git.lab/").unwrap();
        assert_eq!(quoted, ("ann".into(), "a b\tc".into()));
    }

    #[test]
    fn an_incomplete_login_is_ignored() {
        for text in [
            "machine",
            "machine git.lab login",
            "machine git.lab password \"",
            "login a password b",
            "macdef x",
        ] {
            assert_eq!(login(text, "https://git.lab/"), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_accepted_and_none_of_it_is_shown(
            text in "([ \n\r\t\"#\\\\]|machine|default|macdef|login|password|s3cret|é|\\PC){0,60}"
        ) {
            let netrc = Netrc::parse("/home/ann/.netrc".as_ref(), &text);
            let found = netrc
                .login_for(&Url::parse("https://git.lab/").unwrap())
                .or_else(|| netrc.default_login());
            if let Some(Credential::Basic { password, .. }) = found {
                let shown = [password.to_string(), format!("{password:?}")].concat();
                prop_assert!(!shown.contains("s3cret"));
            }
        }

        #[test]
        fn quoted_text_survives_a_round_trip(user in "[a-z#\"\\\\ ]{1,12}", password in "[!-~]{1,20}") {
            let quote = |text: &str| format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""));
            let text = format!("machine git.lab login {} password {}", quote(&user), quote(&password));
            prop_assert!(login(&text, "https://git.lab/") == Some((user, password)));
        }
    }
}
