//! Tables: lists in the form that `kubectl get` prints.
//!
//! Source: kubernetes 1.36 `pkg/printers/internalversion` (built-in kinds), `apiserver/pkg/registry/rest/table.go`
//! (kinds without their own columns), apiextensions-apiserver `customresource/tableconvertor` (custom resources).
//! Tables are always wide: clients omit columns with a priority above 0.

mod cells;
mod custom;
mod view;

use std::{
    collections::{BTreeMap, HashMap},
    sync::LazyLock,
};

use serde_json::{Map, Value, json};

use self::view::ObjectView;
use crate::kinds::ResourceType;

/// The content of a row besides its cells (`includeObject`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum IncludeObject {
    /// `PartialObjectMetadata`.
    #[default]
    Metadata,
    Object,
    None,
}

/// A column of a built-in kind: a line of `columns.txt`.
#[derive(Clone, Debug)]
struct Column {
    name: &'static str,
    kind: &'static str,
    priority: i32,
    cell: Vec<&'static str>,
}

/// The columns of built-in kinds by `plural.group`; `*` applies to every other kind.
static COLUMNS: LazyLock<HashMap<&str, Vec<Column>>> = LazyLock::new(|| {
    let blocks = include_str!("table/columns.txt").split("\n\n").filter(|block| !block.starts_with('#'));
    let kinds = blocks.flat_map(|block| {
        let (kinds, columns) = block.trim().split_once('\n').unwrap_or_default();
        let columns: Vec<_> = columns.lines().map(Column::read).collect();
        kinds.split(' ').map(move |kind| (kind, columns.clone()))
    });
    kinds.collect()
});

impl Column {
    fn read(line: &'static str) -> Self {
        let line = match line {
            "Name" => "Name | name | text /metadata/name",
            "Age" => "Age | string | since /metadata/creationTimestamp <unknown>",
            line => line,
        };
        let mut parts = line.split(" | ");
        let name = parts.next().unwrap_or_default();
        let wide = name.strip_prefix('+');
        Self {
            name: wide.unwrap_or(name),
            kind: parts.next().unwrap_or_default(),
            priority: wide.is_some().into(),
            cell: parts.next().unwrap_or_default().split(' ').collect(),
        }
    }

    fn definition(&self) -> Value {
        let (kind, format) = if self.kind == "name" { ("string", "name") } else { (self.kind, "") };
        definition(self.name, kind, format, "", self.priority)
    }
}

fn definition(name: &str, kind: &str, format: &str, description: &str, priority: i32) -> Value {
    json!({"name": name, "type": kind, "format": format, "description": description, "priority": priority})
}

fn columns(resource: &ResourceType, scale: bool) -> &'static [Column] {
    let kind = match &*resource.group {
        _ if scale => "scales.autoscaling".to_owned(),
        "" => resource.plural.to_string(),
        group => format!("{}.{group}", resource.plural),
    };
    COLUMNS.get(&*kind).unwrap_or_else(|| &COLUMNS["*"])
}

/// Returns a `meta.k8s.io/v1 Table` of these whole objects with `apiVersion` and `kind`. `list_metadata` is the
/// metadata of the list; `now` (seconds since 1970) is the reference for ages.
pub(crate) fn table(
    resource: &ResourceType,
    objects: &[Value],
    list_metadata: BTreeMap<&str, Value>,
    include: IncludeObject,
    now: i64,
) -> Value {
    let scale = objects.first().is_some_and(|object| object["kind"] == "Scale");
    let views = objects.iter().map(|object| ObjectView { object, now });
    let (columns, cells): (Value, Vec<Vec<Value>>) = match &resource.custom {
        Some(custom) if !scale => {
            let table = custom::Columns::of(custom);
            (table.definitions(), views.map(|view| table.cells(view)).collect())
        }
        _ => {
            let columns = columns(resource, scale);
            let cells = |view| columns.iter().map(|column| cells::cell(view, &column.cell)).collect();
            (columns.iter().map(Column::definition).collect(), views.map(cells).collect())
        }
    };
    let rows = objects.iter().zip(cells).map(|(object, cells)| row(resource, object, cells, include));
    let metadata = list_metadata.into_iter().map(|(field, value)| (field.to_owned(), value));
    json!({
        "kind": "Table",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": metadata.collect::<Map<_, _>>(),
        "columnDefinitions": columns,
        "rows": rows.collect::<Vec<_>>(),
    })
}

fn row(resource: &ResourceType, object: &Value, cells: Vec<Value>, include: IncludeObject) -> Value {
    let carried = match include {
        IncludeObject::None => Value::Null,
        IncludeObject::Object => object.clone(),
        IncludeObject::Metadata => json!({
            "kind": "PartialObjectMetadata",
            "apiVersion": "meta.k8s.io/v1",
            "metadata": object["metadata"],
        }),
    };
    let mut row = Map::from_iter([("cells".to_owned(), Value::Array(cells)), ("object".to_owned(), carried)]);
    let pods = resource.group.is_empty() && *resource.plural == *"pods";
    if let Some(condition) = pods.then(|| cells::completed_condition(object)).flatten() {
        row.insert("conditions".to_owned(), Value::Array(vec![condition]));
    }
    Value::Object(row)
}

#[cfg(test)]
mod tests;
