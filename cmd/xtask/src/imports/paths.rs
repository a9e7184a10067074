use std::collections::BTreeSet;

use crate::rust_source::RustSource;

/// The paths and names in one file.
pub(super) struct ParsedModule<'a> {
    pub(super) imports: Vec<Import<'a>>,
    /// Paths of at least two segments outside `use`.
    pub(super) inline: BTreeSet<Vec<&'a str>>,
    /// Names that the file defines.
    pub(super) items: BTreeSet<&'a str>,
    /// Every word outside `use`.
    pub(super) words: BTreeSet<&'a str>,
}

/// One name of a `use` declaration.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Import<'a> {
    pub(super) path: Vec<&'a str>,
    /// The local name. `None` for `*`.
    pub(super) name: Option<&'a str>,
    pub(super) is_reexport: bool,
}

const DEFINES: [&str; 11] =
    ["fn", "struct", "enum", "union", "trait", "type", "const", "static", "mod", "macro_rules", "macro"];

impl<'a> ParsedModule<'a> {
    pub(super) fn parse(file: &RustSource<'a>) -> Self {
        let tokens = tokens(file);
        let mut source = Self {
            imports: Vec::new(),
            inline: BTreeSet::new(),
            items: BTreeSet::new(),
            words: BTreeSet::new(),
        };
        let mut at = 0;
        while at < tokens.len() {
            let token = tokens[at];
            let previous = at.checked_sub(1).map_or("", |before| tokens[before]);
            if token == "use" && tokens.get(at + 1) != Some(&"<") {
                let is_reexport = matches!(previous, "pub" | ")");
                at = source.tree(&tokens, at + 1, &[], is_reexport);
            } else if is_word(token) && previous != "::" {
                let length = path_length(&tokens[at..]);
                if length > 1 && !tokens[..at].ends_with(&["pub", "(", "in"]) {
                    source
                        .inline
                        .insert(tokens[at..at + length * 2 - 1].iter().step_by(2).copied().collect());
                }
                if !matches!(previous, "mod" | ".") {
                    source.words.insert(token);
                }
                if DEFINES.contains(&token) {
                    let name = tokens[at + 1..].iter().find(|next| is_word(next) && **next != "mut");
                    source.items.extend(name);
                }
                at += length * 2 - 1;
            } else {
                at += 1;
            }
        }
        source
    }

    /// Parses a `use` tree starting at a token. Returns the position after the tree.
    fn tree(&mut self, tokens: &[&'a str], mut at: usize, prefix: &[&'a str], is_reexport: bool) -> usize {
        let (mut path, mut names_prefix) = (prefix.to_vec(), false);
        while at < tokens.len() {
            match tokens[at] {
                "::" => at += 1,
                "{" => {
                    at += 1;
                    while at < tokens.len() && tokens[at] != "}" {
                        let end = self.tree(tokens, at, &path, is_reexport);
                        // A comma, or a token of a macro, which ends no name.
                        at = end + usize::from(end == at || tokens.get(end) == Some(&","));
                    }
                    return at + 1;
                }
                "*" => {
                    self.imports.push(Import { path, name: None, is_reexport });
                    return at + 1;
                }
                "as" => {
                    let name = tokens.get(at + 1).copied();
                    self.imports.push(Import { path, name, is_reexport });
                    return at + 2;
                }
                // `a::{self}` names `a`.
                "self" if !path.is_empty() => {
                    at += 1;
                    names_prefix = true;
                }
                word if is_word(word) => {
                    path.push(word);
                    at += 1;
                }
                _ => break,
            }
        }
        if path.len() > prefix.len() || names_prefix {
            let name = path.last().copied();
            self.imports.push(Import { path, name, is_reexport });
        }
        at
    }
}

/// The number of segments in the path at the start of the tokens.
fn path_length(tokens: &[&str]) -> usize {
    let mut length = 1;
    while tokens.get(length * 2 - 1) == Some(&"::")
        && tokens.get(length * 2).is_some_and(|next| is_word(next))
    {
        length += 1;
    }
    length
}

/// The words, `::` and single punctuation characters of product code. The prefix `r#` is removed.
fn tokens<'a>(file: &RustSource<'a>) -> Vec<&'a str> {
    let code = file.product.as_bytes();
    let mut tokens = Vec::new();
    let mut at = 0;
    while at < code.len() {
        let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
        let length = match code[at] {
            byte if is_part(&byte) => code[at..].iter().take_while(|byte| is_part(byte)).count(),
            b':' if code.get(at + 1) == Some(&b':') => 2,
            _ => 1,
        };
        let is_raw = &code[at..at + length] == b"r" && code.get(at + 1) == Some(&b'#');
        let is_blank =
            code[at].is_ascii_whitespace() || matches!(code[at], b'"' | b'#') || !code[at].is_ascii();
        if !is_raw && !is_blank {
            tokens.push(&file.text[at..at + length]);
        }
        at += length;
    }
    tokens
}

fn is_word(token: &str) -> bool {
    token.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
}
