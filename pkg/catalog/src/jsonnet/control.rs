//! The end of programs from outside: a time limit, the memory of the process, and the interruption of the run.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::error::JsonnetError;
use super::memory;

/// The default maximum time of one program.
const DEFAULT_TIMEOUT: Duration = Duration::from_mins(5);

/// Ends programs that run too long, and all programs after an interruption. Clones share their state.
#[derive(Clone, Debug)]
pub struct EvaluationControl {
    /// The maximum time of one program.
    timeout: Duration,
    /// True after an interruption of the run.
    interrupted: Arc<AtomicBool>,
    /// True after the thread of a program was left alone.
    abandoned: Arc<AtomicBool>,
}

impl Default for EvaluationControl {
    fn default() -> Self {
        Self { timeout: DEFAULT_TIMEOUT, interrupted: Arc::default(), abandoned: Arc::default() }
    }
}

impl EvaluationControl {
    /// Sets the maximum time of one program.
    #[must_use]
    pub fn with_timeout(self, timeout: Duration) -> Self {
        Self { timeout, ..self }
    }

    /// Ends programs as soon as a flag is true.
    #[must_use]
    pub fn interrupted_by(self, interrupted: Arc<AtomicBool>) -> Self {
        Self { interrupted, ..self }
    }

    /// True if a program did not end and still runs, because nothing can stop it. No further work should start.
    pub fn has_abandoned_program(&self) -> bool {
        self.abandoned.load(Ordering::Relaxed)
    }

    /// True if no further target should start.
    pub(crate) fn is_stopped(&self) -> bool {
        self.has_abandoned_program() || self.interrupted.load(Ordering::Relaxed)
    }

    /// Returns an error if a program must not run any longer. Its thread must then be left alone.
    pub(super) fn check(&self, file: &Path, started_at: Instant) -> Result<(), JsonnetError> {
        let error = if self.interrupted.load(Ordering::Relaxed) {
            JsonnetError::interrupted(file)
        } else if memory::is_full() {
            JsonnetError::out_of_memory(file)
        } else if started_at.elapsed() > self.timeout {
            JsonnetError::timed_out(file, self.timeout)
        } else {
            return Ok(());
        };
        self.abandoned.store(true, Ordering::Relaxed);
        Err(error)
    }
}
