//! `backup`: Clusters in one file, and a look at such a file.

mod destination;
mod make;
mod read;
pub(super) mod report;
pub(super) mod sealing;

pub(crate) use make::{Backup, run};
