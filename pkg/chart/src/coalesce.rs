//! Merging of the values of users, parents and charts.
//!
//! Maps are shared as in Go: tables below `global` are the same in a chart and its subcharts, so that each chart
//! sees the entries that another one adds.
//!
//! Source: Helm 3.22 pkg/chartutil.

use template::{Map, TooDeep, Value};

use crate::error::ChartError;
use crate::instance::Instance;

const GLOBAL: &[u8] = b"global";

/// The treatment of values that are null.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Nulls {
    /// A null of the user removes a default.
    Remove,
    /// A null stays.
    Keep,
}

/// The origin of two maps that are merged: those of the user or of a parent chart win.
#[derive(Clone, Copy)]
enum Origin<'c> {
    /// The values of a chart and, below them, its defaults.
    Defaults(&'c Instance),
    /// The globals of a subchart and, above them, those of its parent.
    Globals,
    /// Tables in the values, the second one below the first one.
    Tables,
}

/// The change of an entry of the first map by the same entry of the second map.
enum Decision {
    Keep,
    Take(Value),
    Remove,
    /// Merges two tables.
    Descend(Map, Map),
    /// Keeps a table, because the other value is none.
    WarnTable(Value),
    /// Keeps a value, because only the other one is a table.
    WarnNoTable(Value),
}

fn decide(origin: Origin<'_>, nulls: Nulls, own: Option<Value>, other: Value) -> Decision {
    use Decision::{Descend, Keep, Remove, Take, WarnNoTable, WarnTable};
    use Origin::{Defaults, Globals, Tables};
    match (origin, own, other) {
        (_, Some(Value::Map(own)), Value::Map(other)) => Descend(own, other),
        (Globals, None, Value::Map(other)) => Take(Value::Map(shallow_copy(&other))),
        (Defaults(_) | Tables, Some(Value::Map(_)), Value::Nil) | (Tables, Some(Value::Nil), Value::Nil) => {
            Keep
        }
        (_, Some(Value::Map(_)), other) => WarnTable(other),
        (Defaults(_) | Tables, Some(Value::Nil), _) if nulls == Nulls::Remove => Remove,
        (Defaults(_) | Tables, Some(Value::Nil), _) => Keep,
        (Globals | Tables, Some(_), other @ Value::Map(_)) => WarnNoTable(other),
        (_, None, other) | (Globals, _, other) => Take(other),
        (Defaults(_) | Tables, Some(_), _) => Keep,
    }
}

/// Copies a map, but not the maps inside.
fn shallow_copy(map: &Map) -> Map {
    map.to_vec().into_iter().collect()
}

/// The merging of values, with the warnings that it gives.
pub(crate) struct Coalescing<'w> {
    pub(crate) nulls: Nulls,
    pub(crate) warnings: &'w mut Vec<String>,
}

/// Copies a map with all maps inside.
pub(crate) fn deep_copy(map: &Map) -> Result<Map, ChartError> {
    match Value::Map(map.clone()).deep_copy().map_err(|TooDeep| ChartError::ValuesTooDeep)? {
        Value::Map(map) => Ok(map),
        _ => Ok(Map::default()),
    }
}

impl Coalescing<'_> {
    /// Merges the values of a chart and its subcharts below the given values.
    pub(crate) fn values(&mut self, chart: &Instance, values: &Map) -> Result<Map, ChartError> {
        let values = deep_copy(values)?;
        self.chart(chart, &values, "")?;
        Ok(values)
    }

    fn chart(&mut self, chart: &Instance, values: &Map, path: &str) -> Result<(), ChartError> {
        let path = join(path, &chart.name);
        self.merge(Origin::Defaults(chart), self.nulls, values, &deep_copy(&chart.values)?, &path);
        for subchart in &chart.subcharts {
            let inner = match values.get(subchart.name.as_bytes()) {
                None => Map::default(),
                Some(Value::Map(inner)) => inner,
                Some(other) => {
                    let name = subchart.name.clone();
                    return Err(ChartError::SubchartValues { name, found: as_boolean(&other) });
                }
            };
            values.insert(subchart.name.as_str(), Value::Map(inner.clone()));
            self.globals(&inner, values, &path);
            self.chart(subchart, &inner, &path)?;
        }
        Ok(())
    }

    /// Merges the globals of a parent over those of a subchart.
    fn globals(&mut self, subchart: &Map, parent: &Map, path: &str) {
        let globals = |values: &Map| values.get(GLOBAL).unwrap_or_else(|| Value::Map(Map::default()));
        let side = match (globals(subchart), globals(parent)) {
            (Value::Map(own), Value::Map(other)) => {
                self.merge(Origin::Globals, Nulls::Keep, &own, &other, path);
                subchart.insert(GLOBAL, Value::Map(own));
                return;
            }
            (Value::Map(_), _) => "source",
            _ => "destination",
        };
        self.warnings.push(format!("skipping globals because {side} global is not a table."));
    }

    /// Merges a table below another one.
    pub(crate) fn tables(&mut self, own: &Map, other: &Map, path: &str, nulls: Nulls) {
        if !own.is_same(other) {
            self.merge(Origin::Tables, nulls, own, other, path);
        }
    }

    /// Changes the first map by the second one. `path` is their path in the values.
    fn merge(&mut self, origin: Origin<'_>, nulls: Nulls, map: &Map, other: &Map, path: &str) {
        for (key, other) in other.to_vec() {
            let path = join(path, &key.to_str());
            match decide(origin, nulls, map.get(&key), other) {
                Decision::Keep => {}
                Decision::Take(value) => drop(map.insert(key, value)),
                Decision::Remove => drop(map.remove(&key)),
                Decision::Descend(own, other) => match origin {
                    Origin::Globals => {
                        let copy = shallow_copy(&other);
                        self.tables(&copy, &own, &path, nulls);
                        map.insert(key, Value::Map(copy));
                    }
                    Origin::Defaults(chart)
                        if chart.subcharts.iter().any(|inner| *key == *inner.name.as_bytes()) =>
                    {
                        self.tables(&own, &other, &path, Nulls::Keep);
                    }
                    Origin::Defaults(_) | Origin::Tables => self.tables(&own, &other, &path, nulls),
                },
                Decision::WarnTable(value) => self.warnings.push(match origin {
                    Origin::Defaults(_) => format!("skipped value for {path}: Not a table."),
                    Origin::Globals => format!("key {} is table. Skipping", key.to_str()),
                    Origin::Tables => {
                        let value = value.display();
                        format!("destination for {path} is a table. Ignoring non-table value ({value})")
                    }
                }),
                Decision::WarnNoTable(value) => self.warnings.push(match origin {
                    Origin::Globals => {
                        let key = key.to_str();
                        format!("Conflict: cannot merge map onto non-map for {key:?}. Skipping.")
                    }
                    Origin::Defaults(_) | Origin::Tables => {
                        format!("cannot overwrite table with non table for {path} ({})", value.display())
                    }
                }),
            }
        }
    }
}

pub(crate) fn join(prefix: &str, key: &str) -> String {
    if prefix.is_empty() { key.to_owned() } else { format!("{prefix}.{key}") }
}

/// Returns a value as the verb `%t` prints it, which Helm uses in one message.
fn as_boolean(value: &Value) -> String {
    match value {
        Value::Bool(value) => value.to_string(),
        Value::Missing | Value::Nil => "%!t(<nil>)".to_owned(),
        value => format!("%!t({}={})", value.type_name(), value.display()),
    }
}
