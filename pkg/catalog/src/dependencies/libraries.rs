//! Template libraries of components, and their aliases.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use manifest::Value;

use super::{Dependency, checks::component_parameters, link, name_list};
use crate::error::CatalogError;
use crate::step::{Step, StepSink};
use crate::working_folder::WorkingFolder;

/// Links the template libraries of a component.
///
/// # Errors
/// The name of a library does not start with the name of the component, or starts with the name of another one.
pub(crate) fn link_libraries(
    folder: &WorkingFolder,
    component: &Dependency,
    components: &BTreeSet<String>,
) -> Result<(), CatalogError> {
    let libraries = component.folder().join("lib");
    let Ok(entries) = fs::read_dir(&libraries) else { return Ok(()) };
    let mut names = Vec::new();
    for entry in entries {
        let entry = entry.map_err(|error| CatalogError::disk("read", &libraries, error))?;
        names.push(entry.file_name().to_string_lossy().into_owned());
    }
    names.sort();
    for name in names.iter().filter(|name| !name.starts_with('.')) {
        check_library_name(&component.name, name, components)?;
        link(&libraries.join(name), &folder.libraries(), name)?;
    }
    Ok(())
}

fn check_library_name(
    component: &str,
    library: &str,
    components: &BTreeSet<String>,
) -> Result<(), CatalogError> {
    let stem = Path::new(library).file_stem().map(|stem| stem.to_string_lossy()).unwrap_or_default();
    let is_longer = |other: &&String| *other != component && other.starts_with(component);
    if components.iter().filter(is_longer).any(|other| stem.starts_with(other.as_str())) {
        return Err(CatalogError::rule(format!(
            "Component '{component}' defines component library '{library}' which is reserved for another component."
        )));
    }
    if !stem.starts_with(component) {
        return Err(CatalogError::rule(format!(
            "Component '{component}' uses invalid component library name '{library}'. Consider using a library alias."
        )));
    }
    Ok(())
}

/// Links the aliases of template libraries that components declare.
///
/// # Errors
/// Two components declare the same alias, or an alias starts with the name of another component.
pub(crate) fn install_aliases(
    folder: &WorkingFolder,
    components: &BTreeMap<String, Dependency>,
    parameters: &Value,
    report: StepSink<'_>,
) -> Result<(), CatalogError> {
    let known: Vec<&str> = match parameters.get("components") {
        Some(Value::Object(entries)) => entries.keys().map(String::as_str).collect(),
        _ => Vec::new(),
    };
    let mut declared: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for name in components.keys() {
        let metadata = component_parameters(parameters, name)?.get("_metadata");
        let replaced = replaced_component(name, metadata, components, parameters, report)?;
        for (alias, _) in aliases(metadata) {
            let is_foreign = |prefix: &&&str| **prefix != name && Some(**prefix) != replaced;
            let prefix = known.iter().filter(is_foreign).find(|prefix| alias.starts_with(**prefix));
            if let Some(prefix) = prefix {
                return Err(CatalogError::rule(format!(
                    "Invalid alias prefix '{prefix}' for template library alias of component '{name}'"
                )));
            }
            declared.entry(alias).or_default().insert(name);
        }
    }
    if let Some((alias, names)) = declared.iter().find(|(_, names)| names.len() > 1) {
        let all = if names.len() > 2 { "all" } else { "both" };
        let names = name_list(names.iter().copied());
        return Err(CatalogError::rule(format!(
            "Components {names} {all} define component library alias '{alias}'"
        )));
    }
    for (name, component) in components {
        let metadata = component_parameters(parameters, name)?.get("_metadata");
        for (alias, library) in aliases(metadata) {
            let source = component.folder().join("lib").join(library);
            if is_plain_name(alias) && is_plain_name(library) && source.exists() {
                link(&source, &folder.libraries(), alias)?;
            } else {
                report(Step::Warning(format!(
                    "[WARN] '{name}' template library alias '{alias}' refers to nonexistent template library '{library}'"
                )));
            }
        }
    }
    Ok(())
}

/// Returns the aliases that the metadata of a component declare, with their libraries.
fn aliases(metadata: Option<&Value>) -> impl Iterator<Item = (&str, &str)> {
    let declared = metadata.and_then(|metadata| metadata.get("library_aliases")).and_then(Value::as_object);
    declared.into_iter().flatten().filter_map(|(alias, library)| Some((alias.as_str(), library.as_str()?)))
}

fn is_plain_name(name: &str) -> bool {
    !name.is_empty() && !name.contains(['/', '\\']) && name != "." && name != ".."
}

