//! Upper and lower case, and the cases of identifiers.

use super::super::Arguments as _;
use super::super::table::Row;
use super::{is_space, split_while};
use crate::value::Value;

pub(super) const ROWS: &[Row] = &[
    ("upper", "s", |_, args| Ok(args.utf8(0).chars().map(upper).collect::<String>().into())),
    ("lower", "s", |_, args| Ok(args.utf8(0).chars().map(lower).collect::<String>().into())),
    ("title", "s", |_, args| Ok(title(&args.utf8(0)).into())),
    ("untitle", "s", |_, args| Ok(untitle(&args.utf8(0)).into())),
    ("swapcase", "s", |_, args| Ok(args.utf8(0).chars().map(swap).collect::<String>().into())),
    ("initials", "s", |_, args| Ok(initials(args.text(0)).into())),
    ("nospace", "s", |_, args| Ok(Value::string(without_spaces(args.text(0))))),
    ("camelcase", "s", |_, args| Ok(pascal(&args.utf8(0)).into())),
];

/// Returns the upper case of a character, if it is one character.
pub(super) fn upper(character: char) -> char {
    single(character, character.to_uppercase())
}

/// Returns the lower case of a character, if it is one character.
pub(super) fn lower(character: char) -> char {
    // The only character whose lower case is longer, but not in Go.
    if character == 'İ' { 'i' } else { single(character, character.to_lowercase()) }
}

fn single(character: char, mut mapped: impl ExactSizeIterator<Item = char>) -> char {
    if mapped.len() == 1 { mapped.next().unwrap_or(character) } else { character }
}

fn swap(character: char) -> char {
    if character.is_uppercase() { lower(character) } else { upper(character) }
}

/// Changes the first letter of each word to upper case.
fn title(text: &str) -> String {
    let mut before = ' ';
    let is_separator = |character: char| {
        if character.is_ascii() {
            !character.is_ascii_alphanumeric() && character != '_'
        } else {
            !character.is_alphanumeric() && is_space(character)
        }
    };
    let change = |character| {
        let changed = if is_separator(before) { upper(character) } else { character };
        before = character;
        changed
    };
    text.chars().map(change).collect()
}

fn untitle(text: &str) -> String {
    let mut is_start = true;
    let change = |character| {
        if is_space(character) {
            is_start = true;
            return character;
        }
        if std::mem::take(&mut is_start) { lower(character) } else { character }
    };
    text.chars().map(change).collect()
}

/// Returns the first byte of each word as a character, as goutils does.
fn initials(text: &[u8]) -> String {
    let words = text.split(|byte| is_space(char::from(*byte)));
    words.filter_map(|word| word.first()).map(|byte| char::from(*byte)).collect()
}

/// Removes spaces. A text with spaces is read byte by byte, as goutils does, which damages other characters.
fn without_spaces(text: &[u8]) -> Vec<u8> {
    let is_kept = |byte: &u8| !is_space(char::from(*byte));
    if text.iter().all(is_kept) {
        return text.to_vec();
    }
    text.iter().filter(|byte| is_kept(byte)).map(|byte| char::from(*byte)).collect::<String>().into_bytes()
}

fn is_connector(character: char) -> bool {
    character == '-' || character == '_' || is_space(character)
}

/// Joins words with a capital letter each. Of several connectors between two words the last one is removed.
fn pascal(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while !rest.is_empty() {
        let (connectors, words) = split_while(rest, is_connector);
        let (word, behind) = split_while(words, |character| !is_connector(character));
        let mut connectors = connectors.chars();
        if !out.is_empty() && !word.is_empty() {
            connectors.next_back();
        }
        out.push_str(connectors.as_str());
        out.extend(capitalized(word));
        rest = behind;
    }
    out
}

/// Changes the first letter to upper case. If it is a capital, the capitals directly behind it become small.
fn capitalized(word: &str) -> impl Iterator<Item = char> {
    let capitals = split_while(word, char::is_uppercase).0.len();
    word.char_indices().map(move |(at, character)| match at {
        0 => upper(character),
        _ if at < capitals => lower(character),
        _ => character,
    })
}

#[cfg(test)]
mod tests {
    #[test]
    fn camelcase_capitalizes_each_word() {
        let cases = [
            ("foo-barBaz qux", "FooBarBazQux"),
            ("fooBAR HTTP_server HTTPServer", "FooBARHttpServerHttpserver"),
            ("__foo__bar", "__Foo_Bar"),
            ("foo_- ", "Foo_- "),
            ("-", "-"),
            ("foo2_2bar", "Foo22bar"),
            ("ÉCOLE élève ß", "ÉcoleÉlèveß"),
            ("a\u{FFFD}_b", "A\u{FFFD}B"),
            ("", ""),
        ];
        for (text, expected) in cases {
            assert_eq!(super::pascal(text), expected, "{text}");
        }
    }
}
