//! Parses the authentication challenges of registries.

/// An authentication scheme from a `WWW-Authenticate` header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Challenge {
    /// A token from a token server.
    Bearer { realm: String, service: Option<String>, scope: Option<String> },
    /// A user name and a password.
    Basic,
}

/// Returns the first supported challenge. Tokens are preferred over passwords.
/// Source: RFC 9110 §11.6.1; distribution specification, token authentication.
pub(super) fn parse(header: &str) -> Option<Challenge> {
    let challenges = split(header);
    let bearer = challenges.iter().find_map(|(scheme, parameters)| {
        let value = |name: &str| {
            parameters.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.clone())
        };
        let realm = scheme.eq_ignore_ascii_case("bearer").then(|| value("realm"))??;
        Some(Challenge::Bearer { realm, service: value("service"), scope: value("scope") })
    });
    let basic = challenges.iter().any(|(scheme, _)| scheme.eq_ignore_ascii_case("basic"));
    bearer.or_else(|| basic.then_some(Challenge::Basic))
}

type Parameters = Vec<(String, String)>;

/// Splits a header into schemes and parameters. A word without `=` starts a scheme.
fn split(header: &str) -> Vec<(String, Parameters)> {
    let mut challenges: Vec<(String, Parameters)> = Vec::new();
    let mut rest = header;
    loop {
        rest = rest.trim_start_matches([' ', ',', '\t']);
        let end = rest.find([' ', '=', ',', '\t']).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        if word.is_empty() {
            return challenges;
        }
        rest = if let Some(text) = after.strip_prefix('=') {
            let (value, text) = value(text);
            if let Some((_, parameters)) = challenges.last_mut() {
                parameters.push((word.to_owned(), value));
            }
            text
        } else {
            challenges.push((word.to_owned(), Vec::new()));
            after
        };
    }
}

/// Returns a value, quoted or plain, and the text after the value.
fn value(text: &str) -> (String, &str) {
    let Some(quoted) = text.strip_prefix('"') else {
        let (value, rest) = text.split_at(text.find([',', ' ']).unwrap_or(text.len()));
        // Each call must consume text. Otherwise, a lone `=` would cause an endless loop.
        return (value.to_owned(), rest.strip_prefix(',').unwrap_or(rest.trim_start()));
    };
    let mut value = String::new();
    let mut escaped = false;
    for (at, c) in quoted.char_indices() {
        match c {
            '\\' if !escaped => escaped = true,
            '"' if !escaped => return (value, &quoted[at + 1..]),
            c => {
                value.push(c);
                escaped = false;
            }
        }
    }
    (value, "")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn bearer(realm: &str, service: Option<&str>, scope: Option<&str>) -> Challenge {
        let owned = |text: Option<&str>| text.map(str::to_owned);
        Challenge::Bearer { realm: realm.to_owned(), service: owned(service), scope: owned(scope) }
    }

    #[test]
    fn challenges_of_registries_are_parsed() {
        let cases = [
            (
                r#"Bearer realm="https://auth.docker.io/token",service="registry.docker.io",scope="repository:a/b:pull,push""#,
                Some(bearer(
                    "https://auth.docker.io/token",
                    Some("registry.docker.io"),
                    Some("repository:a/b:pull,push"),
                )),
            ),
            (r#"bearer REALM="https://a/t" , service=lab"#, Some(bearer("https://a/t", Some("lab"), None))),
            (r#"Basic realm="basic-realm""#, Some(Challenge::Basic)),
            (
                r#"Basic realm="x, \"y\"", Bearer realm="https://a/t""#,
                Some(bearer("https://a/t", None, None)),
            ),
            ("Negotiate", None),
            ("Bearer service=x", None),
            ("", None),
        ];
        for (header, expected) in cases {
            assert_eq!(parse(header), expected, "{header}");
        }
    }

    proptest! {
        #[test]
        fn any_header_is_read_to_its_end(header in "[ -~é]{0,60}") {
            parse(&header);
        }
    }
}
