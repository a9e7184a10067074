//! Url, version and path of dependencies, from `parameters.components` and `parameters.packages`.

use std::collections::{BTreeMap, BTreeSet};

use manifest::{Map, Value};

use super::Applications;
use crate::error::CatalogError;
use crate::reclass::Node;

/// The source of a dependency.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DependencySpec {
    pub(crate) url: String,
    pub(crate) version: String,
    /// The path in the repository; empty for its root.
    pub(crate) path: String,
}

/// The sources of components and of their instances.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ComponentSpecs {
    pub(crate) components: BTreeMap<String, DependencySpec>,
    /// The sources of instances, except for those with the name of their component.
    pub(crate) instances: BTreeMap<String, DependencySpec>,
}

/// Returns the sources of components and instances. An instance inherits the fields that it does not override.
///
/// # Errors
/// A component has no entry, or an entry has no `url` or no `version`.
pub(crate) fn read_components(
    node: &Node,
    applications: &Applications,
) -> Result<ComponentSpecs, CatalogError> {
    let kind = Kind { name: "Component", key: "components" };
    let entries = kind.entries(node)?;
    let Some(entries) = entries.filter(|entries| !entries.is_empty()) else {
        return Err(CatalogError::rule_with_hint(
            "Component list ('parameters.components') missing",
            "add the url and version of each component to `parameters.components`",
        ));
    };
    let mut specs = ComponentSpecs::default();
    for name in &applications.components {
        let entry = entries.get(name).ok_or_else(|| kind.unknown(name, entries))?;
        specs.components.insert(name.clone(), kind.spec(name, Some(entry), None)?);
    }
    for (alias, component) in &applications.instances {
        if alias != component {
            let base = specs.components.get(component);
            specs.instances.insert(alias.clone(), kind.spec(alias, entries.get(alias), base)?);
        }
    }
    Ok(specs)
}

/// Returns the sources of packages.
///
/// # Errors
/// A package has no entry, or an entry has no `url` or no `version`.
pub(crate) fn read_packages(
    node: &Node,
    packages: &BTreeSet<String>,
) -> Result<BTreeMap<String, DependencySpec>, CatalogError> {
    let kind = Kind { name: "Package", key: "packages" };
    let none = Map::new();
    let entries = kind.entries(node)?.unwrap_or(&none);
    let spec = |name: &String| {
        let entry = entries.get(name).ok_or_else(|| kind.unknown(name, entries))?;
        Ok((name.clone(), kind.spec(name, Some(entry), None)?))
    };
    packages.iter().map(spec).collect()
}

/// A kind of dependencies.
struct Kind {
    name: &'static str,
    /// The key in the parameters.
    key: &'static str,
}

impl Kind {
    fn entries<'n>(&self, node: &'n Node) -> Result<Option<&'n Map<String, Value>>, CatalogError> {
        match node.parameters.get(self.key) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::Object(entries)) => Ok(Some(entries)),
            Some(_) => Err(CatalogError::rule(format!("Parameter '{}' must be a mapping", self.key))),
        }
    }

    fn unknown(&self, name: &str, entries: &Map<String, Value>) -> CatalogError {
        let Self { name: kind, key } = self;
        let message =
            format!("Unknown {} '{name}'. Please add it to 'parameters.{key}'", kind.to_ascii_lowercase());
        let similar = api::similar_names(name, entries.keys().map(String::as_str));
        let hints = similar.iter().map(|similar| format!("did you mean `{similar}`?")).collect();
        CatalogError::Rule { message, hints }
    }

    /// Reads an entry. Missing fields have the values of `base`.
    fn spec(
        &self,
        name: &str,
        entry: Option<&Value>,
        base: Option<&DependencySpec>,
    ) -> Result<DependencySpec, CatalogError> {
        let field = |field: &'static str| match entry.and_then(|entry| entry.get(field)) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.clone())),
            Some(_) => Err(CatalogError::rule_with_hint(
                format!("Field '{field}' of {} '{name}' must be text", self.name.to_ascii_lowercase()),
                format!("put quotes around the value of `{field}`"),
            )),
        };
        let required = |field_name: &'static str, inherited: Option<&String>| {
            field(field_name)?.or_else(|| inherited.cloned()).ok_or_else(|| {
                CatalogError::rule_with_hint(
                    format!("{} '{name}' is missing field '{field_name}'", self.name),
                    format!("set `parameters.{}.{name}.{field_name}`", self.key),
                )
            })
        };
        let url = required("url", base.map(|base| &base.url))?;
        let version = required("version", base.map(|base| &base.version))?;
        let path = field("path")?.unwrap_or_default();
        let path = path.strip_prefix('/').unwrap_or(&path).trim_end_matches('/');
        if path.split('/').any(|part| part == "..") {
            return Err(CatalogError::rule(format!("{} '{name}' has a path with `..`: {path}", self.name)));
        }
        let path = if path.is_empty() { base.map(|base| base.path.clone()) } else { Some(path.to_owned()) };
        Ok(DependencySpec { url, version, path: path.unwrap_or_default() })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::dependencies::discover_components;

    fn read(parameters: Value, applications: &[&str]) -> Result<ComponentSpecs, String> {
        let node = Node { parameters, ..Node::default() };
        let applications: Vec<String> = applications.iter().map(|entry| (*entry).to_owned()).collect();
        let applications = discover_components(&applications).unwrap();
        read_components(&node, &applications).map_err(|error| error.to_string())
    }

    // Row: CAT-19
    #[test]
    fn an_instance_inherits_what_it_does_not_override() {
        let parameters = json!({"components": {
            "a": {"url": "u", "version": "v1", "path": "/sub/"},
            "x": {"version": "v2"},
        }});
        let specs = read(parameters, &["a", "a as x", "a as y"]).unwrap();
        let spec =
            |version: &str| DependencySpec { url: "u".into(), version: version.into(), path: "sub".into() };
        assert_eq!(specs.components["a"], spec("v1"));
        assert_eq!(specs.instances["x"], spec("v2"));
        assert_eq!(specs.instances["y"], spec("v1"));
    }

    // Row: CAT-13
    // Row: CAT-18
    // Row: D-438
    // Row: D-440
    #[test]
    fn an_incomplete_entry_names_component_and_field() {
        for (parameters, message) in [
            (json!({}), "Component list ('parameters.components') missing"),
            (
                json!({"components": {"b": {}}}),
                "Unknown component 'a'. Please add it to 'parameters.components'",
            ),
            (json!({"components": {"a": {"version": "v1"}}}), "Component 'a' is missing field 'url'"),
            (json!({"components": {"a": {"url": "u"}}}), "Component 'a' is missing field 'version'"),
            (
                json!({"components": {"a": {"url": "u", "version": 1.0}}}),
                "Field 'version' of component 'a' must be text",
            ),
            (
                json!({"components": {"a": {"url": "u", "version": "1", "path": "../x"}}}),
                "Component 'a' has a path with `..`: ../x",
            ),
            (json!({"components": 1}), "Parameter 'components' must be a mapping"),
        ] {
            assert_eq!(read(parameters, &["a"]).unwrap_err(), message);
        }
    }

    // Row: CAT-14
    #[test]
    fn a_package_needs_an_entry() {
        let node = Node { parameters: json!({"packages": {}}), ..Node::default() };
        let packages = ["p".to_owned()].into_iter().collect();
        let error = read_packages(&node, &packages).unwrap_err();
        assert_eq!(error.to_string(), "Unknown package 'p'. Please add it to 'parameters.packages'");
    }
}
