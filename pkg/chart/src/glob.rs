//! Two kinds of patterns: of Go's `path/filepath`, and of `.Files.Glob`.

use regex::Regex;

/// A pattern that `filepath.Match` rejects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("syntax error in pattern")]
pub struct BadPattern;

/// Matches a whole path against a pattern of Go's `filepath.Match`: `*`, `?`, `[a-z]`, `[^a]`, `\x`.
///
/// # Errors
/// `BadPattern` if the part of the pattern that was needed is malformed.
pub fn matches_path(pattern: &str, path: &str) -> Result<bool, BadPattern> {
    check(pattern)?;
    Ok(matches_checked(pattern, path))
}

/// One element of a pattern.
enum Element<'p> {
    Any,
    Star,
    Literal(char),
    Class { is_negated: bool, ranges: &'p str },
}

/// Splits the first element off a pattern.
fn element(pattern: &str) -> Result<Option<(Element<'_>, &str)>, BadPattern> {
    let mut characters = pattern.chars();
    let Some(first) = characters.next() else { return Ok(None) };
    let rest = characters.as_str();
    Ok(Some(match first {
        '*' => (Element::Star, rest),
        '?' => (Element::Any, rest),
        '\\' => (Element::Literal(characters.next().ok_or(BadPattern)?), characters.as_str()),
        '[' => {
            let (is_negated, class) = rest.strip_prefix('^').map_or((false, rest), |class| (true, class));
            let behind = behind_class(class)?;
            let ranges = &class[..class.len() - behind.len() - 1];
            (Element::Class { is_negated, ranges }, behind)
        }
        literal => (Element::Literal(literal), rest),
    }))
}

/// Returns the text behind the `]` that ends a class.
fn behind_class(mut class: &str) -> Result<&str, BadPattern> {
    let mut is_first = true;
    loop {
        match class.strip_prefix(']') {
            Some(behind) if !is_first => return Ok(behind),
            _ => class = range(class)?.2,
        }
        is_first = false;
    }
}

/// Returns the first range of a class, of which most are one character, and the text behind it.
fn range(class: &str) -> Result<(char, char, &str), BadPattern> {
    let (low, rest) = class_character(class)?;
    match rest.strip_prefix('-') {
        Some(high) => class_character(high).map(|(high, rest)| (low, high, rest)),
        None => Ok((low, low, rest)),
    }
}

fn class_character(class: &str) -> Result<(char, &str), BadPattern> {
    let mut characters = class.chars();
    let character = match characters.next() {
        None | Some('-' | ']') => None,
        Some('\\') => characters.next(),
        plain => plain,
    };
    Ok((character.ok_or(BadPattern)?, characters.as_str()))
}

fn class_contains(mut class: &str, wanted: char) -> bool {
    while let Ok((low, high, rest)) = range(class) {
        if (low..=high).contains(&wanted) {
            return true;
        }
        class = rest;
    }
    false
}

pub(crate) fn check(mut pattern: &str) -> Result<(), BadPattern> {
    while let Some((_, rest)) = element(pattern)? {
        pattern = rest;
    }
    Ok(())
}

/// Matches a whole path against a valid pattern, without recursion: only the last `*` is tried again.
pub(crate) fn matches_checked(mut pattern: &str, mut path: &str) -> bool {
    let mut retry: Option<(&str, &str)> = None;
    loop {
        let mut characters = path.chars();
        let found = characters.next();
        match (element(pattern), found) {
            (Ok(Some((Element::Star, end))), _) if !end.contains(['*', '?', '[', '\\']) => {
                return path.strip_suffix(end).is_some_and(|skipped| !skipped.contains('/'));
            }
            (Ok(Some((Element::Star, rest))), _) => {
                retry = Some((rest, path));
                pattern = rest;
                continue;
            }
            (Ok(None), None) => return true,
            (Ok(Some((wanted, rest))), Some(found)) if accepts(&wanted, found) => {
                (pattern, path) = (rest, characters.as_str());
                continue;
            }
            _ => {}
        }
        let Some((rest, from)) = retry else { return false };
        let mut skipped = from.chars();
        if skipped.next().is_none_or(|skipped| skipped == '/') {
            return false;
        }
        retry = Some((rest, skipped.as_str()));
        (pattern, path) = (rest, skipped.as_str());
    }
}

