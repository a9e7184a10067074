//! Templates in Git, and the file of a component or package that names its template.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use repository::git::{GitCommit, GitRemote, LocalChangesPolicy, NewFile};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::hooks::HookedTemplate;
use super::{HookRunner, ScaffoldRun};
use crate::cookiecutter::{self, CookiecutterError, OrderedMap};
use crate::dependencies::{Fetcher, unknown_version};
use crate::error::CatalogError;
use crate::step::Step;

/// The file that names the template and the values of a component or package.
pub(super) const CRUFT_FILE: &str = ".cruft.json";

/// The repository of a template.
pub(super) struct Template<'a> {
    pub(super) remote: GitRemote,
    run: ScaffoldRun<'a>,
    /// The URL, without credentials.
    url: String,
    context: String,
}

/// A checked-out commit of a template.
pub(super) struct TemplateCheckout<'a> {
    run: ScaffoldRun<'a>,
    folder: PathBuf,
    url: String,
    commit: GitCommit,
}

/// The files of a template, without `.cruft.json`.
pub(super) struct RenderedTemplate {
    pub(super) files: Vec<NewFile>,
    pub(super) variables: OrderedMap,
}

impl<'a> Template<'a> {
    /// Opens a repository. Opens no connection.
    pub(super) fn open(url: &str, run: ScaffoldRun<'a>) -> Result<Self, CatalogError> {
        let shown = transport::address::redact_text(url);
        let context = format!("while fetching template {shown}");
        let fetcher = Fetcher { folder: run.temporary, context: run.context, force: false };
        Ok(Self { remote: fetcher.remote(url, &context)?, run, url: shown, context })
    }

    /// Fetches the template, and finds a version.
    pub(super) async fn resolve(&self, version: &str) -> Result<GitCommit, CatalogError> {
        let resolved = self.remote.resolve(version).await;
        resolved.map_err(|error| unknown_version(error, &self.context, version, true))
    }

    /// Checks a commit out into a temporary folder.
    pub(super) async fn check_out(
        &self,
        commit: &GitCommit,
        name: &str,
    ) -> Result<TemplateCheckout<'a>, CatalogError> {
        let folder = self.run.temporary.root().join(name);
        let checked_out = self.remote.worktree(commit, &folder, LocalChangesPolicy::Refuse).await;
        checked_out.map_err(|error| CatalogError::fetch(self.context.as_str(), error))?;
        Ok(TemplateCheckout { run: self.run, folder, url: self.url.clone(), commit: commit.clone() })
    }
}

impl TemplateCheckout<'_> {
    /// Renders the files of the template, with its hooks if they may run.
    pub(super) fn render(&self, values: &BTreeMap<String, String>) -> Result<RenderedTemplate, CatalogError> {
        let render = || -> Result<RenderedTemplate, CookiecutterError> {
            let mut variables = cookiecutter::variables(&self.folder, values)?;
            variables.set("_template", self.url.as_str());
            variables.set("_commit", self.commit.as_str());
            let mut files = match self.run.hooks {
                None => cookiecutter::render(&self.folder, &variables)?,
                Some(runner) => self.render_with_hooks(runner, &variables)?,
            };
            files.retain(|file| file.path != CRUFT_FILE);
            Ok(RenderedTemplate { files, variables })
        };
        render().map_err(|source| CatalogError::Template { url: self.url.clone(), source: Box::new(source) })
    }

    fn render_with_hooks(
        &self,
        runner: &dyn HookRunner,
        variables: &OrderedMap,
    ) -> Result<Vec<NewFile>, CookiecutterError> {
        let scratch = self.run.temporary.root();
        let (files, output) = HookedTemplate { template: &self.folder, scratch, runner }.render(variables)?;
        if !output.trim_end().is_empty() {
            (self.run.report)(Step::Text(output.trim_end().to_owned()));
        }
        Ok(files)
    }

    /// The hooks of the template that did not run.
    pub(super) fn skipped_hooks(&self) -> Vec<String> {
        if self.run.hooks.is_some() { Vec::new() } else { cookiecutter::hooks(&self.folder) }
    }
}

/// The content of `.cruft.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct CruftFile {
    pub(super) template: String,
    pub(super) commit: String,
    pub(super) checkout: Option<String>,
    pub(super) context: CruftContext,
    #[serde(default)]
    directory: Option<String>,
    /// Patterns of files that an update leaves alone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) skip: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct CruftContext {
    pub(super) cookiecutter: OrderedMap,
}

impl CruftFile {
    pub(super) fn new(checkout: &TemplateCheckout<'_>, version: &str, variables: OrderedMap) -> Self {
        Self {
            template: checkout.url.clone(),
            commit: checkout.commit.as_str().to_owned(),
            checkout: Some(version.to_owned()),
            context: CruftContext { cookiecutter: variables },
            directory: None,
            skip: Vec::new(),
        }
    }

    /// Returns the content after an update.
    pub(super) fn updated(
        &self,
        checkout: &TemplateCheckout<'_>,
        version: Option<&str>,
        variables: OrderedMap,
    ) -> Self {
        let checkout_version = version.map(str::to_owned);
        let new = Self::new(checkout, "", variables);
        Self { checkout: checkout_version, template: self.template.clone(), skip: self.skip.clone(), ..new }
    }

    /// True if another file has the same values. The commit and the version of the template may differ.
    pub(super) fn is_same_except_for_commit(&self, other: &Self) -> bool {
        let values = |file: &Self| {
            let mut values = file.context.cookiecutter.clone();
            values.set("_commit", "");
            values
        };
        values(self) == values(other)
    }

    /// Reads the file of a component or package.
    pub(super) fn read(folder: &Path) -> Result<Self, CatalogError> {
        let path = folder.join(CRUFT_FILE);
        let text = std::fs::read(&path).map_err(|error| CatalogError::disk("read", &path, error))?;
        serde_json::from_slice(&text).map_err(|error| CatalogError::disk("parse", &path, error.into()))
    }

    /// The values of the template that are texts or switches.
    pub(super) fn values(&self) -> BTreeMap<String, String> {
        let is_public = |name: &str| !name.starts_with('_') || name.starts_with("__");
        let fields = self.context.cookiecutter.iter().filter(|(name, _)| is_public(name));
        let text = |value: &Value| match value {
            Value::String(text) => Some(text.clone()),
            Value::Bool(switch) => Some(switch.to_string()),
            _ => None,
        };
        fields.filter_map(|(name, value)| Some((name.to_owned(), text(value)?))).collect()
    }

    /// The file with a line end after its last line.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let mut content = serde_json::to_vec_pretty(self).unwrap_or_default();
        content.push(b'\n');
        content
    }
}
