//! The merge keys of the built-in kinds. They belong to the Kubernetes release built into kustomize, whatever the
//! server runs.

use std::collections::HashMap;

use super::{FieldSchema, Graph, Type, TypeId};

const TABLE: &str = include_str!("v1_21_2.txt");

/// Returns the definitions that a schema may refer to, by name.
pub(super) fn definitions() -> HashMap<String, TypeId> {
    let types = types();
    let mut definitions = HashMap::new();
    for line in lines("[definitions]") {
        let mut words = line.split_whitespace();
        let Some(of) = words.next().and_then(|of| types.get(of)) else { continue };
        definitions.extend(words.map(|name| (name.to_owned(), *of)));
    }
    for (version, of, kind) in kinds() {
        let (group, version) = version.split_once('/').unwrap_or(("core", version));
        let group = group.split('.').next().unwrap_or_default();
        definitions.extend(types.get(of).map(|of| (format!("io.k8s.api.{group}.{version}.{kind}"), *of)));
    }
    definitions
}

/// Returns the lines of a section.
fn lines(section: &'static str) -> impl Iterator<Item = &'static str> {
    TABLE.lines().skip_while(move |line| *line != section).skip(1).take_while(|line| !line.starts_with('['))
}

fn types() -> HashMap<&'static str, TypeId> {
    let names = lines("[types]").enumerate();
    names.filter_map(|(at, line)| Some((line.split(' ').next()?, TypeId(at)))).collect()
}

/// Returns every kind as `apiVersion`, type name and kind.
fn kinds() -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
    lines("[kinds]").flat_map(|line| {
        let mut words = line.split(' ');
        let start = words.next().zip(words.next());
        start.into_iter().flat_map(move |(version, of)| words.clone().map(move |kind| (version, of, kind)))
    })
}

/// Builds the graph of the built-in types.
pub(super) fn graph() -> Graph {
    let names = types();
    let types = lines("[types]").map(|line| {
        let fields = line.split_whitespace().skip(1).filter_map(|word| word.split_once('='));
        let fields = fields.map(|(name, text)| (name.into(), field(text, &names))).collect();
        Type { fields, additional: None }
    });
    let mut graph = Graph { types: types.collect(), ..Graph::default() };
    for (version, of, kind) in kinds() {
        let kinds = graph.kinds.entry(version.into()).or_default();
        kinds.extend(names.get(of).map(|of| (kind.into(), *of)));
    }
    graph
}

fn field(text: &str, names: &HashMap<&str, TypeId>) -> FieldSchema {
    match text.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((keys, of)) => {
            let keys = keys.split(',').filter(|key| !key.is_empty()).map(Into::into).collect();
            FieldSchema { keys: Some(keys), type_id: names.get(of).copied() }
        }
        None => FieldSchema { keys: None, type_id: names.get(text).copied() },
    }
}
