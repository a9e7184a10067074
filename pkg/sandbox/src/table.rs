//! Tables: lists as `kubectl get` prints them.
//!
//! Source: kubernetes 1.36 `pkg/printers/internalversion` (built-in kinds), `apiserver/pkg/registry/rest/table.go` (kinds
//! without columns of their own), apiextensions-apiserver `customresource/tableconvertor` (custom resources). Tables are
//! always wide: clients leave out columns whose priority is above 0.

mod access;
mod age;
mod cluster;
mod custom;
mod network;
mod pods;
mod storage;
mod view;
mod workloads;

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use self::view::View;
use crate::kinds::ResourceType;

/// Whether rows carry the object, its metadata or nothing (`includeObject`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum IncludeObject {
    /// `PartialObjectMetadata`.
    #[default]
    Metadata,
    /// The object itself.
    Object,
    /// Nothing.
    None,
}

/// A column of a built-in kind.
#[derive(Clone, Copy, Debug)]
struct Column {
    name: &'static str,
    kind: &'static str,
    format: &'static str,
    priority: i32,
}

/// How objects of one built-in kind are printed. There are as many cells as columns, but where noted.
struct Printer {
    group: &'static str,
    plural: &'static str,
    columns: &'static [Column],
    cells: fn(View<'_>) -> Vec<Value>,
}

const NAME: Column = Column { name: "Name", kind: "string", format: "name", priority: 0 };
const AGE: Column = text("Age");

const fn text(name: &'static str) -> Column {
    Column { name, kind: "string", format: "", priority: 0 }
}

const fn integer(name: &'static str) -> Column {
    Column { name, kind: "integer", format: "", priority: 0 }
}

const fn boolean(name: &'static str) -> Column {
    Column { name, kind: "boolean", format: "", priority: 0 }
}

impl Column {
    /// The column is for wide tables alone.
    const fn wide(self) -> Self {
        Self { priority: 1, ..self }
    }

    fn definition(&self) -> Value {
        definition(self.name, self.kind, self.format, "", self.priority)
    }
}

fn definition(name: &str, kind: &str, format: &str, description: &str, priority: i32) -> Value {
    json!({"name": name, "type": kind, "format": format, "description": description, "priority": priority})
}

/// What every kind without a printer shows.
const DEFAULT: Printer = Printer {
    group: "",
    plural: "",
    columns: &[NAME, Column { name: "Created At", kind: "date", format: "", priority: 0 }],
    cells: |object| {
        let created = object.str("/metadata/creationTimestamp");
        vec![object.name(), if created.is_empty() { "0001-01-01T00:00:00Z".into() } else { created.into() }]
    },
};

/// What the scale subresource of any kind shows.
const SCALE: Printer = Printer {
    group: "autoscaling",
    plural: "scales",
    columns: &[text("Name"), integer("Desired"), integer("Available"), AGE],
    cells: |object| {
        vec![object.name(), object.int("/spec/replicas"), object.int("/status/replicas"), object.age()]
    },
};

fn printer(resource: &ResourceType, objects: &[Value]) -> &'static Printer {
    if *resource.kind != *"Scale" && objects.first().is_some_and(|object| object["kind"] == "Scale") {
        return &SCALE;
    }
    let all =
        [workloads::PRINTERS, network::PRINTERS, cluster::PRINTERS, storage::PRINTERS, access::PRINTERS];
    let found = all.into_iter().flatten();
    let mut found =
        found.filter(|printer| *printer.plural == *resource.plural && *printer.group == *resource.group);
    found.next().unwrap_or(&DEFAULT)
}

/// A `meta.k8s.io/v1 Table` of these objects (whole, with `apiVersion` and `kind`). `list_metadata` is the metadata of
/// the list; `now` (seconds since 1970) decides how ages are printed.
pub(crate) fn table(
    resource: &ResourceType,
    objects: &[Value],
    list_metadata: BTreeMap<&str, Value>,
    include: IncludeObject,
    now: i64,
) -> Value {
    let scale = objects.first().is_some_and(|object| object["kind"] == "Scale");
    let views = objects.iter().map(|object| View { object, now });
    let (columns, cells): (Value, Vec<Vec<Value>>) = match &resource.custom {
        Some(custom) if !scale => {
            let table = custom::Columns::of(custom);
            (table.definitions(), views.map(|view| table.cells(view)).collect())
        }
        _ => {
            let printer = printer(resource, objects);
            (printer.columns.iter().map(Column::definition).collect(), views.map(printer.cells).collect())
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
    if let Some(condition) = pods.then(|| pods::completed(object)).flatten() {
        row.insert("conditions".to_owned(), Value::Array(vec![condition]));
    }
    Value::Object(row)
}

#[cfg(test)]
mod tests;
