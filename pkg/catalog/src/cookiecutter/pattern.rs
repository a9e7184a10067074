//! Patterns of `_copy_without_render`, as Python's `fnmatch` reads them: `*` also matches slashes.

use std::fmt::Write as _;

use regex::Regex;

/// Returns the expression of a pattern. A pattern that is no expression matches nothing.
pub(super) fn expression(pattern: &str) -> Option<Regex> {
    let mut source = String::from("(?s)^");
    let mut rest = pattern.chars();
    while let Some(character) = rest.next() {
        match character {
            '*' => source.push_str(".*"),
            '?' => source.push('.'),
            '[' => match set(rest.as_str()) {
                Some((negated, members, after)) => {
                    let negation = if negated { "^" } else { "" };
                    let _ =
                        write!(source, "[{negation}{}]", members.replace('\\', r"\\").replace('[', r"\["));
                    rest = after.chars();
                }
                None => source.push_str(r"\["),
            },
            other => source.push_str(&regex::escape(other.encode_utf8(&mut [0; 4]))),
        }
    }
    source.push('$');
    Regex::new(&source).ok()
}

/// Splits the text behind `[` into the negation, the members of the set, and the rest of the pattern.
fn set(text: &str) -> Option<(bool, &str, &str)> {
    let (negated, text) = text.strip_prefix('!').map_or((false, text), |text| (true, text));
    // A bracket at the start is a member of the set.
    let from = usize::from(text.starts_with(']'));
    let end = text.get(from..)?.find(']')? + from;
    Some((negated, &text[..end], &text[end + 1..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_whole_paths() {
        for (pattern, path, matches) in [
            ("raw/*", "raw/a/b", true),
            ("*.html", "docs/x.html", true),
            ("raw", "raw/a", false),
            ("a?[0-9]", "ab1", true),
            ("a[!b]c", "abc", false),
            ("a[", "a[", true),
            ("a.c", "abc", false),
        ] {
            assert_eq!(expression(pattern).unwrap().is_match(path), matches, "{pattern} {path}");
        }
    }
}
