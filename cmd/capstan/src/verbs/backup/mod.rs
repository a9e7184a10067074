//! `backup`: saves Clusters to one file, and inspects such files.

mod destination;
pub(super) mod inspect;
mod make;
pub(super) mod sealing;

pub(crate) use make::{Backup, run};
