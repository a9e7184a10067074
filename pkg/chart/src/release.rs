//! `.Release`: the installation that a chart is rendered for.

use std::sync::Arc;

use jiff::Timestamp;
use template::{Functions, Session, Settings, Templates, Value};

/// The longest name of a release.
const MAX_NAME_BYTES: usize = 53;

/// The installation that a chart is rendered for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Release {
    /// The name of the release.
    pub name: String,
    /// The namespace of the release.
    pub namespace: String,
    /// The number of the installation or upgrade, from 1; 0 for a chart that is only checked.
    pub revision: i64,
    /// True for an upgrade.
    pub is_upgrade: bool,
}

/// A name that no release can have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs)]
pub enum ReleaseNameError {
    #[error("release name \"\": no name provided")]
    Empty,
    #[error(
        "release name {0:?}: invalid release name, must match regex ^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$ and the length must not be longer than 53"
    )]
    Invalid(String),
    #[error("{0}")]
    Template(String),
}

impl Release {
    /// Creates the first installation of a release.
    pub fn new(name: &str, namespace: &str) -> Self {
        Self { name: name.to_owned(), namespace: namespace.to_owned(), revision: 1, is_upgrade: false }
    }

    /// Returns the name that Helm generates from the name of a chart, a path or a URL, and from the time.
    pub fn generated_name(chart: &str, now: Timestamp) -> String {
        let base = chart.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
        let base = base.split('.').next().filter(|base| !base.is_empty()).unwrap_or("chart");
        format!("{base}-{}", now.as_second())
    }

    /// Renders the name of a release from a template without values.
    ///
    /// # Errors
    /// The error of the template.
    pub fn name_of_template(text: &str) -> Result<String, ReleaseNameError> {
        let mut templates = Templates::new("name-template", Arc::new(Functions::sprig()));
        let result = templates.parse("name-template", text).and_then(|()| {
            templates.render("name-template", &Value::Missing, &mut Session::new(Settings::default()))
        });
        let output = result.map_err(|error| ReleaseNameError::Template(error.to_string()))?;
        output.into_text().map_err(|error| ReleaseNameError::Template(error.to_string()))
    }

    /// Checks the name.
    pub(crate) fn check_name(&self) -> Result<(), ReleaseNameError> {
        let is_inner = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
        let is_label = |label: &str| {
            label.bytes().all(|byte| is_inner(byte) || byte == b'-')
                && label.bytes().next().is_some_and(is_inner)
                && label.bytes().next_back().is_some_and(is_inner)
        };
        if self.name.is_empty() {
            Err(ReleaseNameError::Empty)
        } else if self.name.len() > MAX_NAME_BYTES || !self.name.split('.').all(is_label) {
            Err(ReleaseNameError::Invalid(self.name.clone()))
        } else {
            Ok(())
        }
    }
}
