//! The filter `merge_strategic`.

use indexmap::IndexMap;
use minijinja::value::ValueKind;
use minijinja::{Error, Value};

/// Merges the mappings of a list that have the same `name`, at all levels. Later fields win; fields keep their order.
pub(super) fn merge(value: &Value) -> Result<Value, Error> {
    match value.kind() {
        ValueKind::Seq => merge_named(value.try_iter()?.collect())?.iter().map(merge).collect(),
        ValueKind::Map => {
            let field = |key: Value| Ok((key.clone(), merge(&value.get_item(&key)?)?));
            let fields: Vec<(Value, Value)> = value.try_iter()?.map(field).collect::<Result<_, Error>>()?;
            Ok(Value::from_pairs(fields))
        }
        _ => Ok(value.clone()),
    }
}

/// Merges the items with the same name, if every item has a name. Values inside of the items stay as they are.
fn merge_named(items: Vec<Value>) -> Result<Vec<Value>, Error> {
    let mut by_name: IndexMap<Value, IndexMap<Value, Value>> = IndexMap::new();
    for item in &items {
        let name = if item.kind() == ValueKind::Map { item.get_attr("name")? } else { Value::UNDEFINED };
        if name.is_undefined() {
            return Ok(items);
        }
        let fields = by_name.entry(name).or_default();
        for key in item.try_iter()? {
            fields.insert(key.clone(), item.get_item(&key)?);
        }
    }
    Ok(by_name.into_values().map(Value::from_pairs).collect())
}
