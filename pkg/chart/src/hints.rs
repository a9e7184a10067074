//! Next steps after a chart that cannot be loaded or rendered.

use api::{ErrorExplanation, Explain, one_of, output::ErrorKind, similar_names};
use template::Problem;

use crate::archive::ArchiveError;
use crate::capabilities::KubeVersionError;
use crate::error::{ChartError, TemplatePosition};
use crate::folder::FolderError;
use crate::ignore::IgnoreError;
use crate::index::IndexError;
use crate::print::NoSuchTemplate;
use crate::provenance::ObjectsError;
use crate::release::ReleaseNameError;
use crate::values::ValuesError;
use crate::version_range::VersionRangeError;

impl Explain for ChartError {
    fn explain(&self) -> ErrorExplanation<'_> {
        match self {
            Self::NoChartFile { near } if near.is_empty() => {
                ErrorExplanation::hint("use a folder with a `Chart.yaml`, or a `.tgz` archive")
            }
            Self::NoChartFile { near } => ErrorExplanation::hint(format!("did you mean {}?", one_of(near))),
            Self::Subchart { error, .. } => error.explain(),
            Self::Archive(error) => error.explain(),
            Self::MissingDependencies { present, .. } => {
                let fetch = "fetch the missing charts with `--dependency-update` for this run, or into `charts/` with \
                             `helm dependency build`";
                ErrorExplanation::hint(match present.as_slice() {
                    [] => fetch.to_owned(),
                    present => format!("`charts/` contains only {}; {fetch}", present.join(", ")),
                })
            }
            Self::NotInstallable { .. } => {
                ErrorExplanation::hint("render a chart that depends on this library")
            }
            Self::SubchartValues { name, .. } => {
                ErrorExplanation::hint(format!("set the values of subchart `{name}` to a mapping"))
            }
            Self::Schema { .. } => ErrorExplanation::hint(
                "correct the values, or skip the check with `--skip-schema-validation`",
            ),
            Self::KubeVersion { .. } => {
                ErrorExplanation::hint("set the version of your cluster with `--kube-version`")
            }
            Self::Template { required, .. } if required.len() > 1 => {
                ErrorExplanation::texts(required.iter().map(|position| {
                    let TemplatePosition { file, line, .. } = position;
                    format!("{file}:{line}: {}", position.message().unwrap_or_default())
                }))
                .with_hint("set all of these values")
            }
            Self::Template { position: Some(position), .. } => template_hint(position),
            Self::ManifestYaml { template, error, .. } => ErrorExplanation::hint(format!(
                "check the indentation near line {} of this document of `{template}`",
                error.line
            )),
            Self::Yaml { .. }
            | Self::Field { .. }
            | Self::Values(_)
            | Self::Metadata(_)
            | Self::ArchiveIsFolder { .. }
            | Self::TooDeep { .. }
            | Self::OutputTooLarge { .. }
            | Self::ValuesTooDeep
            | Self::Template { position: None, .. }
            | Self::ReleaseName(_)
            | Self::ManifestField { .. } => ErrorExplanation::default(),
        }
        .with_kind(ErrorKind::User)
    }
}

fn template_hint(position: &TemplatePosition) -> ErrorExplanation<'static> {
    let TemplatePosition { file, line, problem, .. } = position;
    let at = format!("line {line} of `{file}`");
    ErrorExplanation::hint(match problem {
        Problem::Nil { path, near, .. } if near.is_empty() => format!("{at}: set a value for `{path}`"),
        Problem::Nil { path, near, .. } => {
            format!("{at}: `{path}` has no value; similar names are {}", one_of(near))
        }
        Problem::MissingKey { path, near } | Problem::NoTemplate { name: path, near } if !near.is_empty() => {
            match path.as_str() {
                "" => format!("{at}: similar names are {}", one_of(near)),
                path => format!("{at}: `{path}` does not exist; similar names are {}", one_of(near)),
            }
        }
        _ => return ErrorExplanation::default(),
    })
}

