//! Go's `text/template` with the functions of sprig and Helm.
//!
//! ```text
//! text ─► parse ─► Templates ─► render ─► output, positions of its pieces
//!                    │            ├ Value: the data
//!                    │            └ Session: limits, options, randomness
//!                    └ Functions: of Go, sprig, Helm, the host
//! ```
//!
//! ```
//! use std::sync::Arc;
//!
//! use template::{Functions, Session, Settings, Templates, Value};
//!
//! let mut templates = Templates::new("chart", Arc::new(Functions::helm()));
//! templates.parse("service.yaml", "name: {{ .name | upper | quote }}")?;
//! let data = Value::map([("name", Value::from("web"))]);
//! let output = templates.render("service.yaml", &data, &mut Session::new(Settings::helm()))?;
//! assert_eq!(output.bytes, b"name: \"WEB\"");
//! # Ok::<_, template::Error>(())
//! ```
//!
//! Deliberately absent: reflection over Rust types, `html/template`, reading of files, the environment, the clock.

#![allow(clippy::format_push_string, reason = "short texts, off the path of every output")]
#![allow(clippy::unnecessary_wraps, reason = "the functions of a table have one type")]

mod delimiters;
mod engine;
mod error;
mod exec;
mod fault;
mod format;
mod functions;
mod limits;
mod parse;
mod random;
mod reads;
mod session;
mod stack;
mod templates;
mod value;

#[cfg(test)]
mod tests;

pub use delimiters::Delimiters;
pub use engine::Engine;
pub use error::{Error, ParseError, Problem, RenderError};
pub use exec::{Output, Span};
pub use fault::Fault;
pub use functions::{
    Arguments, Function, Functions, check_constraint, compare_versions, is_version, translate_pattern,
    version_matches,
};
pub use limits::{Limit, Limits};
pub use reads::Read;
pub use session::{MissingKey, Session, Settings};
pub use templates::{ParsedText, Templates};
pub use value::{Elem, Kind, List, Map, MapId, Object, Record, Shared, Signature, Str, TooDeep, Type, Value};