fn accepts(element: &Element<'_>, found: char) -> bool {
    match element {
        Element::Any | Element::Star => found != '/',
        Element::Literal(wanted) => *wanted == found,
        Element::Class { is_negated, ranges } => class_contains(ranges, found) != *is_negated,
    }
}

/// Compiles a pattern of `.Files.Glob`: `*` and `?` stop at `/`, `**` does not; `[a-z]`, `[!a]`, `{a,b}`, `\x`.
/// `None` if the pattern is malformed.
///
/// Source: gobwas/glob 0.2.3.
pub fn compile_glob(pattern: &str) -> Option<Regex> {
    let mut out = String::from("(?s)^");
    let mut characters = pattern.chars().peekable();
    let mut depth = 0_usize;
    while let Some(character) = characters.next() {
        match character {
            '*' if characters.next_if_eq(&'*').is_some() => {
                while characters.next_if_eq(&'*').is_some() {}
                out.push_str(".*");
            }
            '*' => out.push_str("[^/]*"),
            '?' => out.push_str("[^/]"),
            '{' => {
                depth += 1;
                out.push_str("(?:");
            }
            '}' => {
                depth = depth.checked_sub(1)?;
                out.push(')');
            }
            ',' if depth > 0 => out.push('|'),
            '\\' => push_literal(&mut out, characters.next()?),
            '[' => push_class(&mut out, &mut characters)?,
            other => push_literal(&mut out, other),
        }
    }
    out.push('$');
    if depth > 0 { None } else { Regex::new(&out).ok() }
}

fn push_literal(out: &mut String, character: char) {
    out.push_str(&regex::escape(character.encode_utf8(&mut [0; 4])));
}

fn push_class(out: &mut String, characters: &mut std::iter::Peekable<std::str::Chars<'_>>) -> Option<()> {
    out.push('[');
    if characters.next_if_eq(&'!').is_some() {
        out.push('^');
    }
    let mut is_empty = true;
    loop {
        match characters.next()? {
            ']' if !is_empty => break,
            '-' => out.push('-'),
            '\\' => push_literal(out, characters.next()?),
            other => {
                if matches!(other, '[' | ']' | '^' | '&' | '~') {
                    out.push('\\');
                }
                out.push(other);
            }
        }
        is_empty = false;
    }
    out.push(']');
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn path_patterns_match_as_in_go() {
        let matching = [
            ("*.yaml", "a.yaml"),
            ("a*/b", "abc/b"),
            ("a?c", "abc"),
            ("[a-c]x", "bx"),
            ("[^a-c]x", "dx"),
            ("\\*", "*"),
            ("*a*b", "xaxab"),
            ("templates/.?*", "templates/.x"),
            ("", ""),
        ];
        for (pattern, path) in matching {
            assert_eq!(matches_path(pattern, path), Ok(true), "{pattern} {path}");
        }
        for (pattern, path) in
            [("*.yaml", "a/b.yaml"), ("a?c", "a/c"), ("[a-c]x", "dx"), ("a", "ab"), ("*", "a/b")]
        {
            assert_eq!(matches_path(pattern, path), Ok(false), "{pattern} {path}");
        }
        for pattern in ["[", "[]", "a[", "[a-]", "\\", "[-a]"] {
            assert_eq!(matches_path(pattern, "a"), Err(BadPattern), "{pattern}");
        }
    }

    #[test]
    fn file_patterns_match_as_in_helm() {
        let is_match =
            |pattern: &str, path: &str| compile_glob(pattern).is_some_and(|regex| regex.is_match(path));
        assert!(is_match("files/*.json", "files/a.json") && !is_match("files/*.json", "files/b/a.json"));
        assert!(is_match("files/**.json", "files/b/a.json") && is_match("**", "a/b"));
        assert!(is_match("{a,b/{c,d}}.x", "b/d.x") && !is_match("{a,b}.x", "c.x"));
        assert!(is_match("[!a]b", "cb") && !is_match("[!a]b", "ab") && is_match("a\\*", "a*"));
        assert!(compile_glob("{a").is_none() && compile_glob("[a").is_none() && compile_glob("a}").is_none());
    }
}
