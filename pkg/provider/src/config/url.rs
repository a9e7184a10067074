/// The reason why a text is not a url for clusterctl. Paths count as urls. Supported hosts and schemes are not checked.
/// Source: Go net/url Parse, which clusterctl v1.14 client/config (validateProvider) calls.
pub(super) fn url_problem(text: &str) -> Option<&'static str> {
    if text.bytes().any(|byte| byte.is_ascii_control()) {
        return Some("it holds a control character");
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
            return Some("its first part holds a colon, which only a scheme may");
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
const BAD_HOST: &str = "its host holds a character that no host has";

/// Removes `scheme:`. Text that cannot start with a scheme stays as written.
fn without_scheme(text: &str) -> Result<&str, &'static str> {
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' => {}
            b'0'..=b'9' | b'+' | b'-' | b'.' if at > 0 => {}
            b':' if at == 0 => return Err("its scheme is missing"),
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
        return Some("its user name holds a character that must be escaped");
    }
    let port = if host.starts_with('[') {
        match host.rsplit_once(']') {
            None => return Some("its address has no closing bracket"),
            Some((_, port)) => port,
        }
    } else {
        host.rfind(':').map_or("", |at| &host[at..])
    };
    let is_port = |port: &str| port.bytes().all(|byte| byte.is_ascii_digit());
    if !port.is_empty() && !port.strip_prefix(':').is_some_and(is_port) {
        return Some("its port is no number");
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
    fn what_cannot_be_a_url_is_told_with_its_reason() {
        let bad = [
            (":x", "its scheme is missing"),
            ("1:2", "its first part holds a colon, which only a scheme may"),
            ("%zz", "a `%` is not followed by two hexadecimal digits"),
            ("/a#%", "a `%` is not followed by two hexadecimal digits"),
            ("https://[::1/a", "its address has no closing bracket"),
            ("https://a:b/c", "its port is no number"),
            ("https://a b/c", "its host holds a character that no host has"),
            ("https://u s@a/c", "its user name holds a character that must be escaped"),
            ("/a\tb", "it holds a control character"),
        ];
        for (text, problem) in bad {
            assert_eq!(url_problem(text), Some(problem), "{text}");
        }
    }
}
