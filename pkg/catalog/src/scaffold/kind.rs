//! Components and packages: their names, folders and repositories.

use std::path::PathBuf;

use crate::dependencies::RESERVED_NAMES;
use crate::error::CatalogError;
use crate::working_folder::WorkingFolder;

/// The pattern of the name of a component or package.
const PATTERN: &str = "^[a-z][a-z0-9-]+[a-z0-9]$";

/// The kind of a dependency.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DependencyKind {
    /// A component.
    Component,
    /// A package.
    Package,
}

impl DependencyKind {
    /// The word for the kind: `component` or `package`.
    pub fn word(self) -> &'static str {
        match self {
            Self::Component => "component",
            Self::Package => "package",
        }
    }

    /// The word at the start of a sentence.
    pub(super) fn title(self) -> &'static str {
        match self {
            Self::Component => "Component",
            Self::Package => "Package",
        }
    }

    /// The worktree in a working folder.
    pub(super) fn worktree(self, folder: &WorkingFolder, slug: &str) -> PathBuf {
        match self {
            Self::Component => folder.component(slug),
            Self::Package => folder.package(slug),
        }
    }

    /// The remote of a new repository.
    pub(super) fn repository(self, owner: &str, slug: &str) -> String {
        format!("git@github.com:{owner}/{}-{slug}.git", self.word())
    }
}

/// Checks the name of a component or package.
///
/// # Errors
/// The name has other characters than lower-case letters, digits and dashes, starts with the kind, or is reserved.
pub(crate) fn check_slug(kind: DependencyKind, slug: &str) -> Result<(), CatalogError> {
    let word = kind.word();
    if slug.starts_with(&format!("{word}-")) {
        return Err(CatalogError::rule(format!("The {word} slug may not start with '{word}-'")));
    }
    let bytes = slug.as_bytes();
    let is_letter = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_lowercase);
    let is_allowed = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || *byte == b'-';
    let is_valid = bytes.len() >= 3
        && is_letter(bytes.first())
        && bytes.iter().all(is_allowed)
        && bytes.last() != Some(&b'-');
    if !is_valid {
        return Err(CatalogError::rule(format!("The {word} slug must match '{PATTERN}'")));
    }
    if kind == DependencyKind::Package {
        if RESERVED_NAMES.contains(&slug) {
            return Err(CatalogError::rule(format!("Package can't use reserved slug '{slug}'")));
        }
        if slug.starts_with("t-") {
            return Err(CatalogError::rule("Package slug can't use reserved tenant prefix 't-'"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slug_is_a_short_name_of_lower_case_letters() {
        let problem = |kind, slug: &str| check_slug(kind, slug).map_err(|error| error.to_string());
        let component = DependencyKind::Component;
        for slug in ["abc", "cert-manager", "a1b"] {
            assert_eq!(problem(component, slug), Ok(()), "{slug}");
        }
        for slug in ["", "ab", "Abc", "1bc", "abc-", "a_c", "a/../b"] {
            let expected = "The component slug must match '^[a-z][a-z0-9-]+[a-z0-9]$'";
            assert_eq!(problem(component, slug), Err(expected.to_owned()), "{slug}");
        }
        for (kind, slug, expected) in [
            (component, "component-x", "The component slug may not start with 'component-'"),
            (DependencyKind::Package, "defaults", "Package can't use reserved slug 'defaults'"),
            (DependencyKind::Package, "t-x", "Package slug can't use reserved tenant prefix 't-'"),
        ] {
            assert_eq!(problem(kind, slug), Err(expected.to_owned()), "{slug}");
        }
    }
}