/// Returns the component whose prefix another component may use, because it replaces that component.
fn replaced_component<'m>(
    name: &str,
    metadata: Option<&'m Value>,
    components: &BTreeMap<String, Dependency>,
    parameters: &Value,
    report: StepSink<'_>,
) -> Result<Option<&'m str>, CatalogError> {
    let replaced = metadata.and_then(|metadata| metadata.get("replaces")).and_then(Value::as_str);
    let Some(replaced) = replaced.filter(|replaced| components.contains_key(*replaced)) else {
        return Ok(replaced);
    };
    let its = component_parameters(parameters, replaced)?.get("_metadata");
    let field = |field: &str| its.and_then(|metadata| metadata.get(field));
    let is_deprecated = field("deprecated").and_then(Value::as_bool).unwrap_or_default();
    let ignored = format!(
        "Ignoring additional library prefix '{replaced}' requested by '{name}'. Component '{replaced}' is also deployed on the cluster"
    );
    let (text, is_allowed) = if !is_deprecated {
        (format!("{ignored} and isn't deprecated."), false)
    } else if field("replaced_by").and_then(Value::as_str) != Some(name) {
        (format!("{ignored} and hasn't nominated '{name}' as its replacement."), false)
    } else {
        let text = format!(
            "Allowing additional library prefix '{replaced}' for component '{name}'. Component '{replaced}' is marked as deprecated and has nominated component '{name}' as its replacement."
        );
        (text, true)
    };
    report(Step::Warning(text));
    Ok(Some(replaced).filter(|_| is_allowed))
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use serde_json::json;

    use super::*;

    fn components(names: &[&str], root: &Path) -> BTreeMap<String, Dependency> {
        let component = |name: &&str| {
            let component = Dependency {
                name: (*name).to_owned(),
                component: (*name).to_owned(),
                url: String::new(),
                version: String::new(),
                path: String::new(),
                worktree: root.join("dependencies").join(name),
                commit: None,
            };
            ((*name).to_owned(), component)
        };
        names.iter().map(component).collect()
    }

    /// Installs the aliases of components, and returns the error and the notices.
    fn install(names: &[&str], parameters: &Value) -> (Option<String>, Vec<String>) {
        let root = tempfile::tempdir().unwrap();
        let notices = RefCell::new(Vec::new());
        let report = |step: Step| notices.borrow_mut().push(step.to_string());
        let folder = WorkingFolder::new(root.path());
        let installed = install_aliases(&folder, &components(names, root.path()), parameters, &report);
        (installed.err().map(|error| error.to_string()), notices.into_inner())
    }

    // Row: CAT-59
    #[test]
    fn a_library_has_the_name_of_its_component() {
        let known = ["one", "one-op"].map(str::to_owned).into_iter().collect();
        assert!(check_library_name("one", "one-x.libsonnet", &known).is_ok());
        assert_eq!(
            check_library_name("one", "two.libsonnet", &known).unwrap_err().to_string(),
            "Component 'one' uses invalid component library name 'two.libsonnet'. Consider using a library alias."
        );
        assert_eq!(
            check_library_name("one", "one-op.libsonnet", &known).unwrap_err().to_string(),
            "Component 'one' defines component library 'one-op.libsonnet' which is reserved for another component."
        );
    }

    // Row: CAT-61
    #[test]
    fn an_alias_has_one_component() {
        let metadata = json!({"_metadata": {"library_aliases": {"g.libsonnet": "x"}}});
        let parameters = json!({"components": {}, "a": metadata, "b": metadata, "c": metadata});
        let (error, _) = install(&["a", "b"], &parameters);
        assert_eq!(
            error.unwrap(),
            "Components 'a' and 'b' both define component library alias 'g.libsonnet'"
        );
        let (error, _) = install(&["a", "b", "c"], &parameters);
        assert_eq!(
            error.unwrap(),
            "Components 'a', 'b', and 'c' all define component library alias 'g.libsonnet'"
        );
    }

    // Row: CAT-62
    // Row: CAT-63
    // Row: CAT-64
    // Row: CAT-65
    #[test]
    fn the_prefix_of_another_component_needs_its_replacement() {
        let of = |old: Value| {
            json!({
                "components": {"new": {}, "old": {}},
                "new": {"_metadata": {"replaces": "old", "library_aliases": {"old.libsonnet": "new.libsonnet"}}},
                "old": {"_metadata": old},
            })
        };
        let refused = "Invalid alias prefix 'old' for template library alias of component 'new'";
        assert_eq!(install(&["new"], &of(json!({}))).0, None);
        assert_eq!(install(&["new", "old"], &of(json!({}))).0.unwrap(), refused);
        assert_eq!(install(&["new", "old"], &of(json!({"deprecated": true}))).0.unwrap(), refused);
        let (error, notices) =
            install(&["new", "old"], &of(json!({"deprecated": true, "replaced_by": "new"})));
        assert_eq!(error, None);
        assert_eq!(
            notices,
            [
                " > Allowing additional library prefix 'old' for component 'new'. Component 'old' is marked as deprecated and has nominated component 'new' as its replacement.",
                " > [WARN] 'new' template library alias 'old.libsonnet' refers to nonexistent template library 'new.libsonnet'",
            ]
        );
    }
}
