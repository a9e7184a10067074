//! The functions that templates call.
//!
//! ```text
//! Functions::text  ─► builtin                                     Go's text/template
//! Functions::sprig ─► strings lists dicts numbers dates …          sprig 3.3
//! Functions::helm  ─► data (YAML, JSON, TOML), include, required   Helm 3.22
//! Functions::component ─► data (YAML, JSON), include, bitwiseAnd   component-operator-runtime
//! ```

mod arguments;
mod builtin;
mod component;
mod crypto;
mod data;
mod dates;
mod defaults;
mod dicts;
mod encoding;
mod helm;
mod library;
mod lists;
mod numbers;
mod paths;
mod random;
mod regexes;
mod registry;
mod semver;
mod strings;
mod table;
mod types;
mod urls;

pub use arguments::Arguments;
pub use regexes::translate_pattern;
pub(crate) use registry::Special;
pub use registry::{Function, Functions};
pub use semver::{check_constraint, compare_versions, is_version, version_matches};
