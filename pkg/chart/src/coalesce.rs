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
        self.chart(chart, &values, "", self.nulls)?;
        Ok(values)
    }

    fn chart(&mut self, chart: &Instance, into: &Map, prefix: &str, nulls: Nulls) -> Result<(), ChartError> {
        self.defaults(chart, into, prefix, nulls)?;
        let prefix = join(prefix, &chart.name);
        for subchart in &chart.subcharts {
            let values = match into.get(subchart.name.as_bytes()) {
                None => {
                    let empty = Map::default();
                    into.insert(subchart.name.as_str(), Value::Map(empty.clone()));
                    empty
                }
                Some(Value::Map(map)) => map,
                Some(other) => {
                    let name = subchart.name.clone();
                    return Err(ChartError::SubchartValues { name, found: as_boolean(&other) });
                }
            };
            self.globals(&values, into, &prefix);
            self.chart(subchart, &values, &prefix, nulls)?;
        }
        Ok(())
    }

    /// Merges the values of one chart below the given values.
    fn defaults(
        &mut self,
        chart: &Instance,
        into: &Map,
        prefix: &str,
        nulls: Nulls,
    ) -> Result<(), ChartError> {
        let prefix = join(prefix, &chart.name);
        for (key, default) in deep_copy(&chart.values)?.to_vec() {
            match (into.get(&key), default) {
                (None, default) => drop(into.insert(key, default)),
                (Some(Value::Nil), _) if nulls == Nulls::Remove => drop(into.remove(&key)),
                (Some(Value::Map(values)), Value::Map(defaults)) => {
                    let is_subchart =
                        chart.subcharts.iter().any(|subchart| *key == *subchart.name.as_bytes());
                    let nulls = if is_subchart { Nulls::Keep } else { nulls };
                    self.tables(&values, &defaults, &join(&prefix, &key.to_str()), nulls);
                }
                (Some(Value::Map(_)), default) if !default.is_nil() => {
                    self.warn(format!("skipped value for {prefix}.{}: Not a table.", key.to_str()));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Merges the globals of a parent over those of a subchart.
    fn globals(&mut self, subchart: &Map, parent: &Map, prefix: &str) {
        let table = |map: &Map| match map.get(GLOBAL) {
            None => Some(Map::default()),
            Some(Value::Map(map)) => Some(map),
            Some(_) => None,
        };
        let Some(into) = table(subchart) else {
            return self.warn("skipping globals because destination global is not a table.".to_owned());
        };
        let Some(from) = table(parent) else {
            return self.warn("skipping globals because source global is not a table.".to_owned());
        };
        for (key, value) in from.to_vec() {
            match (value, into.get(&key)) {
                (Value::Map(value), own) => {
                    let copy: Map = value.to_vec().into_iter().collect();
                    match own {
                        Some(Value::Map(own)) => {
                            self.tables(&copy, &own, &join(prefix, &key.to_str()), Nulls::Keep);
                        }
                        Some(_) => {
                            let key = key.to_str();
                            self.warn(format!(
                                "Conflict: cannot merge map onto non-map for {key:?}. Skipping."
                            ));
                            continue;
                        }
                        None => {}
                    }
                    into.insert(key, Value::Map(copy));
                }
                (_, Some(Value::Map(_))) => self.warn(format!("key {} is table. Skipping", key.to_str())),
                (value, _) => drop(into.insert(key, value)),
            }
        }
        subchart.insert(GLOBAL, Value::Map(into));
    }

    /// Merges a table below another one.
    pub(crate) fn tables(&mut self, into: &Map, from: &Map, prefix: &str, nulls: Nulls) {
        if into.is_same(from) {
            return;
        }
        for (key, value) in from.to_vec() {
            match into.get(&key) {
                None => drop(into.insert(key, value)),
                Some(Value::Nil) => {
                    if nulls == Nulls::Remove && !value.is_nil() {
                        into.remove(&key);
                    }
                }
                Some(Value::Map(own)) => match value {
                    Value::Map(value) => self.tables(&own, &value, &join(prefix, &key.to_str()), nulls),
                    value if !value.is_nil() => self.warn(format!(
                        "destination for {} is a table. Ignoring non-table value ({})",
                        join(prefix, &key.to_str()),
                        value.display()
                    )),
                    _ => {}
                },
                Some(_) => {
                    if let Value::Map(_) = value {
                        let key = join(prefix, &key.to_str());
                        self.warn(format!(
                            "cannot overwrite table with non table for {key} ({})",
                            value.display()
                        ));
                    }
                }
            }
        }
    }

    fn warn(&mut self, text: String) {
        self.warnings.push(text);
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
