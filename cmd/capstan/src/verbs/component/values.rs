//! Values and capabilities that the verbs of Components share.

use chart::{Capabilities, KubeVersion};
use component::merge;
use manifest::{YamlLimits, type_name, yaml};
use repository::RepositoryContext;
use serde_json::{Map, Value};

use crate::{Environment, Failure, session::Session};

/// Flags that set values.
#[derive(clap::Args)]
pub(super) struct ValueFlags {
    /// YAML file with values; repeatable, later files win
    #[arg(long, value_name = "FILE")]
    values: Vec<String>,
}

impl ValueFlags {
    /// Merges the values of all files.
    pub(super) fn read(&self, session: &Session) -> Result<Map<String, Value>, Failure> {
        read_values(&self.values, session)
    }

    /// The files.
    pub(super) fn files(&self) -> &[String] {
        &self.values
    }
}

/// Merges the values of files. Later files win.
pub(super) fn read_values(files: &[String], session: &Session) -> Result<Map<String, Value>, Failure> {
    let mut values = Map::new();
    for file in files {
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
    Ok(values)
}

/// Reads a file that a flag names, up to the limit of files.
pub(super) fn read_file(file: &str, environment: &Environment) -> Result<Vec<u8>, Failure> {
    let path = environment.resolve(file);
    Ok(repository::read_file(&RepositoryContext::default(), &path)?.bytes.into())
}

/// Reads the first document of a file.
pub(super) fn read_yaml(file: &str, session: &Session) -> Result<Value, Failure> {
    let text = read_file(file, session.environment())?;
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
        let text = read_file(file, session.environment())?;
        let text = String::from_utf8_lossy(&text);
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
        capabilities.api_versions = lines.map(str::to_owned).collect();
    }
    Ok(capabilities)
}
