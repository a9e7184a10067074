//! `Chart.yaml`, and `requirements.yaml` of charts with `apiVersion: v1`.
//!
//! Source: Helm 3.22 pkg/chart.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::decode::{Fields, TypeError};

/// The content of `Chart.yaml`.
#[derive(Clone, Debug, Default, PartialEq)]
#[allow(missing_docs, reason = "the fields of Chart.yaml")]
pub struct Metadata {
    pub name: String,
    pub home: String,
    pub sources: Vec<String>,
    pub version: String,
    pub description: String,
    pub keywords: Vec<String>,
    pub maintainers: Vec<Maintainer>,
    pub icon: String,
    pub api_version: String,
    pub condition: String,
    pub tags: String,
    pub app_version: String,
    pub deprecated: bool,
    pub annotations: BTreeMap<String, String>,
    pub kube_version: String,
    /// `None` without the field, which differs from an empty list: subcharts of subcharts are then left alone.
    pub dependencies: Option<Vec<Dependency>>,
    /// `application`, `library` or empty.
    pub kind: String,
}

/// A maintainer of a chart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs, reason = "the fields of Chart.yaml")]
pub struct Maintainer {
    pub name: String,
    pub email: String,
    pub url: String,
}

/// A dependency of a chart.
#[derive(Clone, Debug, Default, PartialEq)]
#[allow(missing_docs, reason = "the fields of Chart.yaml")]
pub struct Dependency {
    pub name: String,
    pub version: String,
    pub repository: String,
    /// Paths of values that switch the dependency on or off, separated by commas.
    pub condition: String,
    pub tags: Vec<String>,
    pub enabled: bool,
    pub import_values: Vec<Value>,
    pub alias: String,
}

