//! One component, compiled without a cluster: for its author, and for tests of its output.
//!
//! ```text
//! component + values ─► target in a temporary folder ─► Jsonnet libraries, dependencies ─► compile ─► postprocess
//! ```
//!
//! Source: Commodore 1.35 component/compile.py.

mod error;
mod prepare;
mod target;

pub use error::ComponentError;
pub use prepare::{ComponentRequest, PreparedComponent, prepare};
pub(crate) use target::ARGOCD_LIBRARY;
