//! Functions on maps.
//!
//! Source: sprig 3.3 dict.go.

mod merge;

use std::collections::BTreeMap;

use super::strings::text_of;
use super::table::{Result, Row};
use super::{Arguments as _, Functions};
use crate::engine::Engine;
use crate::fault::Fault;
use crate::value::{Elem, Map, Str, Value};

pub(super) fn add(functions: &mut Functions) {
    super::table::add(functions, ROWS);
    super::table::add(functions, merge::ROWS);
}

const ROWS: &[Row] = &[
    ("dict", "*a", dict),
    ("get", "ms", |_, args| Ok(args.map(0).get(args.text(1)).unwrap_or_else(|| "".into()))),
    ("set", "msa", |run, args| {
        let map = args.map(0);
        if map.is_nil() {
            return Err("assignment to entry in nil map".into());
        }
        run.session().create(size_of::<Value>() * 2)?;
        run.session().set(&map, args.shared(1), args.value(2).clone());
        Ok(Value::Map(map))
    }),
    ("unset", "ms", |_, args| {
        args.map(0).remove(args.text(1));
        Ok(args.value(0).clone())
    }),
    ("hasKey", "ms", |_, args| Ok(args.map(0).contains(args.text(1)).into())),
    ("pluck", "s*m", |_, args| {
        let key = args.text(0);
        let found = (1..args.len()).filter_map(|index| args.map(index).get(key));
        Ok(Value::list(found.collect()))
    }),
    ("keys", "*m", |run, args| {
        let maps: Vec<Map> = (0..args.len()).map(|index| args.map(index)).collect();
        run.session().create(maps.iter().map(Map::len).sum::<usize>() * size_of::<Value>())?;
        let keys = maps.iter().flat_map(|map| map.entries().keys().cloned().collect::<Vec<_>>());
        Ok(Value::strings(keys))
    }),
    ("values", "m", |run, args| {
        let map = args.map(0);
        run.session().create(map.len() * size_of::<Value>())?;
        let values = map.entries().values().cloned().collect();
        Ok(Value::list(values))
    }),
    ("pick", "m*s", |_, args| {
        let map = args.map(0);
        let picked =
            (1..args.len()).filter_map(|index| Some((args.shared(index), map.get(args.text(index))?)));
        Ok(Value::map(picked))
    }),
    ("omit", "m*s", |run, args| {
        let map = args.map(0);
        run.session().create(map.len() * 2 * size_of::<Value>())?;
        let kept = map.to_vec().into_iter().filter(|(key, _)| !is_among(args, key));
        Ok(Value::map(kept))
    }),
    ("dig", "*a", dig),
    ("deepCopy", "a", |run, args| deep_copy(run, args, "deepCopy error: ")),
    ("mustDeepCopy", "a", |run, args| deep_copy(run, args, "")),
];

fn is_among(args: &[Value], key: &Str) -> bool {
    args[1..].iter().any(|arg| matches!(arg, Value::String(text) if text == key))
}

fn dict(run: &mut dyn Engine, args: &[Value]) -> Result {
    run.session().create(size_of_val(args))?;
    let mut entries = BTreeMap::new();
    for pair in args.chunks(2) {
        let key = text_of(run, &pair[0])?;
        entries.insert(key, pair.get(1).cloned().unwrap_or_else(|| "".into()));
    }
    Ok(Value::Map(Map::new(Elem::Any, entries)))
}

fn deep_copy(run: &mut dyn Engine, args: &[Value], context: &str) -> Result {
    let value = args.value(0);
    if value.is_nil() {
        return Err("reflect: call of reflect.Value.Type on zero Value".into());
    }
    let copy = value.deep_copy().map_err(|error| Fault::new(format!("{context}{error}")))?;
    run.session().create(size_of_all(&copy, 0))?;
    Ok(copy)
}

/// Estimates the bytes of the lists and maps in a value.
pub(super) fn size_of_all(value: &Value, depth: usize) -> usize {
    if depth > crate::value::NESTING {
        return 0;
    }
    let inner = |item: &Value| crate::stack::grow(|| size_of_all(item, depth + 1));
    match value {
        Value::List(list) => list.iter().map(|item| size_of::<Value>() + inner(item)).sum(),
        Value::Map(map) => map.entries().values().map(|item| 2 * size_of::<Value>() + inner(item)).sum(),
        _ => 0,
    }
}

fn conversion(value: &Value, wanted: &str) -> Fault {
    let found = if value.is_nil() { "nil".into() } else { value.type_name() };
    Fault::new(format!("interface conversion: interface {{}} is {found}, not {wanted}"))
}

fn dig(_: &mut dyn Engine, args: &[Value]) -> Result {
    if args.len() < 3 {
        return Err("dig needs at least three arguments".into());
    }
    let (keys, rest) = args.split_at(args.len() - 2);
    let mut current = rest[1].clone();
    as_map(&current)?;
    for key in keys {
        if !matches!(key, Value::String(_)) {
            return Err(conversion(key, "string"));
        }
    }
    for key in keys {
        let map = as_map(&current)?;
        let Value::String(key) = key else { return Err(conversion(key, "string")) };
        match map.get(key) {
            Some(value) => current = value,
            None => return Ok(rest[0].clone()),
        }
    }
    Ok(current)
}

fn as_map(value: &Value) -> std::result::Result<Map, Fault> {
    match value {
        Value::Map(map) if map.elem() == Elem::Any => Ok(map.clone()),
        _ => Err(conversion(value, "map[string]interface {}")),
    }
}
