//! Prints values as Go's `fmt` and `strconv` do.
//!
//! Source: Go 1.26 fmt (print.go, format.go) and strconv (quote.go, ftoa.go).

mod directive;
mod float;
mod integer;
mod printer;
mod quote;
mod value;

pub(crate) use directive::sprintf;
pub(crate) use float::{Float, push_float};
pub(crate) use printer::FormatError;
pub(crate) use quote::{code_point, is_printable, quoted};

use crate::value::Value;
use printer::Printer;

/// Appends a value as `%v` prints it.
pub(crate) fn print(out: &mut Vec<u8>, value: &Value, limit: usize) -> Result<(), FormatError> {
    let mut printer = Printer::new(out, limit);
    printer.argument(value, 'v')?;
    printer.check()
}

/// Returns a value as `%v` prints it; for messages, so at most some hundred bytes.
pub(crate) fn display(value: &Value) -> String {
    const LONGEST: usize = 1_000;
    let mut out = Vec::new();
    if print(&mut out, value, LONGEST).is_err() {
        out.truncate(LONGEST);
        out.extend_from_slice("…".as_bytes());
    }
    String::from_utf8_lossy(&out).into_owned()
}

impl Value {
    /// Returns the value as an action prints it; the beginning of a long one.
    pub fn display(&self) -> String {
        display(self)
    }

    /// Returns a string as the verb `%q` prints it; other values as an action prints them.
    pub fn quoted(&self) -> String {
        match self {
            Self::String(text) => quoted(text),
            other => other.display(),
        }
    }
}

/// Prints values with a space between two that are not strings.
pub(crate) fn sprint(args: &[Value], limit: usize) -> Result<Vec<u8>, FormatError> {
    let mut out = Vec::new();
    let mut printer = Printer::new(&mut out, limit);
    let mut was_string = true;
    for (index, arg) in args.iter().enumerate() {
        let is_string = matches!(arg, Value::String(_));
        if index > 0 && !is_string && !was_string {
            printer.out.push(b' ');
        }
        printer.argument(arg, 'v')?;
        was_string = is_string;
    }
    printer.check()?;
    Ok(out)
}

/// Prints values with spaces between them, and ends the line.
pub(crate) fn sprintln(args: &[Value], limit: usize) -> Result<Vec<u8>, FormatError> {
    let mut out = Vec::new();
    let mut printer = Printer::new(&mut out, limit);
    for (index, arg) in args.iter().enumerate() {
        if index > 0 {
            printer.out.push(b' ');
        }
        printer.argument(arg, 'v')?;
    }
    printer.check()?;
    out.push(b'\n');
    Ok(out)
}
