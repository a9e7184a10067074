//! YAML documents with their comments.

mod arrange;
mod comments;
mod read;
mod write;

pub(crate) use read::read;
pub(crate) use write::write;

/// The columns that one level adds.
const INDENT: usize = 4;
