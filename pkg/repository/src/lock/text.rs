use std::{collections::BTreeMap, fmt};

use serde::Deserialize;
use transport::Digest;

use super::{LockFile, LockedFile, LockedFileOrigin, LockedProvider};

/// The format version that is written, and the only one that is read.
const VERSION: i64 = 1;

const HEAD: &str = "# Written by `capstan lock`. Keep it beside the configuration, and review its changes.";

/// A lock file that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the message of a variant names its fields")]
pub enum LockError {
    #[error("it has version {version}, but only version {VERSION} is supported")]
    Version { version: i64 },
    #[error("line {line}: {message}")]
    Form { line: usize, message: String },
    #[error("{what} occurs twice")]
    Duplicate { what: String },
}

#[derive(Deserialize)]
struct FormatVersion {
    version: i64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    #[serde(rename = "version")]
    _version: i64,
    #[serde(default)]
    provider: Vec<ProviderTable>,
    #[serde(default)]
    chart: Vec<ChartTable>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ProviderTable {
    label: String,
    version: String,
    url: String,
    #[serde(default)]
    file: Vec<FileTable>,
    #[serde(default)]
    image: Vec<ImageTable>,
    #[serde(default)]
    kustomization: Vec<KustomizationTable>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FileTable {
    name: String,
    digest: Digest,
    origin: LockedFileOrigin,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ImageTable {
    reference: String,
    digest: Option<Digest>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct KustomizationTable {
    file: String,
    digest: Digest,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ChartTable {
    url: String,
    version: String,
    digest: Digest,
}

impl LockFile {
    /// Parses a lock file.
    /// # Errors
    /// Fails with the line of a syntax error, with a duplicate entry, or with an unsupported format version.
    pub fn parse(text: &str) -> Result<Self, LockError> {
        let form = |error: toml::de::Error| {
            let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
            let line = before.bytes().filter(|byte| *byte == b'\n').count() + 1;
            LockError::Form { line, message: error.message().to_owned() }
        };
        // A newer format may have unknown fields, so the version is checked first.
        let FormatVersion { version } = toml::from_str(text).map_err(form)?;
        if version != VERSION {
            return Err(LockError::Version { version });
        }
        let document: Document = toml::from_str(text).map_err(form)?;
        let mut providers = BTreeMap::new();
        for table in document.provider {
            let (label, provider) = table.read()?;
            insert(&mut providers, label, provider, |label| format!("`{label}`"))?;
        }
        let mut charts: BTreeMap<String, BTreeMap<String, Digest>> = BTreeMap::new();
        for ChartTable { url, version, digest } in document.chart {
            let what = |version: &String| format!("`{version}` of chart `{url}`");
            insert(charts.entry(url.clone()).or_default(), version, digest, what)?;
        }
        Ok(Self { providers, charts })
    }
}

impl ProviderTable {
    fn read(self) -> Result<(String, LockedProvider), LockError> {
        let (mut files, mut images) = (BTreeMap::new(), BTreeMap::new());
        let label = self.label;
        let what = |name: &String| format!("`{name}` of `{label}`");
        for FileTable { name, digest, origin } in self.file {
            insert(&mut files, name, LockedFile { digest, origin }, what)?;
        }
        for ImageTable { reference, digest } in self.image {
            insert(&mut images, reference, digest, what)?;
        }
        let mut kustomization = BTreeMap::new();
        let file_of = |name: &String| format!("`{name}` of the kustomization of `{label}`");
        for KustomizationTable { file, digest } in self.kustomization {
            insert(&mut kustomization, file, digest, file_of)?;
        }
        Ok((label, LockedProvider { version: self.version, url: self.url, files, images, kustomization }))
    }
}

fn insert<V>(
    map: &mut BTreeMap<String, V>,
    key: String,
    value: V,
    what: impl Fn(&String) -> String,
) -> Result<(), LockError> {
    if map.contains_key(&key) {
        return Err(LockError::Duplicate { what: what(&key) });
    }
    map.insert(key, value);
    Ok(())
}

/// Renders the lock file: one fact per line, sorted by name. Equal locks give equal text.
impl fmt::Display for LockFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{HEAD}\nversion = {VERSION}")?;
        for (label, provider) in &self.providers {
            writeln!(f, "\n[[provider]]")?;
            write_field(f, "label", label)?;
            write_field(f, "version", &provider.version)?;
            write_field(f, "url", &provider.url)?;
            for (name, file) in &provider.files {
                writeln!(f, "\n[[provider.file]]")?;
                write_field(f, "name", name)?;
                write_field(f, "digest", &file.digest.to_string())?;
                write_field(f, "origin", file.origin.as_str())?;
            }
            for (reference, digest) in &provider.images {
                writeln!(f, "\n[[provider.image]]")?;
                write_field(f, "reference", reference)?;
                if let Some(digest) = digest {
                    write_field(f, "digest", &digest.to_string())?;
                }
            }
            for (file, digest) in &provider.kustomization {
                writeln!(f, "\n[[provider.kustomization]]")?;
                write_field(f, "file", file)?;
                write_field(f, "digest", &digest.to_string())?;
            }
        }
        for (url, versions) in &self.charts {
            for (version, digest) in versions {
                writeln!(f, "\n[[chart]]")?;
                write_field(f, "url", url)?;
                write_field(f, "version", version)?;
                write_field(f, "digest", &digest.to_string())?;
            }
        }
        Ok(())
    }
}

fn write_field(f: &mut fmt::Formatter<'_>, name: &str, text: &str) -> fmt::Result {
    write!(f, "{name} = \"")?;
    for c in text.chars() {
        match c {
            '"' | '\\' => write!(f, "\\{c}")?,
            c if c.is_control() => write!(f, "\\u{:04X}", u32::from(c))?,
            c => write!(f, "{c}")?,
        }
    }
    writeln!(f, "\"")
}
