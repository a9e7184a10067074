mod mask;

use std::collections::BTreeSet;

use crate::workspace::TextFile;

/// A Rust file in the form that the rules need.
pub(crate) struct RustSource<'a> {
    /// The path, relative to the root.
    pub(crate) path: &'a str,
    /// The text as written.
    pub(crate) text: &'a str,
    /// The text with comments blanked and literals masked, so that words in it are code.
    pub(crate) code: String,
    /// The code, with parts that only tests and benchmarks compile blanked.
    pub(crate) product: String,
}

/// A function with a body.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Function<'a> {
    pub(crate) name: &'a str,
    /// The line, from 1.
    pub(crate) line: usize,
    /// The number of lines from `fn` to the closing brace.
    pub(crate) lines: usize,
}

impl<'a> RustSource<'a> {
    /// Parses a file. `test_only` is the result of [`Self::test_only_modules`].
    pub(crate) fn new(path: &'a str, text: &'a str, test_only: &BTreeSet<String>) -> Self {
        let code = mask::mask(text);
        let is_in = |part: &str| path.starts_with(&format!("{part}/")) || path.contains(&format!("/{part}/"));
        let of_test_module = test_only.iter().any(|module| {
            path.strip_prefix(module.as_str()).is_some_and(|rest| rest.starts_with(['.', '/']))
        });
        let is_apart = ["tests", "test", "e2e", "benches"].into_iter().any(is_in);
        let product = if is_apart || of_test_module { String::new() } else { without_test_code(&code) };
        Self { path, text, code, product }
    }

    /// Modules declared as `#[cfg(test)] mod name;`, as file paths without `.rs`.
    pub(crate) fn test_only_modules(files: &[TextFile]) -> BTreeSet<String> {
        let mut modules = BTreeSet::new();
        for file in files.iter().filter(|file| file.has_extension("rs")) {
            let folder = module_folder(&file.path);
            let code = mask::mask(&file.text);
            for (at, attribute) in code.match_indices(TEST_ATTRIBUTES[0]) {
                let mut rest = code[at + attribute.len()..].trim_start();
                while let Some((_, after)) = rest.strip_prefix("#[").and_then(|rest| rest.split_once(']')) {
                    rest = after.trim_start();
                }
                let name = rest.strip_prefix("mod ").and_then(|rest| rest.split_once(';'));
                if let Some((name, _)) = name.filter(|(name, _)| is_identifier(name.trim())) {
                    modules.insert(format!("{folder}{}", name.trim()));
                }
            }
        }
        modules
    }

    /// The number of non-test lines: 0 for files that only tests and benchmarks compile. Excludes test modules inside
    /// files.
    pub(crate) fn product_lines(&self) -> usize {
        let is_test = ["test/", "e2e/"].iter().any(|folder| self.path.starts_with(folder))
            || self.path.contains("/tests/")
            || self.path.ends_with("/tests.rs");
        if is_test || self.product.is_empty() {
            return 0;
        }
        let (mut lines, mut is_pending, mut in_module) = (0, false, false);
        for line in self.text.lines() {
            if in_module {
                in_module = line != "}";
            } else if TEST_ATTRIBUTES.iter().any(|attribute| line.starts_with(attribute)) {
                is_pending = true;
            } else if is_pending && !line.starts_with("#[") {
                is_pending = false;
                in_module = line.trim_start_matches("pub(crate) ").starts_with("mod ") && line.ends_with('{');
            } else if !is_pending {
                lines += 1;
            }
        }
        lines
    }

