//! Methods of Python that the engine does not have.

use minijinja::value::{Tuple, ValueKind};
use minijinja::{Error, ErrorKind, State, Value};
use minijinja_contrib::pycompat::unknown_method_callback;

use super::mutable;

/// The maximum width of a filled text.
const MAX_WIDTH: usize = 100_000;

/// Calls a method of a text, list or mapping.
pub(super) fn call(
    state: &mut State<'_, '_>,
    value: &Value,
    method: &str,
    args: &[Value],
) -> Result<Value, Error> {
    match (value.kind(), method, args) {
        (ValueKind::Seq | ValueKind::Map, "copy", []) => match state.lookup(mutable::FUNCTION) {
            Some(function) => function.call(state, std::slice::from_ref(value)),
            None => Ok(value.clone()),
        },
        (ValueKind::Seq, "index", [item]) => {
            let index = value.try_iter()?.position(|each| each == *item);
            index.map(Value::from).ok_or_else(|| invalid("the list does not have the value"))
        }
        (ValueKind::String, ..) => match text_method(value.as_str().unwrap_or_default(), method, args)? {
            Some(result) => Ok(result),
            None => unknown_method_callback(state, value, method, args),
        },
        _ => unknown_method_callback(state, value, method, args),
    }
}

/// Calls a method of a text. None if another library has it.
fn text_method(text: &str, method: &str, args: &[Value]) -> Result<Option<Value>, Error> {
    let part = args.first().and_then(Value::as_str).filter(|part| !part.is_empty());
    let width = args.first().and_then(Value::as_usize);
    let fill = args.get(1).and_then(Value::as_str).and_then(|fill| fill.chars().next()).unwrap_or(' ');
    let tuple = |parts: [&str; 3]| Value::from(Tuple::new(parts.map(Value::from).to_vec()));
    Ok(Some(match (method, part, width) {
        ("casefold", ..) => Value::from(text.to_lowercase()),
        ("center", _, Some(width)) => Value::from(filled(text, width, fill, Side::Both)?),
        ("ljust", _, Some(width)) => Value::from(filled(text, width, fill, Side::Right)?),
        ("rjust", _, Some(width)) => Value::from(filled(text, width, fill, Side::Left)?),
        ("zfill", _, Some(width)) => {
            let digits = text.trim_start_matches(['+', '-']);
            let sign = &text[..text.len() - digits.len()];
            let width = width.saturating_sub(sign.len());
            Value::from(format!("{sign}{}", filled(digits, width, '0', Side::Left)?))
        }
        ("index", Some(part), _) => {
            let start = text.find(part).ok_or_else(|| invalid("substring not found"))?;
            Value::from(text[..start].chars().count())
        }
        ("partition", Some(part), _) => match text.split_once(part) {
            Some((before, after)) => tuple([before, part, after]),
            None => tuple([text, "", ""]),
        },
        ("rpartition", Some(part), _) => match text.rsplit_once(part) {
            Some((before, after)) => tuple([before, part, after]),
            None => tuple(["", "", text]),
        },
        ("rsplit", Some(part), _) => {
            let most =
                args.get(1).and_then(Value::as_usize).map_or(usize::MAX, |most| most.saturating_add(1));
            let mut parts: Vec<Value> = text.rsplitn(most, part).map(Value::from).collect();
            parts.reverse();
            Value::from(parts)
        }
        ("removeprefix", Some(part), _) => Value::from(text.strip_prefix(part).unwrap_or(text)),
        ("removesuffix", Some(part), _) => Value::from(text.strip_suffix(part).unwrap_or(text)),
        _ => return Ok(None),
    }))
}

/// The sides of a text that are filled.
#[derive(Clone, Copy)]
pub(super) enum Side {
    Left,
    Right,
    Both,
}

/// Fills a text to a width.
pub(super) fn filled(text: &str, width: usize, fill: char, side: Side) -> Result<String, Error> {
    if width > MAX_WIDTH {
        return Err(invalid("the width is too large"));
    }
    let missing = width.saturating_sub(text.chars().count());
    let left = match side {
        Side::Left => missing,
        Side::Right => 0,
        // An odd surplus is on the left for odd widths, as in Python.
        Side::Both => missing / 2 + (missing & width & 1),
    };
    let fills = |count| std::iter::repeat_n(fill, count);
    Ok(fills(left).chain(text.chars()).chain(fills(missing - left)).collect())
}

fn invalid(reason: &'static str) -> Error {
    Error::new(ErrorKind::InvalidOperation, reason)
}
