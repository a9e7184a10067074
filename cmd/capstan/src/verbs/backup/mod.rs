//! `backup`: Clusters in one file, and a look at such a file.

mod make;
pub(super) mod sealing;
pub(super) mod verify;

pub(crate) use make::{Backup, run};
