//! The nesting of a source, estimated before it is parsed.

/// The maximum nesting of a source.
pub(super) const MAX_DEPTH: usize = 10_000;

/// The words after which the parser descends without a bracket.
const NESTING_WORDS: [&str; 9] =
    ["local", "if", "then", "else", "function", "assert", "error", "import", "for"];

/// Returns an upper bound of the depth to which a parser descends: open brackets, and words such as `local` in them.
pub(super) fn nesting(source: &str) -> usize {
    let mut levels = vec![0_usize];
    let (mut total, mut deepest) = (0, 0);
    let mut rest = source;
    while let Some(start) = rest.chars().next() {
        let length = token_length(rest, start);
        let (token, after) = rest.split_at(length);
        match start {
            '(' | '[' | '{' => {
                levels.push(1);
                total += 1;
            }
            ')' | ']' | '}' if levels.len() > 1 => total -= levels.pop().unwrap_or_default(),
            _ if NESTING_WORDS.contains(&token) => {
                if let Some(level) = levels.last_mut() {
                    *level += 1;
                }
                total += 1;
            }
            _ => {}
        }
        deepest = deepest.max(total);
        rest = after;
    }
    deepest
}

/// Returns the length in bytes of the token at the start of a text: a comment, a text, a word or one character.
fn token_length(rest: &str, start: char) -> usize {
    let until = |end: &str, from: usize| {
        rest.get(from..).and_then(|body| body.find(end)).map_or(rest.len(), |at| from + at + end.len())
    };
    match start {
        '#' => until("\n", 1),
        '/' if rest.starts_with("//") => until("\n", 2),
        '/' if rest.starts_with("/*") => until("*/", 2),
        '|' if rest.starts_with("|||") => until("|||", 3),
        '@' if rest.starts_with("@'") || rest.starts_with("@\"") => until(&rest[1..2], 2),
        '\'' | '"' => quoted_length(rest, start),
        _ if start.is_ascii_alphabetic() || start == '_' => {
            rest.find(|next: char| !next.is_ascii_alphanumeric() && next != '_').unwrap_or(rest.len())
        }
        _ => start.len_utf8(),
    }
}

fn quoted_length(rest: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, character) in rest.char_indices().skip(1) {
        match character {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            _ if character == quote => return at + 1,
            _ => {}
        }
    }
    rest.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brackets_and_words_count_only_while_they_are_open() {
        assert_eq!(nesting("{ a: [1, 2], b: (3) }"), 2);
        assert_eq!(nesting("local a = 1; local b = { c: if a then 1 else 2 }; b"), 6);
        assert_eq!(nesting("'((((' + \"\\\"(((\" // (((\n + @'((' /* [[[ */ # {{{\n"), 0);
        assert_eq!(nesting("|||\n  ((((\n||| + [1]"), 1);
    }
}