/// Content of `Chart.yaml` that Helm rejects.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs)]
pub enum MetadataError {
    #[error("validation: chart.metadata.{0} is required")]
    Missing(&'static str),
    #[error("validation: chart.metadata.name {0:?} is not allowed")]
    NameNotAllowed(String),
    #[error("validation: chart.metadata.name {0:?} is invalid")]
    InvalidName(String),
    #[error("validation: chart.metadata.version {0:?} is invalid")]
    InvalidVersion(String),
    #[error("validation: chart.metadata.type must be application or library")]
    InvalidType { found: String },
    #[error("validation: {0} must not contain empty or null nodes")]
    NullEntry(&'static str),
    #[error("validation: dependency {0:?} has disallowed characters in the alias")]
    InvalidAlias(String),
    #[error("validation: more than one dependency with name or alias {0:?}")]
    DuplicateDependency(String),
}

impl Metadata {
    /// Reads the fields of a file over those of an earlier file.
    pub(crate) fn read(&mut self, json: &Value) -> Result<Option<MetadataError>, TypeError> {
        let fields = Fields::of(json, "Metadata", "chart.Metadata")?;
        fields.text("name", &mut self.name)?;
        fields.text("home", &mut self.home)?;
        fields.texts("sources", &mut self.sources)?;
        fields.text("version", &mut self.version)?;
        fields.text("description", &mut self.description)?;
        fields.texts("keywords", &mut self.keywords)?;
        fields.text("icon", &mut self.icon)?;
        fields.text("apiVersion", &mut self.api_version)?;
        fields.text("condition", &mut self.condition)?;
        fields.text("tags", &mut self.tags)?;
        fields.text("appVersion", &mut self.app_version)?;
        fields.flag("deprecated", &mut self.deprecated)?;
        fields.table("annotations", &mut self.annotations)?;
        fields.text("kubeVersion", &mut self.kube_version)?;
        fields.text("type", &mut self.kind)?;
        let mut null_entry = None;
        if let Some(items) = fields.list("maintainers", "[]*chart.Maintainer")? {
            self.maintainers.clear();
            for item in items {
                if item.is_null() {
                    null_entry = null_entry.or(Some(MetadataError::NullEntry("maintainers")));
                }
                self.maintainers.push(Maintainer::read(item)?);
            }
        }
        if let Some(items) = fields.list("dependencies", "[]*chart.Dependency")? {
            for item in items {
                if item.is_null() {
                    null_entry = null_entry.or(Some(MetadataError::NullEntry("dependencies")));
                }
            }
            self.dependencies = Some(items.iter().map(Dependency::read).collect::<Result<_, _>>()?);
        }
        Ok(null_entry)
    }

    /// Replaces spaces and removes characters that cannot be printed, then checks the fields.
    pub(crate) fn validate(&mut self) -> Result<(), MetadataError> {
        self.clean();
        if self.api_version.is_empty() {
            return Err(MetadataError::Missing("apiVersion"));
        }
        self.check_name()?;
        if self.version.is_empty() {
            return Err(MetadataError::Missing("version"));
        }
        if !template::is_version(&self.version) {
            return Err(MetadataError::InvalidVersion(self.version.clone()));
        }
        if !matches!(self.kind.as_str(), "" | "application" | "library") {
            return Err(MetadataError::InvalidType { found: self.kind.clone() });
        }
        let mut names = BTreeSet::new();
        for dependency in self.dependencies.iter_mut().flatten() {
            dependency.clean();
            if !dependency.has_valid_alias() {
                return Err(MetadataError::InvalidAlias(dependency.name.clone()));
            }
            if !names.insert(dependency.effective_name()) {
                return Err(MetadataError::DuplicateDependency(dependency.effective_name().to_owned()));
            }
        }
        Ok(())
    }

    fn check_name(&self) -> Result<(), MetadataError> {
        match self.name.as_str() {
            "" => Err(MetadataError::Missing("name")),
            "." | ".." => Err(MetadataError::NameNotAllowed(self.name.clone())),
            name if name.contains('/') => Err(MetadataError::InvalidName(self.name.clone())),
            _ => Ok(()),
        }
    }

    fn clean(&mut self) {
        let Self { name, home, description, icon, condition, tags, app_version, kube_version, .. } = self;
        for text in [name, home, description, icon, condition, tags, app_version, kube_version] {
            clean(text);
        }
        self.sources.iter_mut().for_each(clean);
        self.keywords.iter_mut().for_each(clean);
        for maintainer in &mut self.maintainers {
            [&mut maintainer.name, &mut maintainer.email, &mut maintainer.url].into_iter().for_each(clean);
        }
    }
}

impl Maintainer {
    fn read(json: &Value) -> Result<Self, TypeError> {
        let fields = Fields::of(json, "Metadata.maintainers", "chart.Maintainer")?;
        let mut read = Self::default();
        fields.text("name", &mut read.name)?;
        fields.text("email", &mut read.email)?;
        fields.text("url", &mut read.url)?;
        Ok(read)
    }
}

impl Dependency {
    pub(crate) fn read(json: &Value) -> Result<Self, TypeError> {
        let fields = Fields::of(json, "Metadata.dependencies", "chart.Dependency")?;
        let mut read = Self::default();
        fields.text("name", &mut read.name)?;
        fields.text("version", &mut read.version)?;
        fields.text("repository", &mut read.repository)?;
        fields.text("condition", &mut read.condition)?;
        fields.texts("tags", &mut read.tags)?;
        fields.flag("enabled", &mut read.enabled)?;
        fields.text("alias", &mut read.alias)?;
        read.import_values = fields.list("import-values", "[]interface {}")?.unwrap_or_default().to_vec();
        Ok(read)
    }

    /// The alias, or the name without an alias.
    pub(crate) fn effective_name(&self) -> &str {
        if self.alias.is_empty() { &self.name } else { &self.alias }
    }

    fn has_valid_alias(&self) -> bool {
        self.alias.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-')
    }

    fn clean(&mut self) {
        let Self { name, version, repository, condition, .. } = self;
        [name, version, repository, condition].into_iter().for_each(clean);
        self.tags.iter_mut().for_each(clean);
    }
}

fn clean(text: &mut String) {
    let is_plain = |byte: u8| (b' '..=b'~').contains(&byte);
    if text.bytes().all(is_plain) {
        return;
    }
    *text = text
        .chars()
        .map(|character| if character.is_whitespace() { ' ' } else { character })
        .filter(|character| !is_invisible(*character))
        .collect();
}

/// True for characters that Go's `unicode.IsPrint` rejects, spaces aside.
fn is_invisible(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{AD}' | '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2060}'..='\u{206F}' | '\u{FEFF}')
        || matches!(character, '\u{E000}'..='\u{F8FF}' | '\u{F0000}'..='\u{10FFFF}')
}
