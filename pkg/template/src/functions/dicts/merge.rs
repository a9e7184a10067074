//! `merge` and `mergeOverwrite`.
//!
//! Source: mergo 1.0.1 as sprig 3.3 calls it.

use super::super::table::{Result, Row};
use super::super::{Arguments as _, defaults::is_empty};
use crate::engine::Engine;
use crate::fault::Fault;
use crate::value::{Map, NESTING, TooDeep, Value};

pub(super) const ROWS: &[Row] = &[
    ("merge", "m*m", |run, args| merge_all(run, args, false)),
    ("mustMerge", "m*m", |run, args| merge_all(run, args, false)),
    ("mergeOverwrite", "m*m", |run, args| merge_all(run, args, true)),
    ("mustMergeOverwrite", "m*m", |run, args| merge_all(run, args, true)),
];

fn merge_all(run: &mut dyn Engine, args: &[Value], overwrites: bool) -> Result {
    let target = args.map(0);
    for index in 1..args.len() {
        merge(run, &target, &args.map(index), overwrites, NESTING)?;
    }
    Ok(Value::Map(target))
}

/// Merges the entries of a map into another. Nested maps of the target are changed in place.
fn merge(
    run: &mut dyn Engine,
    target: &Map,
    source: &Map,
    overwrites: bool,
    depth: usize,
) -> std::result::Result<(), Fault> {
    let depth = depth.checked_sub(1).ok_or(TooDeep)?;
    if target.is_same(source) {
        return Ok(());
    }
    for (key, value) in source.to_vec() {
        run.session().step()?;
        let existing = target.get(&key);
        if let (Some(Value::Map(inner)), Value::Map(value)) = (&existing, &value) {
            let was_empty = inner.is_empty();
            crate::stack::grow(|| merge(run, inner, value, overwrites, depth))?;
            if !was_empty {
                continue;
            }
        }
        // An empty value of the source counts too. Only its nil does not, unless it overwrites.
        let is_taken = overwrites || (!value.is_nil() && existing.is_none_or(|value| is_empty(&value)));
        if is_taken {
            run.session().set(target, key, value);
        }
    }
    Ok(())
}
