//! Functions on strings.
//!
//! Source: sprig 3.3 strings.go, goutils 1.1, xstrings 1.5.

mod case;
mod words;
mod wrap;

use super::table::{Result, Row};
use super::table::{longest, made};
use super::{Arguments as _, Functions};
use crate::engine::Engine;
use crate::fault::Fault;
use crate::value::{Elem, Map, Str, Value};

pub(super) fn add(functions: &mut Functions) {
    super::table::add(functions, ROWS);
    super::table::add(functions, case::ROWS);
    super::table::add(functions, words::ROWS);
    super::table::add(functions, wrap::ROWS);
}

const ROWS: &[Row] = &[
    ("hello", "", |_, _| Ok("Hello!".into())),
    ("trunc", "is", |_, args| Ok(Value::string(truncated(args.int(0), args.text(1))))),
    ("trim", "s", |_, args| Ok(Value::string(args.utf8(0).trim_matches(is_space)))),
    ("substr", "iis", substr),
    ("repeat", "is", repeat),
    ("trimall", "ss", trim_all),
    ("trimAll", "ss", trim_all),
    ("trimSuffix", "ss", |_, args| {
        let (suffix, text) = (args.text(0), args.shared(1));
        Ok(Value::String(text.strip_suffix(suffix).map_or(text.clone(), Str::from)))
    }),
    ("trimPrefix", "ss", |_, args| {
        let (prefix, text) = (args.text(0), args.shared(1));
        Ok(Value::String(text.strip_prefix(prefix).map_or(text.clone(), Str::from)))
    }),
    ("contains", "ss", |_, args| Ok(memchr::memmem::find(args.text(1), args.text(0)).is_some().into())),
    ("hasPrefix", "ss", |_, args| Ok(args.text(1).starts_with(args.text(0)).into())),
    ("hasSuffix", "ss", |_, args| Ok(args.text(1).ends_with(args.text(0)).into())),
    ("quote", "*a", quote),
    ("squote", "*a", squote),
    ("cat", "*a", cat),
    ("indent", "is", |run, args| indented(run, args.int(0), args.text(1), b"")),
    ("nindent", "is", |run, args| indented(run, args.int(0), args.text(1), b"\n")),
    ("replace", "sss", |run, args| replaced(run, args.text(2), args.text(0), args.text(1))),
    ("plural", "ssi", |_, args| Ok(args.value(usize::from(args.int(2) != 1)).clone())),
    ("toString", "a", |run, args| Ok(Value::String(text_of(run, args.value(0))?))),
    ("split", "ss", |run, args| numbered(run, pieces(args.text(1), args.text(0), -1))),
    ("splitn", "sis", |run, args| numbered(run, pieces(args.text(2), args.text(0), args.int(1)))),
    ("splitList", "ss", |run, args| {
        let pieces = pieces(args.text(1), args.text(0), -1);
        run.session().create(args.text(1).len() + pieces.len() * size_of::<Value>())?;
        Ok(Value::strings(pieces))
    }),
    ("toStrings", "a", |run, args| Ok(Value::strings(texts_of(run, args.value(0))?))),
    ("join", "sa", |run, args| {
        let texts = texts_of(run, args.value(1))?;
        let separators = texts.len().saturating_sub(1).saturating_mul(args.text(0).len());
        run.session().create(separators.saturating_add(texts.iter().map(|text| text.len()).sum()))?;
        Ok(Value::string(texts.iter().map(Str::as_bytes).collect::<Vec<_>>().join(args.text(0))))
    }),
    ("sortAlpha", "a", |run, args| {
        if !matches!(args.value(0), Value::List(_)) {
            return Ok(Value::strings([text_of(run, args.value(0))?]));
        }
        let mut texts = texts_of(run, args.value(0))?;
        texts.sort();
        Ok(Value::strings(texts))
    }),
];

/// True for the spaces of Go's `unicode.IsSpace`.
pub(super) fn is_space(character: char) -> bool {
    matches!(character, '\t'..='\r' | ' ' | '\u{85}' | '\u{A0}')
        || (!character.is_ascii() && character.is_whitespace())
}

