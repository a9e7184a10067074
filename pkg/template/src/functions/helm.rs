//! The functions that Helm adds to sprig.
//!
//! Source: Helm 3.22 pkg/engine.

use super::table::{Result, Row};
use super::{Arguments as _, Functions};
use crate::engine::Engine;
use crate::fault::Fault;
use crate::value::{Map, Value};

pub(super) fn add(functions: &mut Functions) {
    super::table::add(functions, ROWS);
}

const ROWS: &[Row] = &[
    ("include", "sa", |run, args| run.include(&args.shared(0), args.value(1))),
    ("tpl", "sa", |run, args| run.execute_text(&args.shared(0), args.value(1))),
    ("required", "sa", required),
    ("fail", "s", |run, args| failed(run, args, Value::Nil)),
    ("lookup", "ssss", |_, _| Ok(Value::Map(Map::from_iter::<[(&str, Value); 0]>([])))),
    ("getHostByName", "s", address),
];

fn required(run: &mut dyn Engine, args: &[Value]) -> Result {
    let value = args.value(1);
    let is_missing = value.is_nil() || matches!(value, Value::String(text) if text.is_empty());
    if is_missing { failed(run, args, value.clone()) } else { Ok(value.clone()) }
}

fn address(run: &mut dyn Engine, _: &[Value]) -> Result {
    if run.session().settings().enable_dns {
        return Err(
            "the output would depend on the name server of this machine; set the address as a value".into()
        );
    }
    Ok("".into())
}

/// Fails with the message of the template, between the marks that Helm looks for.
fn failed(run: &mut dyn Engine, args: &[Value], _value: Value) -> Result {
    if run.session().settings().lint {
        return Ok("".into());
    }
    let message = args.utf8(0).into_owned();
    let mut fault = Fault::failed(message.clone());
    fault.message = format!("HELM_ERR_START{message}HELM_ERR_END");
    Err(fault)
}
