//! Regular expressions in the syntax of Go.
//!
//! Source: sprig 3.3 regex.go, Go 1.26 regexp. The patterns are those of the crate `regex`, with Go's ASCII classes.

mod syntax;

pub use syntax::translate as translate_pattern;

use std::rc::Rc;

use regex::bytes::{Regex, RegexBuilder};

use super::table::made;
use super::table::{Result, Row};
use super::{Arguments as _, Functions};
use crate::engine::Engine;
use crate::fault::Fault;
use crate::value::{Elem, List, Value};

pub(super) fn add(functions: &mut Functions) {
    super::table::add(functions, ROWS);
}

/// The maximum size of a compiled pattern.
const SIZE: usize = 4 << 20;

const ROWS: &[Row] = &[
    ("regexMatch", "ss", |run, args| {
        Ok(compile(run, args.text(0), args.text(1)).is_ok_and(|regex| regex.is_match(args.text(1))).into())
    }),
    ("mustRegexMatch", "ss", |run, args| {
        Ok(compile(run, args.text(0), args.text(1)).map_err(plain)?.is_match(args.text(1)).into())
    }),
    ("regexFindAll", "ssi", |run, args| find_all(run, args, false)),
    ("mustRegexFindAll", "ssi", |run, args| find_all(run, args, true)),
    ("regexFind", "ss", |run, args| find(run, args, false)),
    ("mustRegexFind", "ss", |run, args| find(run, args, true)),
    ("regexReplaceAll", "sss", |run, args| replace(run, args, false, true)),
    ("mustRegexReplaceAll", "sss", |run, args| replace(run, args, true, true)),
    ("regexReplaceAllLiteral", "sss", |run, args| replace(run, args, false, false)),
    ("mustRegexReplaceAllLiteral", "sss", |run, args| replace(run, args, true, false)),
    ("regexSplit", "ssi", |run, args| split(run, args, false)),
    ("mustRegexSplit", "ssi", |run, args| split(run, args, true)),
    ("regexQuoteMeta", "s", |_, args| Ok(Value::string(syntax::quoted(args.text(0))))),
];

/// A pattern that cannot be compiled.
struct BadPattern {
    pattern: String,
    message: String,
}

fn plain(error: BadPattern) -> Fault {
    Fault::new(error.message)
}

/// The error of the functions that panic in Go.
#[expect(clippy::needless_pass_by_value, reason = "for `map_err`")]
fn panic(error: BadPattern) -> Fault {
    let quoted = crate::format::quoted(error.pattern.as_bytes());
    let shown = if error.pattern.contains('`') { quoted } else { format!("`{}`", error.pattern) };
    Fault::new(format!("regexp: Compile({shown}): {}", error.message))
}

/// Compiles a pattern for a text.
///
/// Most texts are ASCII. Without Unicode, a pattern matches them in the same way, and is compiled in a fraction of the
/// time and memory. A pattern that names characters beyond ASCII keeps Unicode, because some of them fold to ASCII
/// letters.
fn compile(run: &mut dyn Engine, pattern: &[u8], text: &[u8]) -> std::result::Result<Rc<Regex>, BadPattern> {
    let names_others = || memchr::memmem::find(pattern, br"\x").is_some();
    let is_ascii = text.is_ascii() && pattern.is_ascii() && !names_others();
    if let Some(regex) = run.session().regex(pattern, is_ascii) {
        return Ok(regex);
    }
    let shown = String::from_utf8_lossy(pattern);
    let bad = |message| BadPattern { pattern: shown.to_string(), message };
    let translated = syntax::translate(&shown).map_err(bad)?;
    let build = |unicode| {
        let mut builder = RegexBuilder::new(&translated);
        builder.unicode(unicode).size_limit(SIZE).dfa_size_limit(SIZE).nest_limit(200).build()
    };
    // Classes such as `\pL` exist only with Unicode.
    let without_unicode = if is_ascii { build(false).ok() } else { None };
    match without_unicode.map_or_else(|| build(true), Ok) {
        Ok(regex) => Ok(run.session().keep_regex(pattern, is_ascii, regex)),
        Err(error) => {
            let message = syntax::message(&shown, &error);
            Err(bad(message))
        }
    }
}

