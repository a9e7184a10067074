//! Defaults and choices.
//!
//! Source: sprig 3.3 defaults.go.

use super::table::Row;
use super::{Arguments as _, Functions};
use crate::value::Value;

pub(super) fn add(functions: &mut Functions) {
    super::table::add(functions, ROWS);
}

const ROWS: &[Row] = &[
    ("default", "a*a", |_, args| {
        let given = args.value(1);
        Ok(if is_empty(given) { args.value(0).clone() } else { given.clone() })
    }),
    ("empty", "a", |_, args| Ok(is_empty(args.value(0)).into())),
    ("coalesce", "*a", |_, args| {
        Ok(args.iter().find(|value| !is_empty(value)).cloned().unwrap_or(Value::Nil))
    }),
    ("all", "*a", |_, args| Ok((!args.iter().any(is_empty)).into())),
    ("any", "*a", |_, args| Ok(args.iter().any(|value| !is_empty(value)).into())),
    ("ternary", "aab", |_, args| Ok(args.value(usize::from(!args.flag(2))).clone())),
];

/// True for nil, `false`, zero, and texts, lists and maps without content.
pub(super) fn is_empty(value: &Value) -> bool {
    match value {
        Value::Object(object) => object.entries().is_some_and(|entries| entries.is_empty()),
        _ => !value.is_true(),
    }
}
