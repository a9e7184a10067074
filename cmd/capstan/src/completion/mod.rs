//! Shell completion: the registration script, and the candidates that the script requests.
//!
//! ```text
//! `completion bash` ─► script ─► shell ─► this binary with CAPSTAN_COMPLETE=bash -- words ─► candidates
//! ```
//!
//! Completion never waits for a repository and offers only local data. Reading object names from the management
//! cluster takes at most two seconds.

mod candidates;
mod complete;
mod shell;

pub(crate) use candidates::Candidates;
pub(crate) use complete::complete;
pub(crate) use shell::{COMPLETION_VARIABLE, Shell, cobra_answer, requested_by_cobra, script};
