//! `backup`: saves Clusters to one file, and inspects such files.

mod create;
mod destination;
pub(super) mod encryption;
pub(super) mod inspect;

pub(crate) use create::{Backup, run};
