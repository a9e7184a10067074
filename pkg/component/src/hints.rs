//! Next steps after errors about Components.

use api::{ErrorExplanation, Explain, output::ErrorKind};

use crate::FieldProblem;

impl Explain for FieldProblem {
    fn explain(&self) -> ErrorExplanation<'_> {
        ErrorExplanation::kind(ErrorKind::User)
    }
}
