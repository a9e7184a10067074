//! Rules about components that need rendered parameters.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use manifest::{Map, Value};

use super::{joined, parameters_key};
use crate::error::CatalogError;
use crate::reclass::Node;

/// Returns the parameters of a component.
///
/// # Errors
/// The component has no parameters.
pub(crate) fn component_parameters<'p>(
    parameters: &'p Value,
    component: &str,
) -> Result<&'p Value, CatalogError> {
    let key = parameters_key(component);
    parameters.get(&key).ok_or_else(|| {
        CatalogError::rule_with_hint(
            format!("Component '{component}' has no parameters: key '{key}' not found"),
            format!("set `parameters.{key}` in `class/defaults.yml` of the component"),
        )
    })
}

/// Rejects the former key for versions of components.
///
/// # Errors
/// The key has content.
pub(crate) fn check_component_versions(parameters: &Value) -> Result<(), CatalogError> {
    let versions = parameters.get("component_versions").and_then(Value::as_object);
    if versions.is_none_or(Map::is_empty) {
        return Ok(());
    }
    Err(CatalogError::rule(
        "Specifying component versions in parameter `component_versions` is no longer suppported. Please migrate your \
         configuration to parameter `components`.",
    ))
}

/// Checks that components with aliases support instances.
///
/// # Errors
/// The metadata of a component do not allow an instance, or a version of its own for an instance.
pub(crate) fn check_instances(
    nodes: &BTreeMap<String, Node>,
    parameters: &Value,
    instances: &BTreeMap<String, String>,
) -> Result<(), CatalogError> {
    for (alias, component) in instances.iter().filter(|(alias, component)| alias != component) {
        let is_set = |parameters: &Value, flag: &str| {
            let metadata = parameters.get("_metadata");
            metadata.and_then(|metadata| metadata.get(flag)).and_then(Value::as_bool).unwrap_or_default()
        };
        let base = component_parameters(parameters, component)?;
        if !is_set(base, "multi_instance") {
            return Err(CatalogError::rule_with_hint(
                format!("Component {component} with alias {alias} does not support instantiation."),
                "set `_metadata.multi_instance: true` in the defaults of the component, if it supports instances",
            ));
        }
        let entry = parameters.get("components").and_then(|entries| entries.get(alias));
        let has =
            |field: &str| entry.and_then(|entry| entry.get(field)).is_some_and(|value| !value.is_null());
        if !has("url") && !has("version") {
            continue;
        }
        let own = nodes.get(alias).and_then(|node| node.parameters.get(parameters_key(component)));
        if !is_set(base, "multi_version") || !own.is_some_and(|own| is_set(own, "multi_version")) {
            return Err(CatalogError::rule_with_hint(
                format!(
                    "Component {component} with alias {alias} does not support overriding instance version."
                ),
                "set `_metadata.multi_version: true` in the defaults of both versions, if they support it",
            ));
        }
    }
    Ok(())
}

/// Checks that each component and package with a version has a url, because others are probably misspelled.
///
/// # Errors
/// All entries without url.
pub(crate) fn check_version_overrides(
    parameters: &Value,
    instances: &BTreeMap<String, String>,
) -> Result<(), CatalogError> {
    let entries = |key: &str| {
        let entries = parameters.get(key).and_then(Value::as_object);
        entries.into_iter().flatten()
    };
    let mut names = Vec::new();
    for (name, entry) in entries("components") {
        let is_component = instances.values().any(|component| component == name);
        match instances.get(name).filter(|_| !is_component) {
            Some(component) if entries("components").any(|(other, _)| other == component) => {}
            Some(component) => names.push(format!("component '{component}' (imported as {name})")),
            None if entry.get("url").is_none() => names.push(format!("component '{name}'")),
            None => {}
        }
    }
    let packages = entries("packages").filter(|(_, entry)| entry.get("url").is_none());
    names.extend(packages.map(|(name, _)| format!("package '{name}'")));
    if names.is_empty() {
        return Ok(());
    }
    names.sort();
    let (s, have) = if names.len() > 1 { ("s", "have") } else { ("", "has") };
    let names = joined(&names);
    Err(CatalogError::rule_with_hint(
        format!("Version override{s} specified for {names} which {have} no URL"),
        "correct the spelling, or set the `url` too",
    ))
}

