//! Functions that ask for types.
//!
//! Source: sprig 3.3 reflect.go.

use std::borrow::Cow;

use super::table::Row;
use super::{Arguments as _, Functions};
use crate::value::Value;

pub(super) fn add(functions: &mut Functions) {
    super::table::add(functions, ROWS);
}

const ROWS: &[Row] = &[
    ("typeOf", "a", |_, args| Ok(type_of(args.value(0)).into_owned().into())),
    ("typeIs", "sa", |_, args| Ok((args.utf8(0) == type_of(args.value(1))).into())),
    ("typeIsLike", "sa", |_, args| {
        let (target, found) = (args.utf8(0), type_of(args.value(1)));
        Ok((target == found || format!("*{target}") == found).into())
    }),
    ("kindOf", "a", |_, args| Ok(args.value(0).kind().name().into())),
    ("kindIs", "sa", |_, args| Ok((args.utf8(0) == args.value(1).kind().name()).into())),
    ("deepEqual", "aa", |_, args| Ok(args.value(0).deep_equal(args.value(1))?.into())),
];

fn type_of(value: &Value) -> Cow<'_, str> {
    if value.is_nil() { "<nil>".into() } else { value.type_name() }
}