impl Explain for FolderError {
    fn explain(&self) -> ErrorExplanation<'_> {
        match self {
            Self::Tree(_) | Self::Outside { .. } => ErrorExplanation::default(),
            Self::Ignore { error, .. } => error.explain(),
            Self::TooLarge { .. } => {
                ErrorExplanation::hint("add the file to `.helmignore`").with_kind(ErrorKind::User)
            }
            Self::Loop { .. } => ErrorExplanation::hint("remove the link").with_kind(ErrorKind::User),
        }
    }
}

impl Explain for ArchiveError {
    fn explain(&self) -> ErrorExplanation<'_> {
        match self {
            Self::AbsolutePath { entry } | Self::ParentDirectory { entry } | Self::IllegalName { entry } => {
                ErrorExplanation::hint(format!("pack the chart again without the entry `{entry}`"))
            }
            Self::Link { .. } => ErrorExplanation::hint("pack the chart again with files instead of links"),
            Self::NotGzip
            | Self::Unreadable(_)
            | Self::Empty
            | Self::OutsideBase { .. }
            | Self::ChartFileOutsideBase
            | Self::TooLarge { .. }
            | Self::FileTooLarge { .. } => {
                ErrorExplanation::hint("pack the folder of the chart with `helm package`")
            }
        }
    }
}

impl Explain for ValuesError {
    fn explain(&self) -> ErrorExplanation<'_> {
        match self {
            Self::File { .. } => ErrorExplanation::default(),
            Self::Assignment { .. } => ErrorExplanation::hint(
                "use `NAME=VALUE,…`; write `\\` before each `,` or `.` that is part of a name or value",
            ),
        }
        .with_kind(ErrorKind::User)
    }
}

impl Explain for NoSuchTemplate {
    fn explain(&self) -> ErrorExplanation<'_> {
        let near = similar_names(&self.pattern, self.printed.iter().map(String::as_str));
        let explanation = if near.is_empty() {
            ErrorExplanation::default()
        } else {
            ErrorExplanation::hint(format!("similar names are {}", one_of(&near)))
        };
        explanation.with_kind(ErrorKind::User)
    }
}

impl Explain for ObjectsError {
    fn explain(&self) -> ErrorExplanation<'_> {
        match self {
            Self::NoSuchTemplate(error) => error.explain(),
            Self::Chart(error) => error.explain(),
        }
    }
}

impl Explain for KubeVersionError {
    fn explain(&self) -> ErrorExplanation<'_> {
        ErrorExplanation::hint("use a version such as `1.36.0`").with_kind(ErrorKind::User)
    }
}

impl Explain for ReleaseNameError {}

impl Explain for IgnoreError {
    fn explain(&self) -> ErrorExplanation<'_> {
        ErrorExplanation::hint(format!("correct line {} of `.helmignore`: `{}`", self.line, self.pattern))
            .with_kind(ErrorKind::User)
    }
}

impl Explain for IndexError {
    fn explain(&self) -> ErrorExplanation<'_> {
        match self {
            Self::UnknownChart { near, .. } if !near.is_empty() => {
                ErrorExplanation::hint(format!("did you mean {}?", one_of(near))).with_kind(ErrorKind::User)
            }
            Self::UnknownChart { count, .. } => {
                ErrorExplanation::hint(format!("the index has {count} charts")).with_kind(ErrorKind::User)
            }
            Self::TooLarge { .. } => ErrorExplanation::hint("regenerate the index with `helm repo index`"),
            Self::Empty
            | Self::Yaml(_)
            | Self::NotAMapping { .. }
            | Self::NoApiVersion
            | Self::Entries { .. }
            | Self::Field { .. } => {
                ErrorExplanation::hint("check that the URL belongs to a chart repository")
            }
        }
    }
}

impl Explain for VersionRangeError {
    fn explain(&self) -> ErrorExplanation<'_> {
        ErrorExplanation::hint("use a version such as `1.2.3`, or a range such as `>=1.2 <2` or `~1.2`")
            .with_kind(ErrorKind::User)
    }
}