fn regex(
    run: &mut dyn Engine,
    pattern: &[u8],
    text: &[u8],
    is_must: bool,
) -> std::result::Result<Rc<Regex>, Fault> {
    compile(run, pattern, text).map_err(if is_must { plain } else { panic })
}

/// Returns the matches as Go finds them: an empty one directly behind another does not count.
fn matches(regex: &Regex, text: &[u8], count: i64) -> Vec<(usize, usize)> {
    let most = usize::try_from(count).unwrap_or(usize::MAX);
    regex.find_iter(text).map(|found| (found.start(), found.end())).take(most).collect()
}

fn find_all(run: &mut dyn Engine, args: &[Value], is_must: bool) -> Result {
    let regex = regex(run, args.text(0), args.text(1), is_must)?;
    let text = args.text(1);
    let found = matches(&regex, text, args.int(2));
    if found.is_empty() {
        return Ok(Value::List(List::nil(Elem::String)));
    }
    run.session().create(text.len() + found.len() * size_of::<Value>())?;
    Ok(Value::strings(found.into_iter().map(|(start, end)| &text[start..end])))
}

fn find(run: &mut dyn Engine, args: &[Value], is_must: bool) -> Result {
    let regex = regex(run, args.text(0), args.text(1), is_must)?;
    Ok(Value::string(regex.find(args.text(1)).map_or(&[][..], |found| found.as_bytes())))
}

fn replace(run: &mut dyn Engine, args: &[Value], is_must: bool, expands: bool) -> Result {
    let regex = regex(run, args.text(0), args.text(1), is_must)?;
    let (text, replacement) = (args.text(1), args.text(2));
    let limit = run.session().settings().limits.output_bytes;
    let mut out = Vec::with_capacity(text.len());
    let mut rest = 0;
    for captures in regex.captures_iter(text) {
        let Some(found) = captures.get(0) else { continue };
        out.extend_from_slice(&text[rest..found.start()]);
        if expands {
            syntax::expand(&mut out, replacement, &captures, &regex);
        } else {
            out.extend_from_slice(replacement);
        }
        rest = found.end();
        if out.len() > limit {
            return Err(crate::limits::Limit::Output(limit).into());
        }
    }
    out.extend_from_slice(&text[rest..]);
    made(run, out)
}

fn split(run: &mut dyn Engine, args: &[Value], is_must: bool) -> Result {
    let regex = regex(run, args.text(0), args.text(1), is_must)?;
    let (text, count) = (args.text(1), args.int(2));
    if count == 0 {
        return Ok(Value::List(List::nil(Elem::String)));
    }
    if !args.text(0).is_empty() && text.is_empty() {
        return Ok(Value::strings([""]));
    }
    let found = matches(&regex, text, count);
    let (mut pieces, mut start, mut end) = (Vec::new(), 0, 0);
    for (from, to) in found {
        if count > 0 && pieces.len() + 1 == usize::try_from(count).unwrap_or(0) {
            break;
        }
        end = from;
        if to != 0 {
            pieces.push(&text[start..end]);
        }
        start = to;
    }
    if end != text.len() {
        pieces.push(&text[start..]);
    }
    run.session().create(text.len() + pieces.len() * size_of::<Value>())?;
    Ok(Value::strings(pieces))
}

/// Returns the length of the first character of a text; each byte that is not UTF-8 is one.
pub(super) fn character_length(text: &[u8]) -> usize {
    // No character is longer than four bytes.
    let first = text[..text.len().min(4)].utf8_chunks().next();
    first.and_then(|chunk| chunk.valid().chars().next()).map_or(1, char::len_utf8)
}
