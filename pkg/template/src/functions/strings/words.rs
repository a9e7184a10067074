//! `snakecase` and `kebabcase`: texts as words of one kind of character each.

use super::super::Arguments as _;
use super::super::table::Row;
use super::case::lower;
use super::{is_space, split_while};

pub(super) const ROWS: &[Row] = &[
    ("snakecase", "s", |_, args| Ok(joined(&args.utf8(0), '_').into())),
    ("kebabcase", "s", |_, args| Ok(joined(&args.utf8(0), '-').into())),
];

/// The kinds of runs in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Digits alone.
    Digits,
    /// Digits, and the small letters and digits behind them: `2nd`.
    Ordinal,
    /// Capitals, or one capital with the small letters behind it.
    Capitalized,
    Small,
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
            _ if character.is_uppercase() => Self::Capitalized,
            _ if is_letter(character) => Self::Small,
            _ if character.is_numeric() => Self::Digits,
            _ => Self::Other,
        }
    }
}

/// True for letters outside the Chinese characters, which are words of their own.
fn is_letter(character: char) -> bool {
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

/// Splits a text into runs.
fn runs(mut text: &str) -> Vec<(Kind, &str)> {
    let mut runs = Vec::new();
    while let Some(first) = text.chars().next() {
        let kind = Kind::of(first);
        let (alike, behind) = split_while(text, |character| Kind::of(character) == kind);
        let small = split_while(behind, |character| Kind::of(character) == Kind::Small).0.len();
        let (kind, length) = match kind {
            Kind::Digits if small > 0 => {
                let is_part = |character| matches!(Kind::of(character), Kind::Digits | Kind::Small);
                (Kind::Ordinal, split_while(text, is_part).0.len())
            }
            // Small letters belong to the last capital before them.
            Kind::Capitalized if small > 0 => match alike.char_indices().next_back() {
                Some((last, _)) if last > 0 => (kind, last),
                _ => (kind, alike.len() + small),
            },
            _ => (kind, alike.len()),
        };
        let (run, rest) = text.split_at(length);
        runs.push((kind, run));
        text = rest;
    }
    runs
}

/// True if a connector goes between two runs.
fn is_boundary(left: Kind, right: Kind) -> bool {
    let separates = |kind| matches!(kind, Kind::Connector | Kind::Punctuation);
    // A number belongs to the word before it.
    !separates(left) && !separates(right) && right != Kind::Digits
}

/// Writes a text as words in small letters with a connector between them.
fn joined(text: &str, connector: char) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    let mut left = Kind::Connector;
    for (kind, run) in runs(text) {
        if is_boundary(left, kind) {
            out.push(connector);
        }
        match kind {
            Kind::Connector => out.extend(run.chars().map(|_| connector)),
            Kind::Capitalized => out.extend(run.chars().map(lower)),
            _ => out.push_str(run),
        }
        left = kind;
    }
    out
}

#[cfg(test)]
mod tests {
    #[test]
    fn words_end_where_the_kind_of_character_changes() {
        let cases = [
            ("myHTTPServer", "my_http_server"),
            ("ABc", "a_bc"),
            ("fooBar2Baz", "foo_bar2_baz"),
            ("foo2bar3baz", "foo_2bar3baz"),
            ("v1Beta1", "v1_beta1"),
            ("HTTP2Server", "http2_server"),
            ("1a2b3C4", "1a2b3_c4"),
            ("2Foo foo2-bar", "2_foo_foo2_bar"),
            ("_foo-  bar_", "_foo___bar_"),
            ("foo.barBaz/Bar2", "foo.bar_baz/bar2"),
            ("foo$bar+B", "foo_$_bar_+_b"),
            ("ÉcoleÉlève2été", "école_élève_2été"),
            ("foo漢字2", "foo_漢字2"),
            ("ⅧfooⅧ x²Y", "ⅷfoo_ⅷ_x²_y"),
            ("foo\u{FFFD}Bar", "foo_\u{FFFD}_bar"),
        ];
        for (text, expected) in cases {
            assert_eq!(super::joined(text, '_'), expected, "{text}");
        }
    }
}
