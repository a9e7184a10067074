//! The charts of one render: aliases, enabled subcharts, imported values.
//!
//! Source: Helm 3.22 pkg/chartutil.

use std::sync::Arc;

use serde_json::Value as Json;
use template::{Map, Value};

use crate::coalesce::{Coalescing, Nulls, deep_copy};
use crate::error::ChartError;
use crate::files::LoadedChart;
use crate::metadata::Dependency;
use crate::value_tree::to_map;

/// A chart in one render, under its alias.
#[derive(Clone, Debug)]
pub(crate) struct Instance {
    pub(crate) chart: Arc<LoadedChart>,
    /// The alias, or the name without an alias.
    pub(crate) name: String,
    /// The default values, with those imported from subcharts.
    pub(crate) values: Map,
    /// The enabled dependencies of `Chart.yaml`, under their aliases.
    pub(crate) dependencies: Option<Vec<Dependency>>,
    pub(crate) subcharts: Vec<Self>,
    /// True if its subcharts were selected by `dependencies`. Otherwise their paths have the names of their parents
    /// instead of the aliases.
    pub(crate) is_selected: bool,
}

impl Instance {
    /// Creates the instance of a chart with all its subcharts.
    pub(crate) fn new(chart: &Arc<LoadedChart>) -> Self {
        Self {
            name: chart.metadata.name.clone(),
            values: to_map(&chart.values),
            dependencies: chart.metadata.dependencies.clone(),
            subcharts: chart.subcharts.iter().map(Self::new).collect(),
            is_selected: false,
            chart: chart.clone(),
        }
    }

    /// True if the chart or a subchart has a schema.
    pub(crate) fn has_schema(&self) -> bool {
        self.chart.schema.is_some() || self.subcharts.iter().any(Self::has_schema)
    }

    /// Selects the subcharts that the values enable, and imports their values.
    pub(crate) fn process(&mut self, values: &Map, warnings: &mut Vec<String>) -> Result<(), ChartError> {
        self.select(values, "", warnings)?;
        self.import(warnings)
    }

    fn select(&mut self, values: &Map, path: &str, warnings: &mut Vec<String>) -> Result<(), ChartError> {
        let Some(mut dependencies) = self.dependencies.take() else { return Ok(()) };
        self.is_selected = true;
        let present: Vec<Self> = std::mem::take(&mut self.subcharts);
        self.subcharts = named(&present, &mut dependencies);
        let mut coalescing = Coalescing { nulls: Nulls::Remove, warnings };
        let values = coalescing.values(self, values)?;
        switch_by_tags(&mut dependencies, &values, warnings);
        switch_by_conditions(&mut dependencies, &values, path, warnings);
        let is_disabled =
            |name: &str| dependencies.iter().any(|dependency| !dependency.enabled && dependency.name == name);
        self.subcharts.retain(|subchart| !is_disabled(&subchart.name));
        let enabled: Vec<Dependency> =
            dependencies.iter().filter(|dependency| !is_disabled(&dependency.name)).cloned().collect();
        for subchart in &mut self.subcharts {
            let path = format!("{path}{}.", subchart.name);
            subchart.select(&values, &path, warnings)?;
        }
        self.dependencies = Some(enabled).filter(|enabled| !enabled.is_empty());
        Ok(())
    }

    /// Merges the values that dependencies export below those of the chart.
    fn import(&mut self, warnings: &mut Vec<String>) -> Result<(), ChartError> {
        for subchart in &mut self.subcharts {
            subchart.import(warnings)?;
        }
        let Some(mut dependencies) = self.dependencies.take() else { return Ok(()) };
        let mut coalescing = Coalescing { nulls: Nulls::Keep, warnings };
        let values = coalescing.values(self, &Map::default())?;
        let imported = Map::default();
        for dependency in &mut dependencies {
            for import in &mut dependency.import_values {
                let Some((child, parent)) = import_paths(import) else { continue };
                *import = serde_json::json!({ "child": child, "parent": parent });
                let path = format!("{}.{child}", dependency.name);
                match table(&values, &path) {
                    Ok(table) => {
                        coalescing.tables(&imported, &nested(&parent, table), "", Nulls::Keep);
                    }
                    Err(name) => coalescing.warnings.push(format!(
                        "ImportValues missing table from chart {}: {name:?} is not a table",
                        dependency.name
                    )),
                }
            }
        }
        self.values = if imported.is_empty() {
            values
        } else {
            // Tables that were imported may have changed those of the subcharts.
            let values = deep_copy(&values)?;
            coalescing.tables(&values, &imported, "", Nulls::Keep);
            values
        };
        self.dependencies = Some(dependencies);
        Ok(())
    }
}

