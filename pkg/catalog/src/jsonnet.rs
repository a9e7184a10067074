//! Jsonnet programs: evaluation with imports, external variables and native functions.
//!
//! ```text
//! file ─► depth check ─► rsjsonnet ─► value
//!                          ├ imports: folder of the file, embedded libraries, search paths
//!                          └ native functions, called by the thread that waits for the value
//! ```
//!
//! The evaluator keeps its own stack of calls, which is limited. The parser is recursive, so a source is rejected if it is
//! nested too deeply, and evaluation runs on a thread with a large stack. Functions of `std` that make large values from
//! numbers have limits. An evaluation ends with an error if the memory of the process becomes larger than a limit,
//! after a maximum time, and if the run is interrupted.

mod control;
mod convert;
mod depth;
mod error;
mod evaluate;
mod imports;
mod limits;
mod memory;
mod message;
mod native;
mod session;
#[cfg(test)]
mod tests;

pub use control::EvaluationControl;
pub use error::{JsonnetError, SourcePosition, TracePoint};
#[cfg(test)]
pub(crate) use evaluate::Evaluated;
pub(crate) use evaluate::{Evaluation, evaluate};
pub(crate) use native::{NativeFunction, Natives};
