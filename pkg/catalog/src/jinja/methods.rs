//! Methods of Python, and filters of Jinja2, that the engine does not have.

use minijinja::value::{Kwargs, Rest, Tuple, ValueKind};
use minijinja::{Environment, Error, ErrorKind, State, Value, filters};
use minijinja_contrib::filters::truncate;
use minijinja_contrib::pycompat::unknown_method_callback;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use super::{mutable, python};

/// The maximum width of a filled text.
const MAX_WIDTH: usize = 100_000;
/// The width of the filter `center` without an argument.
const CENTER_WIDTH: usize = 80;

/// The encoded characters of a query.
const QUERY: &AsciiSet = &NON_ALPHANUMERIC.remove(b'_').remove(b'.').remove(b'-').remove(b'~');
/// The encoded characters of a path.
const PATH: &AsciiSet = &QUERY.remove(b'/');

/// Adds the filters to an engine.
pub(super) fn add(environment: &mut Environment<'_>) {
    environment.add_filter("center", |text: &str, width: Option<usize>| {
        filled(text, width.unwrap_or(CENTER_WIDTH), ' ', Side::Both)
    });
    environment.add_filter("forceescape", filters::escape);
    environment.add_filter("urlencode", |value: &Value| url_encoded(value));
    environment.add_filter("wordcount", |text: &str| {
        let is_separator = |character: char| !character.is_alphanumeric() && character != '_';
        text.split(is_separator).filter(|word| !word.is_empty()).count()
    });
    // The engine has these filters, with options by name only.
    environment.add_filter("dictsort", |value: &Value, values: Rest<Value>, options: Kwargs| {
        filters::dictsort(value, named(&["case_sensitive", "by", "reverse"], &values, &options)?)
    });
    environment.add_filter("max", |state: &mut State, value: Value, values: Rest<Value>, options: Kwargs| {
        filters::max(state, value, named(&["case_sensitive", "attribute"], &values, &options)?)
    });
    environment.add_filter("min", |state: &mut State, value: Value, values: Rest<Value>, options: Kwargs| {
        filters::min(state, value, named(&["case_sensitive", "attribute"], &values, &options)?)
    });
    environment.add_filter(
        "sort",
        |state: &mut State, value: Value, values: Rest<Value>, options: Kwargs| {
            let names = ["reverse", "case_sensitive", "attribute"];
            filters::sort(state, value, named(&names, &values, &options)?)
        },
    );
    environment.add_filter(
        "truncate",
        |state: &mut State, value: &Value, values: Rest<Value>, options: Kwargs| {
            let names = ["length", "killwords", "end", "leeway"];
            truncate(state, value, named(&names, &values, &options)?)
        },
    );
    environment.add_filter(
        "unique",
        |state: &mut State, value: Value, values: Rest<Value>, options: Kwargs| {
            filters::unique(state, value, named(&["case_sensitive", "attribute"], &values, &options)?)
        },
    );
}

/// Returns options by their names, also those that are given in order.
fn named(names: &[&str], values: &[Value], options: &Kwargs) -> Result<Kwargs, Error> {
    if values.len() > names.len() {
        return Err(Error::from(ErrorKind::TooManyArguments));
    }
    let given = options.args().map(|name| Ok((name.to_owned(), options.get(name)?)));
    let ordered = names.iter().zip(values).map(|(name, value)| Ok(((*name).to_owned(), value.clone())));
    given.chain(ordered).collect::<Result<Vec<(String, Value)>, Error>>().map(Kwargs::from_iter)
}

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
enum Side {
    Left,
    Right,
    Both,
}

/// Fills a text to a width.
fn filled(text: &str, width: usize, fill: char, side: Side) -> Result<String, Error> {
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

/// Encodes a text for a path, or pairs for a query.
fn url_encoded(value: &Value) -> Result<String, Error> {
    let plus =
        |value: &Value| utf8_percent_encode(&python::text(value), QUERY).to_string().replace("%20", "+");
    let pair = |key: &Value, value: &Value| format!("{}={}", plus(key), plus(value));
    let pairs: Vec<String> = match value.kind() {
        ValueKind::Map => {
            let keys = value.try_iter()?;
            keys.map(|key| Ok(pair(&key, &value.get_item(&key)?))).collect::<Result<_, Error>>()?
        }
        ValueKind::Seq | ValueKind::Iterable => {
            let of = |item: Value| Ok(pair(&item.get_item_by_index(0)?, &item.get_item_by_index(1)?));
            value.try_iter()?.map(of).collect::<Result<_, Error>>()?
        }
        _ => return Ok(utf8_percent_encode(&python::text(value), PATH).to_string()),
    };
    Ok(pairs.join("&"))
}

fn invalid(reason: &'static str) -> Error {
    Error::new(ErrorKind::InvalidOperation, reason)
}
