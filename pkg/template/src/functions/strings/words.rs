//! `snakecase` and `kebabcase`: texts as words of one kind of character each.

use super::super::Arguments as _;
use super::super::table::Row;
use super::case::lower;
use super::is_space;

pub(super) const ROWS: &[Row] = &[
    ("snakecase", "s", |_, args| Ok(joined(&args.utf8(0), '_').into())),
    ("kebabcase", "s", |_, args| Ok(joined(&args.utf8(0), '-').into())),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    None,
    Number,
    Upper,
    Alphabet,
    Connector,
    Punctuation,
    Other,
}

impl Kind {
    fn of(character: char) -> Self {
        match character {
            '-' | '_' => Self::Connector,
            _ if is_space(character) => Self::Connector,
            _ if is_punctuation(character) => Self::Punctuation,
            _ if character.is_uppercase() => Self::Upper,
            _ if is_alphabet(character) => Self::Alphabet,
            _ if character.is_numeric() => Self::Number,
            _ => Self::Other,
        }
    }

    /// True for the kinds that end a word without a connector.
    fn separates(self) -> bool {
        matches!(self, Self::Connector | Self::Punctuation)
    }
}

/// True for letters outside the Chinese characters, which are words of their own.
fn is_alphabet(character: char) -> bool {
    let is_chinese = matches!(character, '\u{3400}'..='\u{4D85}' | '\u{4E00}'..='\u{9FCC}'
        | '\u{20000}'..='\u{2B81D}');
    character.is_alphabetic() && !character.is_numeric() && !is_chinese
}

fn is_punctuation(character: char) -> bool {
    match character {
        '$' | '+' | '<' | '=' | '>' | '^' | '`' | '|' | '~' => false,
        _ if character.is_ascii() => character.is_ascii_punctuation(),
        _ => matches!(character, '¡' | '§' | '«' | '¶' | '·' | '»' | '¿' | '\u{2010}'..='\u{2027}'
            | '\u{2030}'..='\u{205E}' | '\u{3001}'..='\u{3003}' | '\u{3008}'..='\u{3011}'),
    }
}

struct Words<'t> {
    rest: &'t str,
}

impl<'t> Words<'t> {
    /// Takes the next word; the kind is `None` at the end.
    fn next(&mut self) -> (Kind, &'t str) {
        let Some(first) = self.rest.chars().next() else { return (Kind::None, "") };
        let kind = Kind::of(first);
        let length = match kind {
            Kind::Upper => self.capitalized(first),
            Kind::Other => self.run(|character| matches!(Kind::of(character), Kind::Other)),
            _ => self.run(|character| Kind::of(character) == kind),
        };
        let (word, rest) = self.rest.split_at(length);
        self.rest = rest;
        (kind, word)
    }

    /// Returns the length of the characters at the start that match.
    fn run(&self, matches: impl Fn(char) -> bool) -> usize {
        self.rest.find(|character| !matches(character)).unwrap_or(self.rest.len())
    }

    /// Returns the length of a word in capitals, or with one capital. The last of several capitals starts a new word
    /// if small letters follow.
    fn capitalized(&self, first: char) -> usize {
        let capitals = self.run(char::is_uppercase);
        let after = self.rest[capitals..].chars().next();
        let has_letters = after.is_some_and(is_alphabet);
        if capitals > first.len_utf8() {
            let last = self.rest[..capitals].chars().next_back().map_or(0, char::len_utf8);
            return if has_letters { capitals - last } else { capitals };
        }
        let small = self.rest[capitals..]
            .find(|character: char| !is_alphabet(character) || character.is_uppercase())
            .unwrap_or(self.rest.len() - capitals);
        capitals + small
    }
}

fn push(out: &mut String, kind: Kind, word: &str, connector: char) {
    match kind {
        Kind::Connector => out.extend(word.chars().map(|_| connector)),
        Kind::Upper => out.extend(word.chars().map(lower)),
        _ => out.push_str(word),
    }
}

fn joined(text: &str, connector: char) -> String {
    let mut words = Words { rest: text };
    let mut out = String::with_capacity(text.len() + 8);
    let (mut kind, mut word) = words.next();
    while !words.rest.is_empty() {
        if kind != Kind::Connector {
            push(&mut out, kind, word, connector);
        }
        let (before, last) = (kind, word);
        (kind, word) = words.next();
        match before {
            Kind::Number => (kind, word) = after_number(&mut words, &mut out, kind, word, connector),
            Kind::Connector => push(&mut out, before, last, connector),
            Kind::Punctuation => {}
            _ if kind != Kind::Number => {
                if !kind.separates() {
                    out.push(connector);
                }
            }
            _ if words.rest.is_empty() => {}
            _ => (kind, word) = number_after_letters(&mut words, &mut out, word, connector),
        }
    }
    push(&mut out, kind, word, connector);
    out
}

/// Letters and numbers directly behind a number belong to it.
fn after_number<'t>(
    words: &mut Words<'t>,
    out: &mut String,
    mut kind: Kind,
    mut word: &'t str,
    connector: char,
) -> (Kind, &'t str) {
    while matches!(kind, Kind::Alphabet | Kind::Number) {
        push(out, kind, word, connector);
        (kind, word) = words.next();
    }
    if kind != Kind::None && !kind.separates() {
        out.push(connector);
    }
    (kind, word)
}

/// A number behind letters belongs to them, unless small letters follow it.
fn number_after_letters<'t>(
    words: &mut Words<'t>,
    out: &mut String,
    number: &'t str,
    connector: char,
) -> (Kind, &'t str) {
    let (kind, word) = words.next();
    if kind != Kind::Alphabet {
        push(out, Kind::Number, number, connector);
        if !kind.separates() {
            out.push(connector);
        }
        return (kind, word);
    }
    out.push(connector);
    push(out, Kind::Number, number, connector);
    after_number(words, out, kind, word, connector)
}
