//! Patterns as Python's `fnmatch` reads them: `*`, `?` and `[…]`. `*` also matches slashes.

use regex::{Regex, escape};

/// Returns the expression of a pattern.
///
/// # Errors
/// The pattern is too large.
pub(crate) fn expression(pattern: &str) -> Result<Regex, regex::Error> {
    let mut source = String::from("(?s)^");
    let mut rest = pattern;
    while let Some(first) = rest.chars().next() {
        rest = &rest[first.len_utf8()..];
        match first {
            '*' => source.push_str(".*"),
            '?' => source.push('.'),
            '[' => match set(rest) {
                Some((set, after)) => {
                    source.push_str(&set);
                    rest = after;
                }
                None => source.push_str(r"\["),
            },
            other => source.push_str(&escaped(other)),
        }
    }
    source.push('$');
    Regex::new(&source)
}

/// Returns the expression of a set whose text follows `[`, and the rest of the pattern. None if nothing ends the set.
fn set(text: &str) -> Option<(String, &str)> {
    let (is_negated, text) = text.strip_prefix('!').map_or((false, text), |text| (true, text));
    // A bracket at the start is a member of the set.
    let from = usize::from(text.starts_with(']'));
    let end = text.get(from..)?.find(']')? + from;
    let (members, mut items) = (text[..end].chars().collect::<Vec<_>>(), String::new());
    let mut rest = &members[..];
    while let Some((first, after)) = rest.split_first() {
        rest = match after {
            ['-', last, after @ ..] => {
                // A range in the wrong order has no member.
                if first <= last {
                    items.extend([&*escaped(*first), "-", &*escaped(*last)]);
                }
                after
            }
            after => {
                items.push_str(&escaped(*first));
                after
            }
        };
    }
    let set = match (is_negated, items.is_empty()) {
        (true, true) => ".".to_owned(),
        (false, true) => r"[^\s\S]".to_owned(),
        (true, false) => format!("[^{items}]"),
        (false, false) => format!("[{items}]"),
    };
    Some((set, &text[end + 1..]))
}

fn escaped(character: char) -> String {
    escape(character.encode_utf8(&mut [0; 4]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_whole_texts_as_in_python() {
        for (pattern, matching, other) in [
            ("raw/*", "raw/a/b", "raw"),
            ("*.html", "docs/x.html", "x.html5"),
            ("a?[0-9]", "ab1", "ab"),
            ("a[!b]c", "axc", "abc"),
            ("a[", "a[", "a"),
            ("a.c", "a.c", "abc"),
            ("[]a]b", "]b", "bb"),
            ("[!]a]b", "xb", "]b"),
            ("[^a]b", "^b", "xb"),
            ("[!^]", "a", "^"),
            ("[]", "[]", "]"),
            ("[!]", "[!]", "a"),
            ("[]-a]", "_", "b"),
            ("[a-]", "-", "b"),
            ("[a--b]", "b", "a"),
            ("[--0]", ".", "a"),
            ("[a-c-e]", "-", "d"),
            ("[!z-a]", "x", "xx"),
            ("[z-a]*|", "", "x|"),
            (r"[\]", r"\", "a"),
            ("[a&&b]", "&", "x"),
            ("[[:alpha:]", "[", "x"),
            ("é*", "éa", "e"),
        ] {
            let expression = expression(pattern).unwrap();
            assert!(matching.is_empty() || expression.is_match(matching), "{pattern} {matching}");
            assert!(!expression.is_match(other), "{pattern} {other}");
        }
    }
}
