//! `semver` and `semverCompare`.

mod constraint;
mod version;

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