/// Splits a text behind its first characters that match.
fn split_while(text: &str, matches: impl Fn(char) -> bool) -> (&str, &str) {
    text.split_at(text.find(|character| !matches(character)).unwrap_or(text.len()))
}

/// Returns the text of a value, as most functions of sprig see it.
pub(super) fn text_of(run: &mut dyn Engine, value: &Value) -> std::result::Result<Str, Fault> {
    match value {
        Value::String(text) => Ok(text.clone()),
        Value::List(list) if let Some(bytes) = list.as_bytes() => Ok((&*bytes).into()),
        _ => {
            let mut out = Vec::new();
            crate::format::print(&mut out, value, longest(run))?;
            run.session().create(out.len())?;
            Ok(out.into())
        }
    }
}

/// Returns the texts of a list without nil, or of one value.
pub(super) fn texts_of(run: &mut dyn Engine, value: &Value) -> std::result::Result<Vec<Str>, Fault> {
    match value {
        Value::Missing | Value::Nil => Ok(Vec::new()),
        Value::List(list) => {
            run.session().create(list.len() * size_of::<Str>())?;
            list.iter().filter(|item| !item.is_nil()).map(|item| text_of(run, item)).collect()
        }
        _ => Ok(vec![text_of(run, value)?]),
    }
}

/// Returns the first bytes of a text, or the last ones for a negative count.
fn truncated(count: i64, text: &[u8]) -> &[u8] {
    let length = text.len();
    if let Ok(count) = usize::try_from(count) {
        return &text[..count.min(length)];
    }
    let kept = usize::try_from(count.unsigned_abs()).unwrap_or(usize::MAX);
    &text[length.saturating_sub(kept)..]
}

/// Returns the error of Go for a slice of a string.
fn out_of_bounds(shown: &str) -> Fault {
    Fault::new(format!("runtime error: slice bounds out of range {shown}"))
}

fn substr(_: &mut dyn Engine, args: &[Value]) -> Result {
    let (start, end, text) = (args.int(0), args.int(1), args.text(2));
    let length = i64::try_from(text.len()).unwrap_or(i64::MAX);
    if start < 0 {
        return match usize::try_from(end) {
            Ok(end) if end <= text.len() => Ok(Value::string(&text[..end])),
            _ if end < 0 => Err(out_of_bounds(&format!("[:{end}]"))),
            _ => Err(out_of_bounds(&format!("[:{end}] with length {length}"))),
        };
    }
    let is_open = end < 0 || end > length;
    let last = if is_open { length } else { end };
    if start > last {
        let shown = if is_open { format!("[{start}:{length}]") } else { format!("[{start}:{end}]") };
        return Err(out_of_bounds(&shown));
    }
    let (start, last) = (usize::try_from(start).unwrap_or(0), usize::try_from(last).unwrap_or(0));
    Ok(Value::string(&text[start..last]))
}

fn repeat(run: &mut dyn Engine, args: &[Value]) -> Result {
    let Ok(count) = usize::try_from(args.int(0)) else {
        return Err("strings: negative Repeat count".into());
    };
    run.session().create(args.text(1).len().saturating_mul(count))?;
    Ok(Value::string(args.text(1).repeat(count)))
}

fn trim_all(_: &mut dyn Engine, args: &[Value]) -> Result {
    let cut = args.utf8(0);
    Ok(Value::string(args.utf8(1).trim_matches(|character| cut.contains(character))))
}

fn quote(run: &mut dyn Engine, args: &[Value]) -> Result {
    let mut out = String::new();
    for (index, value) in args.iter().filter(|value| !value.is_nil()).enumerate() {
        if index > 0 {
            out.push(' ');
        }
        out += &crate::format::quoted(&text_of(run, value)?);
    }
    made(run, out)
}

