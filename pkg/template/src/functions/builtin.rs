//! The functions of Go's `text/template`.
//!
//! Source: Go 1.26 text/template/funcs.go.

mod compare;
mod escape;
mod index;

use super::Arguments as _;
use super::registry::{Functions, Special};
use super::table::{longest, made};
use crate::value::{Signature, Type, Value};

/// Adds the functions to a table.
pub(super) fn add(functions: &mut Functions) {
    let any = || Signature::new(&[]).and_more(Type::Any);
    let one = || Signature::new(&[Type::Reflect]);
    let two = || Signature::new(&[Type::Reflect, Type::Reflect]);
    let more = || one().and_more(Type::Reflect);
    functions.add_special("and", more(), Special::And);
    functions.add_special("or", more(), Special::Or);
    functions.add("not", one(), |_, args| Ok(Value::Bool(!args.value(0).is_true())));
    functions.add("call", more(), |_, args| index::call(args));
    functions.add("index", more(), |_, args| index::index(args));
    functions.add("slice", more(), |_, args| index::slice(args));
    functions.add("len", one(), |_, args| index::length(args.value(0)));
    functions.add("eq", more(), |_, args| compare::equal(args).map(Value::Bool));
    functions.add("ne", two(), |_, args| compare::equal(args).map(|equal| Value::Bool(!equal)));
    functions.add("lt", two(), |_, args| compare::less(args).map(Value::Bool));
    functions.add("le", two(), |_, args| compare::less_or_equal(args).map(Value::Bool));
    functions.add("gt", two(), |_, args| compare::less_or_equal(args).map(|less| Value::Bool(!less)));
    functions.add("ge", two(), |_, args| compare::less(args).map(|less| Value::Bool(!less)));
    functions.add("print", any(), |run, args| {
        let text = crate::format::sprint(args, longest(run))?;
        made(run, text)
    });
    functions.add("println", any(), |run, args| {
        let text = crate::format::sprintln(args, longest(run))?;
        made(run, text)
    });
    functions.add("printf", Signature::new(&[Type::String]).and_more(Type::Any), |run, args| {
        let text = crate::format::sprintf(args.text(0), &args[1..], longest(run))?;
        made(run, text)
    });
    functions.add("html", any(), |run, args| {
        let text = escape::arguments(args, longest(run))?;
        made(run, escape::html(&text))
    });
    functions.add("js", any(), |run, args| {
        let text = escape::arguments(args, longest(run))?;
        made(run, escape::javascript(&text))
    });
    functions.add("urlquery", any(), |run, args| {
        let text = escape::arguments(args, longest(run))?;
        made(run, escape::query(&text))
    });
}
