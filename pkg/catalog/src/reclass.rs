//! A hierarchy of classes, and the parameters of its targets.
//!
//! ```text
//! inventory/classes/**.yml ─► Class ─┐
//! inventory/targets/**.yml ─► Class ─┴─► walk: depth first ─► merged fields ─► resolve references ─► Node
//! ```
//!
//! | module | content |
//! |---|---|
//! | `document`, `scalar` | YAML 1.2 with positions |
//! | `class` | a class: its classes, applications and parameters |
//! | `tree`, `template` | parameters as written, and texts with references |
//! | `inventory`, `discover` | the files of a hierarchy, parsed once and shared by all targets |
//! | `walk`, `applications` | the classes of a target in order |
//! | `resolve`, `lookup`, `merge` | the values of parameters |
//! | `order` | the order of keys |
//! | `explain` | the classes that set a parameter |
//!
//! Source: reclass-rs at 14268a94, as Commodore 1.35 uses it. The reasons in errors have its words.
//! Differs: a cycle of classes is an error instead of a crash. All problems of a target are reported at once. References
//! inside of a mapping that is embedded in a text are resolved. Nesting and the size of results are limited.

mod applications;
mod class;
mod discover;
mod document;
mod error;
mod explain;
mod inventory;
mod lookup;
mod merge;
mod order;
mod problem;
mod resolve;
mod scalar;
mod template;
#[cfg(test)]
mod tests;
mod tree;
mod walk;

pub use error::{ClassError, InventoryError, RenderError, TargetProblem};
pub(crate) use inventory::MissingClasses;
pub use inventory::{Inventory, Node};
pub(crate) use order::Ordered;
pub use order::{KeyOrder, KeyOrders};
pub use problem::{Location, ParameterProblem, ProblemKind};

pub(crate) use template::{Reference, references};
