//! Names and aliases of dependencies, from the list of applications.

use std::collections::{BTreeMap, BTreeSet};

use super::name_list;
use crate::error::CatalogError;
use crate::working_folder::CLUSTER_TARGET;

/// The prefix of packages in the list of applications.
const PACKAGE_PREFIX: &str = "pkg.";
/// Names of folders in the hierarchy that Commodore uses itself.
pub(crate) const RESERVED_NAMES: [&str; 4] = ["components", "defaults", "global", "params"];
/// The word between a component and its alias.
const ALIAS_SEPARATOR: &str = " as ";

/// The components of a cluster.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Applications {
    pub(crate) components: BTreeSet<String>,
    /// The component of each instance. A component without alias is an instance of its own name.
    pub(crate) instances: BTreeMap<String, String>,
}

/// Returns the packages in a list of applications.
///
/// # Errors
/// All names that Commodore reserves.
pub(crate) fn discover_packages(applications: &[String]) -> Result<BTreeSet<String>, CatalogError> {
    let names = applications.iter().filter_map(|entry| entry.strip_prefix(PACKAGE_PREFIX));
    let mut packages = BTreeSet::new();
    for name in names {
        if RESERVED_NAMES.contains(&name) {
            return Err(CatalogError::rule(format!("Can't use reserved name '{name}' as package name.")));
        }
        if name.starts_with("t-") {
            return Err(CatalogError::rule_with_hint(
                "Package names can't be prefixed with 't-'. This prefix is reserved for tenant configurations.",
                format!("rename the package `{name}`"),
            ));
        }
        if !is_folder_name(name) {
            return Err(CatalogError::rule(format!("Can't use '{name}' as package name.")));
        }
        packages.insert(name.to_owned());
    }
    Ok(packages)
}

/// Returns the components and instances in a list of applications.
///
/// # Errors
/// Two components have the same alias, or an alias is the name of another component.
pub(crate) fn discover_components(applications: &[String]) -> Result<Applications, CatalogError> {
    let mut found = Applications::default();
    let mut by_alias: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    let entries = applications.iter().filter(|entry| !entry.starts_with(PACKAGE_PREFIX));
    for entry in entries {
        let (component, alias) = split_alias(entry);
        check_name(component)?;
        check_name(alias)?;
        if alias == CLUSTER_TARGET {
            return Err(CatalogError::rule(format!("Can't use reserved name '{alias}' as instance name.")));
        }
        if component == alias && entry != component && applications.iter().any(|other| other == component) {
            return Err(CatalogError::rule_with_hint(
                format!("Component '{component}' is included both as '{component}' and as '{entry}'"),
                format!("remove one of them from the applications: add `~{component}` or `~{entry}`"),
            ));
        }
        found.components.insert(component.to_owned());
        by_alias.entry(alias).or_default().insert(component);
    }
    for (alias, components) in by_alias {
        let mut others: Vec<&str> = components.iter().copied().filter(|name| *name != alias).collect();
        let is_component = components.contains(alias);
        match (&mut others[..], is_component) {
            ([other], true) => {
                let message = format!("Component '{other}' aliases existing component '{alias}'");
                return Err(CatalogError::rule(message));
            }
            ([_, ..], true) => {
                let names = name_list(others);
                return Err(CatalogError::rule(format!(
                    "Components {names} alias existing component '{alias}'"
                )));
            }
            ([_, _, ..], false) => {
                let names = name_list(others);
                return Err(CatalogError::rule(format!(
                    "Duplicate component alias '{alias}': components {names} are aliased to '{alias}'"
                )));
            }
            _ => {}
        }
        if let Some(component) = components.first() {
            found.instances.insert(alias.to_owned(), (*component).to_owned());
        }
    }
    Ok(found)
}

/// Splits `component as alias`. An entry without alias is its own alias.
pub(crate) fn split_alias(entry: &str) -> (&str, &str) {
    match entry.split_once(ALIAS_SEPARATOR) {
        Some((component, alias)) if !alias.contains(ALIAS_SEPARATOR) => (component, alias),
        _ => (entry, entry),
    }
}

/// True if a name can be that of a folder in the hierarchy.
pub(crate) fn is_folder_name(name: &str) -> bool {
    !name.is_empty() && !name.starts_with('.') && !name.contains(['/', '\\'])
}

/// Rejects names that lead out of the folder of dependencies.
fn check_name(name: &str) -> Result<(), CatalogError> {
    if is_folder_name(name) {
        Ok(())
    } else {
        Err(CatalogError::rule(format!("Can't use '{name}' as component name.")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn discover(entries: &[&str]) -> Result<Applications, String> {
        let entries: Vec<String> = entries.iter().map(|entry| (*entry).to_owned()).collect();
        discover_components(&entries).map_err(|error| error.to_string())
    }

    // Row: CAT-12
    // Row: CAT-40
    // Row: CAT-42
    #[test]
    fn an_application_is_a_package_a_component_or_an_instance() {
        let found = discover(&["pkg.a", "a", "b as c", "d as d"]).unwrap();
        assert_eq!(found.components.iter().collect::<Vec<_>>(), ["a", "b", "d"]);
        let instances: Vec<_> = found.instances.iter().map(|(alias, of)| format!("{alias}={of}")).collect();
        assert_eq!(instances, ["a=a", "c=b", "d=d"]);
        let packages = discover_packages(&["pkg.a".to_owned(), "a".to_owned()]).unwrap();
        assert_eq!(packages.iter().collect::<Vec<_>>(), ["a"]);
    }

    // Row: CAT-38
    // Row: CAT-39
    // Row: CAT-45
    // Row: D-435
    // Row: D-440
    #[test]
    fn instances_have_unique_names() {
        for (entries, message) in [
            (&["a", "b as a"][..], "Component 'b' aliases existing component 'a'"),
            (&["a", "b as a", "c as a"], "Components 'b' and 'c' alias existing component 'a'"),
            (
                &["a as x", "b as x"],
                "Duplicate component alias 'x': components 'a' and 'b' are aliased to 'x'",
            ),
            (&["a", "a as a"], "Component 'a' is included both as 'a' and as 'a as a'"),
            (&["a as cluster"], "Can't use reserved name 'cluster' as instance name."),
            (&["../a"], "Can't use '../a' as component name."),
        ] {
            assert_eq!(discover(entries).unwrap_err(), message);
        }
    }

    #[test]
    fn reserved_names_are_no_packages() {
        for (name, message) in [
            ("pkg.global", "Can't use reserved name 'global' as package name."),
            (
                "pkg.t-x",
                "Package names can't be prefixed with 't-'. This prefix is reserved for tenant configurations.",
            ),
            ("pkg.../x", "Can't use '../x' as package name."),
        ] {
            assert_eq!(discover_packages(&[name.to_owned()]).unwrap_err().to_string(), message);
        }
    }
}
