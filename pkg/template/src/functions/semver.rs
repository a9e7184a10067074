//! `semver` and `semverCompare`.

mod constraint;
mod version;

use super::table::Row;
use super::{Arguments as _, Functions};
use crate::value::{Shared, Value};
use constraint::Constraints;
use version::Version;

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
