//! `backup`: Clusters in one file, and a look at such a file.

mod destination;
pub(super) mod inspect;
mod make;
pub(super) mod sealing;

pub(crate) use make::{Backup, run};
