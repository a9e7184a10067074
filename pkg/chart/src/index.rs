//! The index of a repository, `index.yaml`: the versions of one chart in an index with thousands of charts.
//!
//! ```text
//! text ─┬─ JSON ──────────────► serde, other charts are skipped ─┐
//!       ├─ as Helm prints it ─► the lines of one chart ─► YAML ──┼─► versions
//!       └─ other YAML ────────► the whole text ─► YAML ──────────┘
//! ```
//!
//! Source: Helm 3.22 pkg/repo/index.go. Differs: unknown and repeated fields are accepted.

mod json;
mod lines;

use manifest::yaml::{self, YamlError, YamlLimits};
use manifest::{Value, type_name};

use crate::decode::{Fields, TypeError};

/// The largest index in another layout than Helm's, as all of it is read into values.
const MAX_OTHER_BYTES: usize = 32 << 20;

/// One version of a chart in an index.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IndexedVersion {
    /// The version as written in the index.
    pub version: String,
    /// The addresses of the archive, each absolute or relative to the repository.
    pub urls: Vec<String>,
    /// The SHA-256 digest of the archive; empty if the index has none.
    pub digest: String,
}

/// An index that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs)]
pub enum IndexError {
    #[error("the index is empty")]
    Empty,
    #[error("cannot parse the index: {0}")]
    Yaml(YamlError),
    #[error("the index is {found}, not a mapping")]
    NotAMapping { found: &'static str },
    #[error("the index has no `apiVersion`")]
    NoApiVersion,
    #[error("`entries` of the index is {found}, not a mapping")]
    Entries { found: &'static str },
    #[error("cannot read the versions of chart `{chart}` in the index: {error}")]
    Field { chart: String, error: TypeError },
    #[error("the index has {size_bytes} bytes; the limit is {limit_bytes} unless helm wrote it")]
    TooLarge { size_bytes: usize, limit_bytes: usize },
    #[error("the index has no chart `{chart}`")]
    UnknownChart {
        chart: String,
        /// Charts with a similar name.
        near: Vec<String>,
        /// The number of charts in the index.
        count: usize,
    },
}

/// The parts of an index that count for one chart.
#[derive(Debug, Default)]
struct Found {
    has_api_version: bool,
    versions: Option<Value>,
    /// All charts of the index.
    names: Vec<String>,
}

/// Returns the versions of a chart, in the order of the index. Omits entries that Helm ignores: without a name,
/// without a version, or with a version that is not semantic.
///
/// # Errors
/// An index that cannot be parsed, and a chart that it does not have.
pub fn chart_versions(index: &[u8], chart: &str) -> Result<Vec<IndexedVersion>, IndexError> {
    let text = String::from_utf8_lossy(index);
    let text = text.strip_prefix('\u{FEFF}').unwrap_or(&text);
    if text.trim_ascii_start().is_empty() {
        return Err(IndexError::Empty);
    }
    let found = match json::find(text, chart).or_else(|| lines::find(text, chart)) {
        Some(found) => found,
        None => find_in_values(text, chart)?,
    };
    if !found.has_api_version {
        return Err(IndexError::NoApiVersion);
    }
    let Some(versions) = found.versions else {
        let near = api::similar_names(chart, found.names.iter().map(String::as_str));
        let near = near.into_iter().map(str::to_owned).collect();
        return Err(IndexError::UnknownChart { chart: chart.to_owned(), near, count: found.names.len() });
    };
    read_versions(&versions).map_err(|error| IndexError::Field { chart: chart.to_owned(), error })
}

/// Reads the whole index.
fn find_in_values(text: &str, chart: &str) -> Result<Found, IndexError> {
    if text.len() > MAX_OTHER_BYTES {
        return Err(IndexError::TooLarge { size_bytes: text.len(), limit_bytes: MAX_OTHER_BYTES });
    }
    let mut index = match yaml::read_value(text, &YamlLimits::default()).map_err(IndexError::Yaml)? {
        Value::Object(index) => index,
        Value::Null => return Err(IndexError::Empty),
        other => return Err(IndexError::NotAMapping { found: type_name(&other) }),
    };
    let mut entries = match index.remove("entries") {
        None | Some(Value::Null) => manifest::Map::new(),
        Some(Value::Object(entries)) => entries,
        Some(other) => return Err(IndexError::Entries { found: type_name(&other) }),
    };
    let versions = entries.remove(chart);
    Ok(Found {
        has_api_version: has_api_version(index.get("apiVersion")),
        versions,
        names: entries.into_iter().map(|(name, _)| name).collect(),
    })
}

/// True for a value that Helm accepts as the version of the format.
fn has_api_version(value: Option<&Value>) -> bool {
    !matches!(value, None | Some(Value::Null)) && value.and_then(Value::as_str) != Some("")
}

fn read_versions(json: &Value) -> Result<Vec<IndexedVersion>, TypeError> {
    let entries = serde_json::json!({ "entries": json });
    let entries = Fields::of(&entries, "IndexFile", "repo.IndexFile")?;
    let items = entries.list("entries", "repo.ChartVersions")?.unwrap_or_default();
    let mut versions = Vec::with_capacity(items.len());
    for item in items.iter().filter(|item| !item.is_null()) {
        let fields = Fields::of(item, "ChartVersion", "repo.ChartVersion")?;
        let (mut name, mut read) = (String::new(), IndexedVersion::default());
        fields.text("name", &mut name)?;
        fields.text("version", &mut read.version)?;
        fields.text("digest", &mut read.digest)?;
        fields.texts("urls", &mut read.urls)?;
        if !name.is_empty() && template::is_version(&read.version) {
            versions.push(read);
        }
    }
    Ok(versions)
}

#[cfg(test)]
mod tests;