/// Returns the subcharts under the names of their dependencies: first those that no dependency names, then one for each
/// dependency. Dependencies take their alias as name.
fn named(present: &[Instance], dependencies: &mut [Dependency]) -> Vec<Instance> {
    let fits = |subchart: &Instance, dependency: &Dependency| {
        subchart.name == dependency.name
            && template::version_matches(&dependency.version, &subchart.chart.metadata.version)
    };
    let is_unlisted =
        |subchart: &&Instance| !dependencies.iter().any(|dependency| fits(subchart, dependency));
    let mut subcharts: Vec<Instance> = present.iter().filter(is_unlisted).cloned().collect();
    for dependency in dependencies {
        let effective = dependency.effective_name().to_owned();
        if let Some(subchart) = present.iter().find(|subchart| fits(subchart, dependency)) {
            subcharts.push(Instance { name: effective.clone(), ..subchart.clone() });
        }
        dependency.name = effective;
        dependency.enabled = true;
    }
    subcharts
}

fn switch_by_tags(dependencies: &mut [Dependency], values: &Map, warnings: &mut Vec<String>) {
    let Some(Value::Map(tags)) = values.get(b"tags") else { return };
    for dependency in dependencies {
        let (mut has_true, mut has_false) = (false, false);
        for tag in &dependency.tags {
            match tags.get(tag.as_bytes()) {
                None => {}
                Some(Value::Bool(true)) => has_true = true,
                Some(Value::Bool(false)) => has_false = true,
                Some(_) => {
                    warnings
                        .push(format!("Tag '{tag}' for chart {} returned non-bool value", dependency.name));
                }
            }
        }
        dependency.enabled = has_true || !has_false;
    }
}

fn switch_by_conditions(
    dependencies: &mut [Dependency],
    values: &Map,
    prefix: &str,
    warnings: &mut Vec<String>,
) {
    for dependency in dependencies {
        for condition in dependency.condition.trim().split(',').filter(|condition| !condition.is_empty()) {
            match scalar(values, &format!("{prefix}{condition}")) {
                None => {}
                Some(Value::Bool(value)) => {
                    dependency.enabled = value;
                    break;
                }
                Some(_) => warnings.push(format!(
                    "Condition path '{condition}' for chart {} returned non-bool value",
                    dependency.name
                )),
            }
        }
    }
}

/// Returns the table at a path, or the first name on the path that is not a table.
pub(crate) fn table<'p>(values: &Map, path: &'p str) -> Result<Map, &'p str> {
    let mut found = values.clone();
    for name in path.split('.') {
        match found.get(name.as_bytes()) {
            Some(Value::Map(map)) => found = map,
            _ => return Err(name),
        }
    }
    Ok(found)
}

/// Returns the value at a path, unless it is a table.
fn scalar(values: &Map, path: &str) -> Option<Value> {
    let (tables, key) = path.rsplit_once('.').map_or((None, path), |(tables, key)| (Some(tables), key));
    let table = match tables {
        Some(tables) => table(values, tables).ok()?,
        None => values.clone(),
    };
    table.get(key.as_bytes()).filter(|value| !matches!(value, Value::Map(_)))
}

/// Returns the paths of an entry of `import-values`, in the child and in the parent.
fn import_paths(import: &Json) -> Option<(String, String)> {
    match import {
        Json::String(name) => Some((format!("exports.{name}"), ".".to_owned())),
        Json::Object(fields) => {
            let path = |name: &str| match fields.get(name) {
                Some(Json::String(path)) => path.clone(),
                Some(other) => other.to_string(),
                None => "<nil>".to_owned(),
            };
            Some((path("child"), path("parent")))
        }
        _ => None,
    }
}

/// Puts a table at a path.
fn nested(path: &str, table: Map) -> Map {
    if path == "." {
        return table;
    }
    path.rsplit('.').fold(table, |inner, name| [(name, Value::Map(inner))].into_iter().collect())
}
