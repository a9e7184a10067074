//! Compiles the catalog of a cluster from a hierarchy of classes.
//!
//! | module | content |
//! |---|---|
//! | `jsonnet` | programs: imports, external variables, native functions |
//! | `libraries` | the libraries that every component may import |
//! | `reclass` | the class hierarchy: classes, targets, merged parameters, references |
//! | `yaml` | YAML as PyYAML reads and prints it |

mod hints;
mod jsonnet;
mod libraries;
pub mod reclass;
pub mod yaml;
