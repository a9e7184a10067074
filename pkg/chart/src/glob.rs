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
    let pattern: Vec<char> = pattern.chars().collect();
    let path: Vec<char> = path.chars().collect();
    check(&pattern)?;
    Ok(matches_from(&pattern, &path))
}

/// One element of a pattern.
enum Element<'p> {
    Any,
    Star,
    Literal(char),
    Class { is_negated: bool, ranges: &'p [char] },
}

/// Splits the first element off a pattern.
fn element(pattern: &[char]) -> Result<Option<(Element<'_>, &[char])>, BadPattern> {
    Ok(match pattern {
        [] => None,
        ['*', rest @ ..] => Some((Element::Star, rest)),
        ['?', rest @ ..] => Some((Element::Any, rest)),
        ['\\'] => return Err(BadPattern),
        ['[', rest @ ..] => {
            let (is_negated, rest) = match rest {
                ['^', rest @ ..] => (true, rest),
                rest => (false, rest),
            };
            let end = class_end(rest)?;
            Some((Element::Class { is_negated, ranges: &rest[..end] }, &rest[end + 1..]))
        }
        ['\\', literal, rest @ ..] | [literal, rest @ ..] => Some((Element::Literal(*literal), rest)),
    })
}

/// Returns the position of the `]` that ends a class.
fn class_end(class: &[char]) -> Result<usize, BadPattern> {
    let mut at = 0;
    let mut count = 0;
    loop {
        match class.get(at) {
            None => return Err(BadPattern),
            Some(']') if count > 0 => return Ok(at),
            _ => {}
        }
        at = class_character(class, at)?.1;
        if class.get(at) == Some(&'-') {
            at = class_character(class, at + 1)?.1;
        }
        count += 1;
    }
}

fn class_character(class: &[char], at: usize) -> Result<(char, usize), BadPattern> {
    match class.get(at..).unwrap_or_default() {
        [] | ['-' | ']', ..] | ['\\'] => Err(BadPattern),
        ['\\', character, ..] => Ok((*character, at + 2)),
        [character, ..] => Ok((*character, at + 1)),
    }
}

fn class_contains(class: &[char], wanted: char) -> bool {
    let mut at = 0;
    while let Ok((low, next)) = class_character(class, at) {
        let (high, next) = match class.get(next) {
            Some('-') => class_character(class, next + 1).unwrap_or((low, next + 1)),
            _ => (low, next),
        };
        if (low..=high).contains(&wanted) {
            return true;
        }
        at = next;
    }
    false
}

fn check(mut pattern: &[char]) -> Result<(), BadPattern> {
    while let Some((_, rest)) = element(pattern)? {
        pattern = rest;
    }
    Ok(())
}

/// Matches without recursion: only the last `*` is tried again.
fn matches_from(pattern: &[char], path: &[char]) -> bool {
    let (mut pattern, mut at) = (pattern, 0);
    let mut retry: Option<(&[char], usize)> = None;
    loop {
        let step = match element(pattern) {
            Ok(Some((Element::Star, rest))) => {
                retry = Some((rest, at));
                pattern = rest;
                continue;
            }
            Ok(None) if at == path.len() => return true,
            Ok(Some((wanted, rest))) if path.get(at).is_some_and(|found| accepts(&wanted, *found)) => {
                Some(rest)
            }
            _ => None,
        };
        if let Some(rest) = step {
            (pattern, at) = (rest, at + 1);
            continue;
        }
        match retry {
            Some((rest, from)) if path.get(from).is_some_and(|skipped| *skipped != '/') => {
                retry = Some((rest, from + 1));
                (pattern, at) = (rest, from + 1);
            }
            _ => return false,
        }
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
