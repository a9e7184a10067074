//! The filters of Jinja2 that the engine does not have, or accepts with options by name only.

use minijinja::value::{Kwargs, Rest, ValueKind};
use minijinja::{Environment, Error, ErrorKind, State, Value, filters};
use minijinja_contrib::filters::truncate;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use super::methods::{Side, filled};
use super::python;

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
