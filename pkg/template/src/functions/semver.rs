//! `semver` and `semverCompare`.

mod constraint;
mod version;

use std::cmp::Ordering;

use super::table::Row;
use super::{Arguments as _, Functions};
use crate::value::{Shared, Value};
use constraint::Constraints;
use version::Version;

/// True if a text is a version, as Masterminds/semver reads it: `1.2`, `v1.2.3-rc.1+build`.
pub fn is_version(text: &str) -> bool {
    Version::parse(text).is_ok()
}

/// True if a version satisfies a constraint such as `>=1.2 <2 || ~3.1`. False if one of them cannot be read.
pub fn version_matches(constraint: &str, version: &str) -> bool {
    match (Constraints::parse(constraint), Version::parse(version)) {
        (Ok(constraints), Ok(version)) => constraints.allow(&version),
        _ => false,
    }
}

/// Orders two versions by precedence; build metadata does not count. None if one of them cannot be read.
pub fn compare_versions(left: &str, right: &str) -> Option<Ordering> {
    Some(Version::parse(left).ok()?.compare(&Version::parse(right).ok()?))
}

/// Checks that a constraint can be read.
///
/// # Errors
/// The reason in the words of Masterminds/semver.
pub fn check_constraint(constraint: &str) -> Result<(), String> {
    Constraints::parse(constraint).map(drop)
}

pub(super) fn add(functions: &mut Functions) {
    super::table::add(functions, ROWS);
}

const ROWS: &[Row] = &[
    ("semver", "s", |_, args| {
        let version = Version::parse(&args.utf8(0))?;
        Ok(Value::Object(Shared::new(version)))
    }),
    ("semverCompare", "ss", |_, args| {
        let constraints = Constraints::parse(&args.utf8(0))?;
        let version = Version::parse(&args.utf8(1))?;
        Ok(constraints.allow(&version).into())
    }),
];