fn squote(run: &mut dyn Engine, args: &[Value]) -> Result {
    let mut out = Vec::new();
    let limit = longest(run);
    for (index, value) in args.iter().filter(|value| !value.is_nil()).enumerate() {
        out.extend_from_slice(if index > 0 { b" '" } else { b"'" });
        crate::format::print(&mut out, value, limit)?;
        out.push(b'\'');
    }
    made(run, out)
}

fn cat(run: &mut dyn Engine, args: &[Value]) -> Result {
    let mut out = Vec::new();
    let limit = longest(run);
    for (index, value) in args.iter().filter(|value| !value.is_nil()).enumerate() {
        if index > 0 {
            out.push(b' ');
        }
        crate::format::print(&mut out, value, limit)?;
    }
    made(run, out)
}

/// Indents each line, behind a prefix.
fn indented(run: &mut dyn Engine, spaces: i64, text: &[u8], prefix: &[u8]) -> Result {
    let Ok(spaces) = usize::try_from(spaces) else { return Err("strings: negative Repeat count".into()) };
    let lines = memchr::memchr_iter(b'\n', text).count() + 1;
    let length = text.len().saturating_add(lines.saturating_mul(spaces)).saturating_add(prefix.len());
    run.session().create(length)?;
    let mut out = Vec::with_capacity(length);
    out.extend_from_slice(prefix);
    for (index, line) in text.split(|byte| *byte == b'\n').enumerate() {
        if index > 0 {
            out.push(b'\n');
        }
        out.resize(out.len() + spaces, b' ');
        out.extend_from_slice(line);
    }
    Ok(Value::string(out))
}

/// Replaces every occurrence; an empty text occurs before each character and at the end.
fn replaced(run: &mut dyn Engine, text: &[u8], old: &[u8], new: &[u8]) -> Result {
    let mut out = Vec::with_capacity(text.len());
    let limit = longest(run);
    let too_long = crate::limits::Limit::Output(limit);
    if old.is_empty() {
        let text = String::from_utf8_lossy(text);
        for character in text.chars() {
            out.extend_from_slice(new);
            out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
            if out.len() > limit {
                return Err(too_long.into());
            }
        }
        out.extend_from_slice(new);
        return made(run, out);
    }
    let mut rest = 0;
    for at in memchr::memmem::find_iter(text, old) {
        out.extend_from_slice(&text[rest..at]);
        out.extend_from_slice(new);
        rest = at + old.len();
        if out.len() > limit {
            return Err(too_long.into());
        }
    }
    out.extend_from_slice(&text[rest..]);
    made(run, out)
}

/// Splits a text into at most `count` pieces; a negative count means all.
fn pieces<'t>(text: &'t [u8], separator: &[u8], count: i64) -> Vec<&'t [u8]> {
    let most = usize::try_from(count).unwrap_or(usize::MAX);
    let mut pieces = Vec::new();
    let mut rest = 0;
    if separator.is_empty() {
        while rest < text.len() && pieces.len() + 1 < most {
            let length = super::regexes::character_length(&text[rest..]);
            pieces.push(&text[rest..rest + length]);
            rest += length;
        }
        if rest < text.len() && most > 0 {
            pieces.push(&text[rest..]);
        }
        return pieces;
    }
    if most == 0 {
        return pieces;
    }
    for at in memchr::memmem::find_iter(text, separator) {
        if pieces.len() + 1 >= most {
            break;
        }
        pieces.push(&text[rest..at]);
        rest = at + separator.len();
    }
    pieces.push(&text[rest..]);
    pieces
}

/// Returns pieces under the keys `_0`, `_1` and so on.
fn numbered(run: &mut dyn Engine, pieces: Vec<&[u8]>) -> Result {
    run.session().create(pieces.iter().map(|piece| piece.len() + 2 * size_of::<Value>()).sum())?;
    let entries = pieces.into_iter().enumerate();
    let entries = entries.map(|(index, piece)| (Str::from(format!("_{index}")), Value::string(piece)));
    Ok(Value::Map(Map::new(Elem::String, entries.collect())))
}
