//! Functions on lists.
//!
//! Source: sprig 3.3 list.go.

use super::defaults::is_empty;
use super::numbers::to_int;
use super::table::{NIL_POINTER, Result, Row};
use super::{Arguments as _, Functions};
use crate::engine::Engine;
use crate::fault::Fault;
use crate::value::{Elem, List, Value};

pub(super) fn add(functions: &mut Functions) {
    super::table::add(functions, ROWS);
}

const ROWS: &[Row] = &[
    ("list", "*a", |run, args| made(run, args.to_vec())),
    ("tuple", "*a", |run, args| made(run, args.to_vec())),
    ("append", "aa", append),
    ("push", "aa", append),
    ("prepend", "aa", prepend),
    ("first", "a", first),
    ("last", "a", last),
    ("rest", "a", rest),
    ("initial", "a", initial),
    ("reverse", "a", reverse),
    ("uniq", "a", uniq),
    ("without", "a*a", without),
    ("has", "aa", has),
    ("slice", "a*a", slice),
    ("concat", "*a", concat),
    ("compact", "a", compact),
    ("chunk", "ia", chunk),
    ("mustAppend", "aa", append),
    ("mustPush", "aa", append),
    ("mustPrepend", "aa", prepend),
    ("mustFirst", "a", first),
    ("mustLast", "a", last),
    ("mustRest", "a", rest),
    ("mustInitial", "a", initial),
    ("mustReverse", "a", reverse),
    ("mustUniq", "a", uniq),
    ("mustWithout", "a*a", without),
    ("mustHas", "aa", has),
    ("mustSlice", "a*a", slice),
    ("mustCompact", "a", compact),
    ("mustChunk", "ia", chunk),
];

/// Returns a created list, counted for the limits.
pub(super) fn made(run: &mut dyn Engine, items: Vec<Value>) -> Result {
    run.session().create(items.len() * size_of::<Value>())?;
    Ok(Value::list(items))
}

/// Returns a list argument; the error names the action and the kind.
fn items(value: &Value, action: &str) -> std::result::Result<List, Fault> {
    match value {
        Value::List(list) => Ok(list.clone()),
        Value::Missing | Value::Nil => Err(NIL_POINTER.into()),
        _ => Err(Fault::new(format!("Cannot {action} on type {}", value.kind().name()))),
    }
}

fn first(_: &mut dyn Engine, args: &[Value]) -> Result {
    Ok(items(args.value(0), "find first")?.first().cloned().unwrap_or(Value::Nil))
}

fn last(_: &mut dyn Engine, args: &[Value]) -> Result {
    Ok(items(args.value(0), "find last")?.last().cloned().unwrap_or(Value::Nil))
}

fn reverse(run: &mut dyn Engine, args: &[Value]) -> Result {
    let list = items(args.value(0), "find reverse")?;
    made(run, list.iter().rev().cloned().collect())
}

fn has(run: &mut dyn Engine, args: &[Value]) -> Result {
    if args.value(1).is_nil() {
        return Ok(false.into());
    }
    let list = items(args.value(1), "find has")?;
    Ok(contains(run, &list, args.value(0))?.into())
}

fn compact(run: &mut dyn Engine, args: &[Value]) -> Result {
    let list = items(args.value(0), "compact")?;
    made(run, list.iter().filter(|item| !is_empty(item)).cloned().collect())
}

fn append(run: &mut dyn Engine, args: &[Value]) -> Result {
    let list = items(args.value(0), "push")?;
    let item = args.value(1).clone();
    made(run, list.iter().cloned().chain([item]).collect())
}

fn prepend(run: &mut dyn Engine, args: &[Value]) -> Result {
    let list = items(args.value(0), "prepend")?;
    let item = args.value(1).clone();
    made(run, [item].into_iter().chain(list.iter().cloned()).collect())
}

