//! Shell completion: the script that registers it, and the answers the script asks for.
//!
//! ```text
//! `completion bash` ─► script ─► shell ─► this binary with CAPSTAN_COMPLETE=bash -- words ─► candidates
//! ```
//!
//! Answering never waits for a repository: what is not on this machine is not offered. Names of objects are asked of the
//! management cluster, for two seconds at most.

mod answer;
mod candidates;
mod shell;

pub(crate) use answer::answer;
pub(crate) use candidates::Candidates;
pub(crate) use shell::{Shell, VARIABLE, script};
