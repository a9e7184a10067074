//! `backup`: Clusters in one file, and a look at such a file.

mod destination;
mod inspect;
mod make;
pub(super) mod report;
pub(super) mod sealing;
mod verify;

pub(crate) use make::{Backup, run};