fn rest(run: &mut dyn Engine, args: &[Value]) -> Result {
    match items(args.value(0), "find rest")?.split_first() {
        Some((_, rest)) => made(run, rest.to_vec()),
        None => Ok(Value::List(List::nil(Elem::Any))),
    }
}

fn initial(run: &mut dyn Engine, args: &[Value]) -> Result {
    match items(args.value(0), "find initial")?.split_last() {
        Some((_, initial)) => made(run, initial.to_vec()),
        None => Ok(Value::List(List::nil(Elem::Any))),
    }
}

/// True if a list has an equal item. Each comparison is a step, as lists can be long.
fn contains(run: &mut dyn Engine, list: &[Value], wanted: &Value) -> std::result::Result<bool, Fault> {
    for item in list {
        run.session().step()?;
        if wanted.deep_equal(item)? {
            return Ok(true);
        }
    }
    Ok(false)
}

fn uniq(run: &mut dyn Engine, args: &[Value]) -> Result {
    let list = items(args.value(0), "find uniq")?;
    let mut kept: Vec<Value> = Vec::new();
    for item in list.iter() {
        if !contains(run, &kept, item)? {
            kept.push(item.clone());
        }
    }
    made(run, kept)
}

fn without(run: &mut dyn Engine, args: &[Value]) -> Result {
    let list = items(args.value(0), "find without")?;
    let mut kept = Vec::new();
    for item in list.iter() {
        if !contains(run, &args[1..], item)? {
            kept.push(item.clone());
        }
    }
    made(run, kept)
}

fn slice(run: &mut dyn Engine, args: &[Value]) -> Result {
    let Value::List(list) = args.value(0) else {
        if args.value(0).is_nil() {
            return Err(NIL_POINTER.into());
        }
        let kind = args.value(0).kind().name();
        return Err(Fault::new(format!("list should be type of slice or array but {kind}")));
    };
    if list.is_empty() {
        return Ok(Value::Nil);
    }
    let start = args.get(1).map_or(0, to_int);
    let end = args.get(2).map_or(i64::try_from(list.len()).unwrap_or(i64::MAX), to_int);
    let bounds = (usize::try_from(start).ok(), usize::try_from(end).ok());
    match bounds {
        (Some(start), Some(end)) if start <= end && end <= list.len() => {
            run.session().create((end - start) * size_of::<Value>())?;
            Ok(Value::List(List::new(list.elem(), list[start..end].to_vec())))
        }
        _ => Err("reflect.Value.Slice: slice index out of bounds".into()),
    }
}

fn concat(run: &mut dyn Engine, args: &[Value]) -> Result {
    let mut all = Vec::new();
    for value in args {
        let Value::List(list) = value else {
            if value.is_nil() {
                return Err(NIL_POINTER.into());
            }
            return Err(Fault::new(format!("Cannot concat type {} as list", value.kind().name())));
        };
        run.session().create(list.len() * size_of::<Value>())?;
        all.extend(list.iter().cloned());
    }
    if all.is_empty() {
        return Ok(Value::List(List::nil(Elem::Any)));
    }
    Ok(Value::list(all))
}

fn chunk(run: &mut dyn Engine, args: &[Value]) -> Result {
    let list = match args.value(1) {
        Value::List(list) => list.clone(),
        Value::Missing | Value::Nil => return Err(NIL_POINTER.into()),
        value => return Err(Fault::new(format!("Cannot chunk type {}", value.kind().name()))),
    };
    let size = match usize::try_from(args.int(0)) {
        Ok(size) if size > 0 => size,
        _ if list.is_empty() && args.int(0) != 0 => 1,
        _ => return Err("runtime error: makeslice: len out of range".into()),
    };
    run.session().create(list.len() * size_of::<Value>())?;
    let chunks = list.chunks(size).map(|chunk| Value::list(chunk.to_vec())).collect();
    Ok(Value::List(List::new(Elem::List, chunks)))
}
