//! Flags and files that the verbs of Components share.

use std::{fs, path::Path};

use chart::{Capabilities, KubeVersion, MemoryTree, TreePath};
use component::merge;
use jiff::Timestamp;
use manifest::{YamlLimits, type_name, yaml};
use repository::RepositoryContext;
use serde_json::{Map, Value};

use crate::{Failure, session::Session};

/// Flags that set values.
#[derive(clap::Args)]
pub(super) struct ValueFlags {
    /// YAML file with values; repeatable, later files win
    #[arg(short = 'f', long, value_name = "FILE")]
    values: Vec<String>,
}

impl ValueFlags {
    /// Merges the values of all files over others.
    pub(super) fn read(&self, mut values: Map<String, Value>, session: &Session) -> Result<Value, Failure> {
        for file in &self.values {
            match read_yaml(file, session)? {
                Value::Object(table) => merge(&mut values, table),
                Value::Null => {}
                other => {
                    let found = type_name(&other);
                    return Err(Failure::user(format!(
                        "`{file}` has no values: expected a mapping, found {found}"
                    )));
                }
            }
        }
        Ok(Value::Object(values))
    }
}

/// Reads a file that a flag names, up to the limit of files.
pub(super) fn read_file(file: &str, session: &Session) -> Result<Vec<u8>, Failure> {
    let path = session.environment().resolve(file);
    Ok(repository::read_file(&RepositoryContext::default(), &path)?.bytes.into())
}

/// Reads the first document of a file.
fn read_yaml(file: &str, session: &Session) -> Result<Value, Failure> {
    let text = read_file(file, session)?;
    yaml::read_value(&String::from_utf8_lossy(&text), &YamlLimits::default())
        .map_err(|error| Failure::user(format!("cannot read `{file}`: line {}: {}", error.line, error.kind)))
}

/// Returns the version and the APIs that templates see. `api_versions` is a file with one API on each line.
pub(super) fn capabilities(
    kube_version: &str,
    api_versions: Option<&str>,
    session: &Session,
) -> Result<Capabilities, Failure> {
    let mut capabilities = Capabilities::default();
    if !kube_version.is_empty() {
        capabilities.kube_version = KubeVersion::parse(kube_version)?;
    }
    if let Some(file) = api_versions {
        let text = read_file(file, session)?;
        let text = String::from_utf8_lossy(&text);
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
        capabilities.api_versions = lines.map(str::to_owned).collect();
    }
    Ok(capabilities)
}

/// Reads the files of a folder. Links are left out.
pub(super) fn read_folder(folder: &Path) -> Result<MemoryTree, Failure> {
    let mut tree = MemoryTree::default();
    let mut pending = vec![(folder.to_owned(), TreePath::new("/"))];
    while let Some((folder, path)) = pending.pop() {
        let error = |error| Failure::io("read", &folder, &error);
        for entry in fs::read_dir(&folder).map_err(error)? {
            let entry = entry.map_err(error)?;
            let (kind, name) = (entry.file_type().map_err(error)?, entry.file_name());
            let Some(name) = name.to_str() else {
                return Err(Failure::user(format!("`{}` is not valid UTF-8", entry.path().display())));
            };
            if kind.is_dir() {
                pending.push((entry.path(), path.join(name)));
            } else if kind.is_file() {
                let file = repository::read_file(&RepositoryContext::default(), &entry.path())?;
                tree.insert(path.join(name), &*file.bytes);
            }
        }
    }
    Ok(tree)
}

/// The current time, which templates see.
pub(super) fn now() -> Timestamp {
    Timestamp::now()
}
