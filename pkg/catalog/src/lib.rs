//! Compiles the catalog of a cluster from a hierarchy of classes.
//!
//! | module | content |
//! |---|---|
//! | `reclass` | the class hierarchy: classes, targets, merged parameters, references |

mod hints;
pub mod reclass;
