//! Bounded parsing of Common Expression Language expressions, which come from clients and whose parser recurses.
//!
//! Source: cel-go 0.26 `parser` as kube-apiserver 1.36 uses it, for the limits and the error messages.

use std::thread;

use kube_cel::cel::Program;

/// The maximum length of an expression in characters.
const MAX_CHARACTERS: usize = 100_000;
/// The maximum nesting depth of an expression. The parser itself fails at fewer brackets.
const MAX_DEPTH: usize = 250;
/// The maximum depth that is safe on the smaller stacks of request handlers.
const SAFE_DEPTH: usize = 24;
/// A stack size that suffices to parse and run an expression of maximum depth.
const STACK_BYTES: usize = 32 << 20;

/// Parses an expression. Fails if the expression is invalid, too long or too deep.
pub(crate) fn compile(text: &str) -> Result<Program, String> {
    let length = text.chars().count();
    if length > MAX_CHARACTERS {
        return Err(expression_error(&format!(
            "expression code point size exceeds limit: size: {length}, limit {MAX_CHARACTERS}"
        )));
    }
    let Depth { brackets, tree: all } = depth(text);
    if brackets > MAX_DEPTH {
        return Err(expression_error(&format!("expression recursion limit exceeded: {MAX_DEPTH}")));
    }
    if all > MAX_DEPTH {
        return Err(expression_error("max recursion depth exceeded"));
    }
    // The parser panics on some invalid expressions.
    let read = with_large_stack(|| Program::compile(text).map_err(|error| error.to_string()));
    read.unwrap_or_else(|| Err(expression_error("cannot parse the expression")))
}

/// True if an expression nests too deep to run without [`with_large_stack`].
pub(crate) fn is_deep(text: &str) -> bool {
    depth(text).tree > SAFE_DEPTH
}

/// Runs work that recurses as deep as an expression, on a large stack: `None` if the work panics.
pub(crate) fn with_large_stack<T: Send>(work: impl FnOnce() -> T + Send) -> Option<T> {
    thread::scope(|scope| {
        let worker = thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, work);
        worker.ok()?.join().ok()
    })
}

/// An error message for the expression as a whole.
fn expression_error(why: &str) -> String {
    format!("ERROR: <input>:-1:0: {why}")
}

/// The nesting depth of an expression.
struct Depth {
    brackets: usize,
    /// An upper bound of the tree depth: brackets, plus the successive selections, calls and operators of each level.
    tree: usize,
}

fn depth(text: &str) -> Depth {
    let (mut levels, mut row, mut depth) = (Vec::new(), 0, Depth { brackets: 0, tree: 0 });
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        if let Some(literal) = literal_length(rest) {
            rest = &rest[literal..];
            continue;
        }
        let word = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(rest.len());
        if word > 0 {
            row += usize::from(&rest[..word] == "in");
            rest = &rest[word..];
            continue;
        }
        match c {
            '(' | '[' | '{' => {
                row += 1;
                levels.push(row);
            }
            ')' | ']' | '}' => row = levels.pop().unwrap_or(row),
            ',' => row = levels.last().copied().unwrap_or(0),
            // Operands of successive `&&` or `||` become a balanced tree.
            '&' | '|' => row = levels.last().copied().unwrap_or(0) + 1,
            '.' | '+' | '-' | '*' | '/' | '%' | '<' | '>' | '=' | '!' | '?' | ':' => row += 1,
            _ => {}
        }
        depth = Depth { brackets: depth.brackets.max(levels.len()), tree: depth.tree.max(row) };
        rest = &rest[c.len_utf8()..];
    }
    depth
}

/// The length of the string literal or comment at the start of `text`: `None` if `text` starts with neither.
fn literal_length(text: &str) -> Option<usize> {
    if text.starts_with("//") {
        return Some(text.find('\n').unwrap_or(text.len()));
    }
    let prefix = ["", "r", "R", "b", "B", "br", "bR", "Br", "BR", "rb", "rB", "Rb", "RB"];
    let opens = |prefix: &&str| text.strip_prefix(*prefix).is_some_and(|rest| rest.starts_with(['"', '\'']));
    let prefix = prefix.into_iter().find(opens)?;
    let content = &text[prefix.len()..];
    let quote = ["\"\"\"", "'''", "\"", "'"].into_iter().find(|quote| content.starts_with(quote))?;
    let is_raw = prefix.contains(['r', 'R']);
    let mut at = prefix.len() + quote.len();
    while let Some(c) = text[at..].chars().next() {
        if text[at..].starts_with(quote) {
            return Some(at + quote.len());
        }
        at += c.len_utf8();
        if c == '\\' && !is_raw {
            at += text[at..].chars().next().map_or(0, char::len_utf8);
        }
    }
    Some(text.len())
}

#[cfg(test)]
mod tests {
    use kube_cel::cel::{Context, Value};

    use super::*;

    #[test]
    fn deeply_nested_expressions_run_on_a_small_stack() {
        let nested = |open: &str, close: &str, times: usize| {
            format!("{}true{}", open.repeat(times), close.repeat(times))
        };
        for (text, readable) in [
            (nested("(", ")", 90), true),
            (nested("[", "][0]", 40), true),
            (nested("[1].all(x, ", ")", 40), true),
            (format!("1{} > 0", "+1".repeat(20)), true),
            (format!("1{} > 0", "+1".repeat(200)), true),
            (format!("true{}", "&&true".repeat(2000)), true),
            (nested("(", ")", 5000), false),
            ("(".repeat(5000), false),
            (nested("[1].all(x, ", ")", 5000), false),
            (format!("self{}", ".a".repeat(5000)), false),
            (format!("self{}", "[0]".repeat(5000)), false),
            (format!("1{} > 0", "+1".repeat(5000)), false),
            (format!("{}true", "true ? true : ".repeat(200)), false),
            ("a".repeat(100_001), false),
        ] {
            let start: String = text.chars().take(30).collect();
            match compile(&text) {
                Ok(program) => {
                    assert!(readable, "{start}");
                    let run = || program.execute(&Context::default());
                    let outcome = if is_deep(&text) { with_large_stack(run).unwrap() } else { run() };
                    assert_eq!(outcome, Ok(Value::Bool(true)), "{start}");
                }
                Err(_) => assert!(!readable, "{start}"),
            }
        }
    }

    #[test]
    fn brackets_in_strings_and_comments_do_not_nest() {
        for (text, expected) in [
            ("a.b == c", 3),
            ("f(a, g(b.c))", 3),
            ("a && b.c || d", 2),
            ("'((([[[' == \"\\\"(((\"", 2),
            ("r'\\' + b'(' // (((", 1),
            ("'''a'(''' == '('", 2),
            ("matches('^(([a-z])+)$')", 1),
        ] {
            assert_eq!(depth(text).tree, expected, "{text}");
        }
    }
}
