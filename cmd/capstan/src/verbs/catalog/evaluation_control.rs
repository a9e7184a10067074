use catalog::EvaluationControl;

use crate::{Failure, session::Session, verbs::lifecycle::duration_of};

/// Reads the time limit of Jsonnet programs. From now on, Ctrl-C ends a running program and lets the verb clean up.
pub(super) fn evaluation_control(session: &Session) -> Result<EvaluationControl, Failure> {
    let control = EvaluationControl::default().interrupted_by(session.defer_interrupts());
    match session.environment().text("CAPSTAN_JSONNET_TIMEOUT") {
        Some(text) => Ok(control.with_timeout(duration_of("CAPSTAN_JSONNET_TIMEOUT", text)?)),
        None => Ok(control),
    }
}
