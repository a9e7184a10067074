//! Upper and lower case, and the cases of identifiers.

use super::super::Arguments as _;
use super::super::table::Row;
use super::is_space;
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

/// Joins words with a capital letter each.
fn pascal(text: &str) -> String {
    let start = text.find(|character| !is_connector(character)).unwrap_or(text.len());
    let mut out = text[..start].to_owned();
    let mut rest = text[start..].chars();
    let Some(first) = rest.next() else { return out };
    let mut in_capitals = first.is_uppercase();
    let mut current = upper(first);
    for next in rest {
        let before = std::mem::replace(&mut current, next);
        if is_connector(current) && is_connector(before) {
            out.push(before);
            continue;
        }
        if is_connector(before) {
            in_capitals = current.is_uppercase();
            current = upper(current);
            continue;
        }
        if in_capitals {
            if current.is_uppercase() {
                current = lower(current);
            } else {
                in_capitals = false;
            }
        }
        out.push(before);
    }
    out.push(current);
    out
}
