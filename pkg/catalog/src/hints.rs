//! Next steps after an error of a catalog.

use api::{ErrorExplanation, Explain, output::ErrorKind};

use crate::CatalogError;
use crate::cluster::LieutenantError;
use crate::cookiecutter::CookiecutterError;
use crate::reclass::{ClassError, InventoryError, ParameterProblem, ProblemKind, RenderError, TargetProblem};

impl Explain for CatalogError {
    fn explain(&self) -> ErrorExplanation<'_> {
        match self {
            Self::Rule { hints, .. } => ErrorExplanation::hints(hints).with_kind(ErrorKind::User),
            Self::Rules { problems, .. } | Self::Manifests { problems } => {
                ErrorExplanation::texts(problems.iter().cloned()).with_kind(ErrorKind::User)
            }
            Self::Cluster(error) | Self::List(error) | Self::Report(error) => error.explain(),
            Self::Inventory(error) => error.explain(),
            Self::Jsonnet(error) => error.explain(),
            Self::Render { source, .. } => ErrorExplanation::cause(source),
            Self::Fetch { source, .. } | Self::Push { source } => ErrorExplanation::cause(&**source),
            Self::GitHub { source, .. } => ErrorExplanation::cause(&**source),
            Self::Template { source, .. } => match &**source {
                CookiecutterError::Hook { error, .. } => ErrorExplanation::hints(&error.hints),
                _ => ErrorExplanation::default(),
            }
            .with_kind(ErrorKind::User),
            Self::Libraries { .. } => ErrorExplanation::default(),
            Self::Disk { source, .. } => ErrorExplanation::cause(source),
        }
    }
}

impl Explain for LieutenantError {
    fn explain(&self) -> ErrorExplanation<'_> {
        match self {
            Self::Status { status: 401 | 403, .. } => ErrorExplanation::hint(
                "log in with `capstan catalog login`, or pass a token or its file with `--api-token`",
            ),
            Self::Status { status: 404, .. } => {
                ErrorExplanation::hint("check the id; list the known clusters with `capstan catalog list`")
            }
            Self::Connect { source, .. } => ErrorExplanation::cause(&**source),
            _ => ErrorExplanation::default(),
        }
    }
}

impl Explain for InventoryError {
    fn explain(&self) -> ErrorExplanation<'_> {
        match self {
            Self::Collision { second, .. } => {
                ErrorExplanation::hint(format!("delete or rename `{}`", second.display()))
            }
            _ => ErrorExplanation::default(),
        }
    }
}

impl Explain for RenderError {
    fn explain(&self) -> ErrorExplanation<'_> {
        match self {
            Self::UnknownTarget { similar, .. } => ErrorExplanation::hints(did_you_mean(similar)),
            Self::Problems { problems, .. } => ErrorExplanation::errors(problems),
        }
        .with_kind(ErrorKind::User)
    }
}

impl Explain for TargetProblem {
    fn explain(&self) -> ErrorExplanation<'_> {
        match self {
            Self::Class(ClassError::NotFound { similar, .. }) => {
                ErrorExplanation::hints(did_you_mean(similar))
            }
            Self::Class(_) => ErrorExplanation::default(),
            Self::Parameter(problem) => problem.explain(),
        }
    }
}

impl Explain for ParameterProblem {
    fn explain(&self) -> ErrorExplanation<'_> {
        match &self.kind {
            ProblemKind::MissingKey { similar, .. } if similar.is_empty() => ErrorExplanation::hint(
                "define each missing parameter in a class, or give its reference a default: `${NAME::DEFAULT}`",
            ),
            ProblemKind::MissingKey { similar, .. } => ErrorExplanation::hints(did_you_mean(similar)),
            ProblemKind::Constant { key, .. } => ErrorExplanation::hint(format!(
                "remove `{key}` from the later class, or the prefix `=` from the earlier one"
            )),
            ProblemKind::Mismatch { .. } => {
                ErrorExplanation::hint("to replace the earlier value, write the key with the prefix `~`")
            }
            _ => ErrorExplanation::default(),
        }
    }
}

fn did_you_mean(similar: &[String]) -> Option<String> {
    let names: Vec<String> = similar.iter().map(|name| format!("`{name}`")).collect();
    (!names.is_empty()).then(|| format!("did you mean {}?", names.join(" or ")))
}
