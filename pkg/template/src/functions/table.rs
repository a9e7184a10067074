//! Tables of functions with short signatures.

use super::Functions;
use crate::engine::Engine;
use crate::fault::Fault;
use crate::value::{Elem, Signature, Type, Value};

/// The result of a function.
pub(super) type Result = std::result::Result<Value, Fault>;

/// A function with its name and its signature: a letter for each parameter, `*` before the last one if it repeats.
///
/// `a` any, `b` bool, `f` float64, `i` int, `l` []interface {}, `m` map, `s` string, `t` time, `u` uint32,
/// `c` a certificate, `v` a version.
pub(super) type Row = (&'static str, &'static str, fn(&mut dyn Engine, &[Value]) -> Result);

/// Adds the functions of a table.
pub(super) fn add(functions: &mut Functions, rows: &'static [Row]) {
    for (name, letters, body) in rows {
        functions.add(name, signature(letters), body);
    }
}

/// Reads the letters of a signature.
pub(super) fn signature(letters: &str) -> Signature {
    let (fixed, repeated) = letters.split_once('*').unwrap_or((letters, ""));
    let types: Vec<Type> = fixed.chars().map(letter).collect();
    match repeated.chars().next() {
        Some(last) => Signature::new(&types).and_more(letter(last)),
        None => Signature::new(&types),
    }
}

fn letter(letter: char) -> Type {
    match letter {
        'b' => Type::Bool,
        'c' => Type::Object("sprig.certificate"),
        'f' => Type::Float64,
        'i' => Type::Int,
        'l' => Type::List(Elem::Any),
        'm' => Type::Map(Elem::Any),
        's' => Type::String,
        't' => Type::Object("time.Time"),
        'v' => Type::Object("*semver.Version"),
        'u' => Type::Uint32,
        _ => Type::Any,
    }
}

/// The text of Go's error for a method call on nil.
pub(super) const NIL_POINTER: &str = "runtime error: invalid memory address or nil pointer dereference";

/// The maximum length of a string.
pub(super) fn longest(run: &mut dyn Engine) -> usize {
    run.session().settings().limits.output_bytes
}

/// Returns a created string, counted for the limits.
pub(super) fn made(run: &mut dyn Engine, text: impl Into<Vec<u8>>) -> Result {
    let text = text.into();
    run.session().create(text.len())?;
    Ok(Value::string(text))
}

/// Encodes bytes as base64.
pub(super) fn base64(bytes: &[u8]) -> String {
    use base64::Engine as _;
    base64::engine::general_purpose::STANDARD.encode(bytes)
}
