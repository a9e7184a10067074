/// The reason why a text is not a url for clusterctl. Paths count as urls. Supported hosts and schemes are not checked.
/// Source: Go net/url Parse, which clusterctl v1.14 client/config (validateProvider) calls.
pub(super) fn url_problem(text: &str) -> Option<&'static str> {
    if text.bytes().any(|byte| byte.is_ascii_control()) {
        return Some("the url contains a control character");
    }
    let (text, fragment) = text.split_once('#').unwrap_or((text, ""));
    if !has_valid_escapes(fragment) {
        return Some(BAD_ESCAPE);
    }
    let rest = match without_scheme(text) {
        Err(problem) => return Some(problem),
        Ok(rest) => rest,
    };
    let has_scheme = rest.len() < text.len();
    let rest = rest.split_once('?').map_or(rest, |(rest, _)| rest);
    if !rest.starts_with('/') {
        let first = rest.split('/').next().unwrap_or_default();
        // After a scheme, such text is opaque. Without a scheme, it would be mistaken for a scheme.
        if has_scheme {
            return None;
        }
        if first.contains(':') {
            return Some("the first path segment contains a colon");
        }
        return (!has_valid_escapes(rest)).then_some(BAD_ESCAPE);
    }
    let (authority, path) = match rest.strip_prefix("//") {
        Some(after) if has_scheme || !after.starts_with('/') => {
            after.split_at(after.find('/').unwrap_or(after.len()))
        }
        _ => ("", rest),
    };
    authority_problem(authority).or_else(|| (!has_valid_escapes(path)).then_some(BAD_ESCAPE))
}

const BAD_ESCAPE: &str = "a `%` is not followed by two hexadecimal digits";
const BAD_HOST: &str = "the host contains an invalid character";

/// Removes `scheme:`. Text that cannot start with a scheme stays as written.
fn without_scheme(text: &str) -> Result<&str, &'static str> {
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' => {}
            b'0'..=b'9' | b'+' | b'-' | b'.' if at > 0 => {}
            b':' if at == 0 => return Err("the scheme is missing"),
            b':' => return Ok(&text[at + 1..]),
            _ => return Ok(text),
        }
    }
    Ok(text)
}

fn authority_problem(authority: &str) -> Option<&'static str> {
    let (user, host) = authority.rsplit_once('@').unwrap_or(("", authority));
    let is_of_user = |c: char| c.is_ascii_alphanumeric() || "-._:~!$&'()*+,;=%@".contains(c);
    if !user.chars().all(is_of_user) || !has_valid_escapes(user) {
        return Some("the user name contains a character that must be escaped");
    }
    let port = if host.starts_with('[') {
        match host.rsplit_once(']') {
            None => return Some("the IPv6 address has no closing bracket"),
            Some((_, port)) => port,
        }
    } else {
        host.rfind(':').map_or("", |at| &host[at..])
    };
    let is_port = |port: &str| port.bytes().all(|byte| byte.is_ascii_digit());
    if !port.is_empty() && !port.strip_prefix(':').is_some_and(is_port) {
        return Some("the port is not a number");
    }
    let is_of_host =
        |c: char| !c.is_ascii() || c.is_ascii_alphanumeric() || "-_.~!$&'()*+,;=:[]<>\"".contains(c);
    (!host.chars().all(is_of_host)).then_some(BAD_HOST)
}

fn has_valid_escapes(text: &str) -> bool {
    let is_escape = |after: &str| matches!(after.as_bytes(), [a, b, ..] if a.is_ascii_hexdigit() && b.is_ascii_hexdigit());
    text.split('%').skip(1).all(is_escape)
}

#[cfg(test)]
mod tests {
    use snapbox::{assert_data_eq, str};

    use super::url_problem;

    #[test]
    fn paths_and_urls_of_any_scheme_pass() {
        let good = [
            "https://github.com/a/b/releases/latest/c.yaml",
            "https://u:p@[::1]:80/a%20b?x=%#y",
            "/abs/a b/c.yaml",
            "./rel/x.yaml",
            "//host/a",
            "mailto:x",
            "C:\\x",
            "https://h:/a",
            "?x",
            "",
        ];
        for text in good {
            assert_eq!(url_problem(text), None, "{text}");
        }
    }

    #[test]
    fn invalid_urls_are_refused_with_a_reason() {
        let bad = [
            ":x",
            "1:2",
            "%zz",
            "/a#%",
            "https://[::1/a",
            "https://a:b/c",
            "https://a b/c",
            "https://u s@a/c",
            "/a\tb",
        ];
        let reported = bad.map(|text| format!("{text:?}: {}", url_problem(text).unwrap()));
        assert_data_eq!(
            reported.join("\n"),
            str![[r#"
":x": the scheme is missing
"1:2": the first path segment contains a colon
"%zz": a `%` is not followed by two hexadecimal digits
"/a#%": a `%` is not followed by two hexadecimal digits
"https://[::1/a": the IPv6 address has no closing bracket
"https://a:b/c": the port is not a number
"https://a b/c": the host contains an invalid character
"https://u s@a/c": the user name contains a character that must be escaped
"/a/tb": the url contains a control character
"#]]
        );
    }
}
