//! Shell completion: the registration script, and the candidates that the script requests.
//!
//! ```text
//! `completion bash` ─► script ─► shell ─► this binary with CAPSTAN_COMPLETE=bash -- words ─► candidates
//! ```
//!
//! Completion never waits for a repository and offers only local data. Reading object names from the management
//! cluster takes at most two seconds.

mod answer;
mod candidates;
mod shell;

pub(crate) use answer::answer;
pub(crate) use candidates::Candidates;
pub(crate) use shell::{Shell, VARIABLE, script};