    /// All functions with a body, including tests.
    pub(crate) fn functions(&self) -> Vec<Function<'_>> {
        let mut functions = Vec::new();
        for (at, _) in self.code.match_indices("fn ") {
            let starts_word = self.code[..at].chars().next_back().is_none_or(|before| !is_word(before));
            let rest = &self.code[at + 3..];
            let name_len = rest.find(|next| !is_word(next)).unwrap_or(rest.len());
            let Some(opening) = rest.find(['{', ';']).filter(|_| starts_word && name_len > 0) else {
                continue;
            };
            if rest.as_bytes()[opening] == b';' {
                continue;
            }
            let end = at + 3 + closing_brace(rest, opening);
            functions.push(Function {
                name: &rest[..name_len],
                line: line_of(&self.code, at),
                lines: self.code[at..end].matches('\n').count() + 1,
            });
        }
        functions
    }

    /// The lines of product code that use a path such as `std::env`, including `use std::{…}` lists.
    pub(crate) fn uses_of(&self, root: &str, module: &str) -> Vec<usize> {
        let code = &self.product;
        let path = format!("{root}::{module}");
        let mut lines: Vec<usize> =
            word_offsets(code, &path).into_iter().map(|at| line_of(code, at)).collect();
        for (at, opening) in code.match_indices(&format!("{root}::{{")) {
            let start = at + opening.len();
            let end = at + closing_brace(&code[at..], opening.len() - 1);
            for place in word_offsets(&code[start..end], module) {
                let before = code[start..start + place].trim_end();
                // In such a list, `io::fs` is another module with the same name.
                if !before.ends_with("::") {
                    lines.push(line_of(code, start + place));
                }
            }
        }
        lines
    }

    /// The lines of product code that contain a whole word.
    pub(crate) fn lines_with(&self, word: &str) -> Vec<usize> {
        word_offsets(&self.product, word).into_iter().map(|at| line_of(&self.product, at)).collect()
    }
}

/// Attributes of code that only tests compile.
const TEST_ATTRIBUTES: [&str; 2] = ["#[cfg(test)]", "#[cfg(all(test,"];

/// The folder of the child modules of a file, with trailing `/`.
fn module_folder(path: &str) -> String {
    let (folder, name) = path.rsplit_once('/').map_or(("", path), |(folder, name)| (folder, name));
    let own = match name {
        "lib.rs" | "main.rs" | "mod.rs" => String::new(),
        _ => format!("{}/", name.trim_end_matches(".rs")),
    };
    if folder.is_empty() { own } else { format!("{folder}/{own}") }
}

fn without_test_code(code: &str) -> String {
    let mut product = code.to_owned();
    for (at, attribute) in TEST_ATTRIBUTES.iter().flat_map(|attribute| code.match_indices(attribute)) {
        let rest = &code[at + attribute.len()..];
        let Some(opening) = rest.find(['{', ';']) else { continue };
        let is_block = rest.as_bytes()[opening] == b'{';
        let end = at + attribute.len() + if is_block { closing_brace(rest, opening) } else { opening + 1 };
        let blank: String = code[at..end].chars().map(|c| if c == '\n' { '\n' } else { ' ' }).collect();
        if blank.len() == end - at {
            product.replace_range(at..end, &blank);
        }
    }
    product
}

/// The position after the brace that closes the brace at `opening`, or the end of the code.
fn closing_brace(code: &str, opening: usize) -> usize {
    let mut depth = 0_usize;
    for (at, byte) in code.bytes().enumerate().skip(opening) {
        match byte {
            b'{' => depth += 1,
            b'}' if depth <= 1 => return at + 1,
            b'}' => depth -= 1,
            _ => {}
        }
    }
    code.len()
}

/// The line of a byte, from 1.
pub(crate) fn line_of(text: &str, at: usize) -> usize {
    text[..at].matches('\n').count() + 1
}

/// The positions of a whole word.
fn word_offsets(code: &str, word: &str) -> Vec<usize> {
    let alone = |at: &usize| {
        let before = code[..*at].chars().next_back();
        let after = code[at + word.len()..].chars().next();
        let ends_in_word = word.chars().next_back().is_some_and(is_word);
        before.is_none_or(|c| !is_word(c)) && (!ends_in_word || after.is_none_or(|c| !is_word(c)))
    };
    code.match_indices(word).map(|(at, _)| at).filter(alone).collect()
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn is_identifier(text: &str) -> bool {
    !text.is_empty() && text.chars().all(is_word)
}

#[cfg(test)]
mod tests;