/// Returns notices about deprecated components.
///
/// # Errors
/// A component has no parameters.
pub(crate) fn deprecation_notices(
    parameters: &Value,
    instances: &BTreeMap<String, String>,
) -> Result<Vec<String>, CatalogError> {
    let mut notices = Vec::new();
    for component in instances.values() {
        let metadata = component_parameters(parameters, component)?.get("_metadata");
        let field = |field: &str| metadata.and_then(|metadata| metadata.get(field));
        if !field("deprecated").and_then(Value::as_bool).unwrap_or_default() {
            continue;
        }
        let mut notice = format!("Component {component} is deprecated.");
        if let Some(replacement) = field("replaced_by").and_then(Value::as_str) {
            let _ = write!(notice, " Use component {replacement} instead.");
        }
        if let Some(text) = field("deprecation_notice").and_then(Value::as_str) {
            notice.push(' ');
            notice.push_str(text);
        }
        notices.push(notice);
    }
    Ok(notices)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn instances(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs.iter().map(|(alias, component)| ((*alias).to_owned(), (*component).to_owned())).collect()
    }

    // Row: CAT-34
    #[test]
    fn a_version_without_url_is_an_error() {
        let check = |parameters: Value| {
            check_version_overrides(&parameters, &instances(&[("a", "a"), ("x", "a")]))
                .map_err(|error| error.to_string())
        };
        assert_eq!(check(json!({"components": {"a": {"url": "u"}, "x": {"version": "v2"}}})), Ok(()));
        assert_eq!(
            check(json!({"components": {"typo": {"version": "v"}, "a": {"url": "u"}}})).unwrap_err(),
            "Version override specified for component 'typo' which has no URL"
        );
        assert_eq!(
            check(json!({"components": {"typo": {}}, "packages": {"p": {}, "q": {"url": "u"}}})).unwrap_err(),
            "Version overrides specified for component 'typo' and package 'p' which have no URL"
        );
    }

    // Row: CAT-36
    // Row: CAT-44
    #[test]
    fn an_alias_needs_a_component_that_supports_instances() {
        let check = |metadata: Value, components: Value, pairs: &[(&str, &str)]| {
            let parameters = json!({"a": {"_metadata": metadata}, "components": components});
            let node = Node { parameters: parameters.clone(), ..Node::default() };
            let nodes = BTreeMap::from([("x".to_owned(), node)]);
            check_instances(&nodes, &parameters, &instances(pairs)).map_err(|error| error.to_string())
        };
        assert_eq!(check(json!({}), json!({}), &[("a", "a")]), Ok(()));
        assert_eq!(
            check(json!({}), json!({}), &[("x", "a")]).unwrap_err(),
            "Component a with alias x does not support instantiation."
        );
        let own_version = json!({"x": {"version": "v2"}});
        assert_eq!(check(json!({"multi_instance": true}), json!({}), &[("x", "a")]), Ok(()));
        assert_eq!(
            check(json!({"multi_instance": true}), own_version.clone(), &[("x", "a")]).unwrap_err(),
            "Component a with alias x does not support overriding instance version."
        );
        let both = json!({"multi_instance": true, "multi_version": true});
        assert_eq!(check(both, own_version, &[("x", "a")]), Ok(()));
    }

    // Row: D-436
    #[test]
    fn deprecated_components_are_noticed() {
        let parameters = json!({"a": {"_metadata": {"deprecated": true, "replaced_by": "b", "deprecation_notice": "See docs."}}});
        let notices = deprecation_notices(&parameters, &instances(&[("a", "a")])).unwrap();
        assert_eq!(notices, ["Component a is deprecated. Use component b instead. See docs."]);
        let error = deprecation_notices(&json!({}), &instances(&[("x-y", "x-y")])).unwrap_err();
        assert_eq!(error.to_string(), "Component 'x-y' has no parameters: key 'x_y' not found");
    }
}
