//! Parses and prints objects: YAML as Go reads and prints it, variable substitution, pure edits of objects.
//!
//! ```
//! use manifest::{YamlLimits, envsubst::Template, read_stream, write_stream};
//!
//! let template = Template::parse("kind: ConfigMap\napiVersion: v1\nmetadata: {name: '${NAME:=web}'}\n")?;
//! let text = template.render(&mut |_| None)?;
//! let stream = read_stream(text.as_bytes(), &YamlLimits::default())?;
//! assert_eq!(stream.objects[0].name(), "web");
//! assert_eq!(write_stream(&stream.objects), "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: web");
//! # Ok::<_, Box<dyn std::error::Error>>(())
//! ```

mod go_formats;
mod limits;
mod object;
mod object_ref;
mod stream;
#[cfg(test)]
mod tests;

pub mod builtin;
pub mod duration;
pub mod envsubst;
pub mod expression;
pub mod images;
pub mod labels;
pub mod namespace;
pub mod order;
pub mod patch;
pub mod pointer;
pub mod provenance;
pub mod quantity;
pub mod typed;
pub mod yaml;

pub use go_formats::{go_json, parse_bool};
pub use limits::YamlLimits;
pub use object::{NotAMapping, Object, type_name, value_text};
pub use object_ref::ObjectRef;
pub use serde_json::{Map, Value};
pub use stream::{
    InvalidDocument, ObjectStream, StreamError, StreamWarning, StreamWarningKind, read_resources,
    read_stream, write_stream, write_traced_stream,
};
