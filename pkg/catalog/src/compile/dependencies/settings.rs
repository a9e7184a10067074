//! The entries of `parameters.kapitan.dependencies`.

use std::fmt;

use serde::Deserialize;
use serde_json::Value;
use transport::address::redact_text;

use super::error::DependencyError;

/// The origin of fetched files.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Source {
    Chart { repository: String, name: String, version: String },
    Http { url: String, is_unpacked: bool },
    Git { url: String, reference: String, has_submodules: bool },
    Artifact { reference: String },
}

impl fmt::Display for Source {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Chart { repository, name, version } if version.is_empty() => {
                write!(out, "chart {name} of {}", redact_text(repository))
            }
            Self::Chart { repository, name, version } => {
                write!(out, "chart {name} {version} of {}", redact_text(repository))
            }
            Self::Http { url, .. } => out.write_str(&redact_text(url)),
            Self::Git { url, reference, .. } => write!(out, "{} of {}", reference, redact_text(url)),
            Self::Artifact { reference } => out.write_str(reference),
        }
    }
}

/// Files that a target needs.
#[derive(Clone, Debug)]
pub(super) struct Dependency {
    pub(super) source: Source,
    pub(super) output_path: String,
    pub(super) subfolder: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    #[serde(rename = "type")]
    kind: Kind,
    source: String,
    output_path: String,
    #[serde(rename = "force_fetch")]
    _force_fetch: Option<bool>,
    chart_name: Option<String>,
    version: Option<Value>,
    #[serde(rename = "helm_path")]
    _helm_path: Option<String>,
    #[serde(rename = "ref")]
    reference: Option<String>,
    subdir: Option<String>,
    submodules: Option<bool>,
    #[serde(default)]
    unpack: bool,
    subpath: Option<String>,
    #[serde(rename = "media_type")]
    _media_type: Option<String>,
    #[serde(rename = "insecure")]
    _insecure: Option<bool>,
    #[serde(rename = "tls_verify")]
    _tls_verify: Option<Value>,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Kind {
    Helm,
    Http,
    Https,
    Git,
    Oci,
}

impl Dependency {
    /// Reads the dependencies of a target.
    pub(super) fn all(target: &str, parameters: &Value) -> Result<Vec<Self>, DependencyError> {
        let invalid = |index, reason| DependencyError::Settings { target: target.to_owned(), index, reason };
        let entries = match parameters.pointer("/kapitan/dependencies") {
            None | Some(Value::Null) => return Ok(Vec::new()),
            Some(Value::Array(entries)) => entries,
            Some(_) => return Err(DependencyError::NotAList { target: target.to_owned() }),
        };
        let read = |(index, entry): (usize, &Value)| {
            let entry = Entry::deserialize(entry).map_err(|error| invalid(index, error.to_string()))?;
            Self::of(entry).map_err(|reason| invalid(index, reason))
        };
        entries.iter().enumerate().map(read).collect()
    }

    fn of(entry: Entry) -> Result<Self, String> {
        let Entry { source, output_path, subdir, .. } = entry;
        let (source, subfolder) = match entry.kind {
            Kind::Helm => {
                let name = entry.chart_name.ok_or("missing field `chart_name`")?;
                let version = match entry.version {
                    None | Some(Value::Null) => String::new(),
                    Some(Value::String(version)) => version,
                    Some(other) => other.to_string(),
                };
                (Source::Chart { repository: source, name, version }, None)
            }
            Kind::Http | Kind::Https => (Source::Http { url: source, is_unpacked: entry.unpack }, None),
            Kind::Git => {
                let reference = entry.reference.unwrap_or_else(|| "HEAD".to_owned());
                let has_submodules = entry.submodules == Some(true);
                (Source::Git { url: source, reference, has_submodules }, subdir)
            }
            Kind::Oci => (Source::Artifact { reference: source }, entry.subpath),
        };
        Ok(Self { source, output_path, subfolder })
    }
}
