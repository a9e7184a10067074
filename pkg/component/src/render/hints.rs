//! Next steps after a source that cannot be rendered.

use api::{ErrorExplanation, Explain, output::ErrorKind};

use super::error::{RenderError, RenderProblem};

impl Explain for RenderError {
    fn explain(&self) -> ErrorExplanation<'_> {
        match self.problems.as_slice() {
            [problem] => problem.explain(),
            problems => ErrorExplanation::errors(problems),
        }
        .with_kind(ErrorKind::User)
    }
}

impl Explain for RenderProblem {
    fn explain(&self) -> ErrorExplanation<'_> {
        match self {
            Self::Template(error) | Self::Chart { error, .. } => error.explain(),
            Self::Decrypt { error, .. } => error.explain(),
            Self::PathMissing { .. } | Self::PathNotAFolder { .. } => {
                ErrorExplanation::hint("check `spec.path` and the files that the source includes")
            }
            Self::PathOutside { .. } => ErrorExplanation::hint(
                "write `spec.path` from the root of the source, without `/` at its start",
            ),
            Self::Include { .. } => {
                ErrorExplanation::hint("files inside the kustomization need no entry; remove it")
            }
            Self::FileName { .. } => {
                ErrorExplanation::hint("rename the file, or add it to `.component-ignore`")
            }
            Self::NoSubchart { name, .. } => {
                ErrorExplanation::hint(format!("unpack the chart into `charts/{name}`"))
            }
            Self::Remote { .. } => ErrorExplanation::hint("copy the files into the source"),
            _ => ErrorExplanation::default(),
        }
        .with_kind(ErrorKind::User)
    }
}
