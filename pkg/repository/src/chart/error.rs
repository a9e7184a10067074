#![expect(missing_docs, reason = "the message of a variant names its fields")]

use api::{ErrorExplanation, Explain, one_of, output::ErrorKind, shell_word};
use chart::IndexError;
use transport::{Digest, InvalidDigest, RequestFailure};

use crate::LocationError;

/// A chart that cannot be fetched.
#[derive(Clone, Debug, thiserror::Error)]
pub enum ChartSourceError {
    #[error("cannot find chart `{chart}`: it is neither a file, a folder nor a URL")]
    NoRepository { chart: String },
    #[error("`{chart}` is a URL; it cannot be combined with the repository `{url}`")]
    SurplusRepository { chart: String, url: String },
    #[error("`{url}` has no name of a chart")]
    NoChartName { url: String },
    #[error("cannot use the URL of a chart")]
    Url {
        #[source]
        source: transport::Error,
    },
    #[error("cannot use the reference `{reference}`")]
    Reference {
        reference: String,
        #[source]
        source: LocationError,
    },
    #[error("cannot read the chart repository `{repository}`")]
    IndexRequest {
        repository: String,
        #[source]
        source: transport::Error,
    },
    #[error("cannot find chart `{chart}` in `{repository}`")]
    Index {
        chart: String,
        repository: String,
        #[source]
        source: Box<IndexError>,
    },
    #[error("cannot find {} of {chart}", version_text(.range))]
    NoVersion { chart: String, range: String, newest: Vec<String>, count: usize, has_prereleases_only: bool },
    #[error("chart `{chart}` {version} has no URL in the index of `{repository}`")]
    NoUrl { chart: String, version: String, repository: String },
    #[error("cannot use URL `{url}` of chart `{chart}` in the index of `{repository}`")]
    ArchiveUrl { url: String, chart: String, repository: String },
    #[error("the index of `{repository}` has an invalid digest for chart `{chart}` {version}")]
    IndexedDigest {
        chart: String,
        version: String,
        repository: String,
        #[source]
        source: InvalidDigest,
    },
    #[error("cannot fetch chart `{address}`")]
    Request {
        address: String,
        #[source]
        source: transport::Error,
    },
    #[error("cannot use version `{version}` of `{reference}`: the reference has the tag `{tag}`")]
    TagMismatch { reference: String, version: String, tag: String },
    #[error("the tag `{tag}` of `{reference}` has digest {found}, expected {expected}")]
    MovedTag { reference: String, tag: String, expected: Digest, found: Digest },
    #[error("`{address}` is not a Helm chart; its content is `{media_type}`")]
    NotAChart { address: String, media_type: String },
    #[error("`{address}` has no layer with the archive of a Helm chart")]
    NoArchive { address: String },
    #[error("`{address}` has {found} Helm charts, not one")]
    NotOneChart { address: String, found: usize },
    /// The content of a registry cannot be used.
    #[error(transparent)]
    Repository(#[from] crate::Error),
}

fn version_text(range: &str) -> String {
    match range {
        "" => "a release".to_owned(),
        range => format!("version `{range}`"),
    }
}

impl ChartSourceError {
    /// True if a connection is required but connections are forbidden.
    pub fn is_offline(&self) -> bool {
        match self {
            Self::IndexRequest { source, .. } | Self::Request { source, .. } => {
                matches!(source, transport::Error::Offline { .. } | transport::Error::DamagedOffline { .. })
            }
            Self::Repository(error) => error.is_offline(),
            _ => false,
        }
    }
}

impl Explain for ChartSourceError {
    fn explain(&self) -> ErrorExplanation<'_> {
        match self {
            Self::NoRepository { chart } => ErrorExplanation::hint(match chart.split_once('/') {
                Some((_, name)) => format!(
                    "repositories of `helm repo add` are not supported; use the URL: `{} --repo URL`",
                    shell_word(name)
                ),
                None => format!(
                    "select the repository of the chart with `{} --repo URL`, or a chart in a registry as `oci://HOST/PATH`",
                    shell_word(chart)
                ),
            })
            .with_kind(ErrorKind::User),
            Self::SurplusRepository { .. } => {
                ErrorExplanation::hint("omit `--repo`, or use only the name of the chart").with_kind(ErrorKind::User)
            }
            Self::NoChartName { url } => ErrorExplanation::hint(format!(
                "add the name of the chart to the URL of its repository, such as `{}/web`",
                url.trim_end_matches('/')
            ))
            .with_kind(ErrorKind::User),
            Self::Url { source } => ErrorExplanation::hint("use a URL with `https://` or `oci://`")
                .with_kind(ErrorKind::User)
                .because(source),
            Self::Reference { source, .. } => ErrorExplanation::cause(source).with_kind(ErrorKind::User),
            Self::IndexRequest { source, .. } if is_not_an_index(source) => ErrorExplanation::hint(
                "check the URL: a chart repository has a file `index.yaml`; name charts in a registry as `oci://HOST/PATH`",
            )
            .because(source),
            Self::Index { source, .. } => ErrorExplanation::cause(source),
            Self::NoVersion { newest, count, has_prereleases_only, .. } => {
                let mut hints = Vec::new();
                if *has_prereleases_only {
                    hints.push("only pre-releases exist; allow them with `--devel`".to_owned());
                }
                hints.push(newest_versions(newest, *count));
                ErrorExplanation::hints(hints).with_kind(ErrorKind::User)
            }
            Self::IndexedDigest { source, .. } => ErrorExplanation::cause(source),
            Self::IndexRequest { source, .. } | Self::Request { source, .. } => request_cause(source),
            Self::TagMismatch { .. } => {
                ErrorExplanation::hint("omit `--version`, or omit the tag").with_kind(ErrorKind::User)
            }
            Self::MovedTag { .. } => {
                ErrorExplanation::hint("the tag has moved; review the new chart, or omit the tag and the version")
            }
            Self::NotAChart { .. } => {
                ErrorExplanation::hint("check the path; `helm push` adds the name of the chart to it")
            }
            Self::Repository(error) => error.explain(),
            Self::NoArchive { .. } | Self::NoUrl { .. } | Self::ArchiveUrl { .. } | Self::NotOneChart { .. } => ErrorExplanation::default(),
        }
    }
}

/// Explains a request. The general hint of offline mode is about providers.
fn request_cause(source: &transport::Error) -> ErrorExplanation<'_> {
    match source {
        transport::Error::Offline { .. } | transport::Error::DamagedOffline { .. } => ErrorExplanation::hint(
            "run the command once online, without `--offline` or `CAPSTAN_OFFLINE`, or use a `.tgz` archive",
        ),
        source => ErrorExplanation::cause(source),
    }
}

fn is_not_an_index(source: &transport::Error) -> bool {
    let is_page = source.request().is_some_and(|request| matches!(request.failure, RequestFailure::WebPage));
    source.is_missing() || is_page
}

fn newest_versions(newest: &[String], count: usize) -> String {
    let more = count.saturating_sub(newest.len());
    match (newest, more) {
        ([], _) => "check the address and your access: hosts report private charts as missing".to_owned(),
        ([one], 0) => format!("the only version is `{one}`"),
        (all, 0) => format!("the versions are {}", one_of(all).replace("` or `", "` and `")),
        (all, more) => {
            let quoted: Vec<String> = all.iter().map(|version| format!("`{version}`")).collect();
            format!("the newest versions are {} and {more} more", quoted.join(", "))
        }
    }
}
