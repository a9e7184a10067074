//! A rendered chart as `helm template` prints it.
//!
//! Source: Helm 3.22 cmd/helm/template.go.

use std::borrow::Cow;

use serde_json::Value;

use crate::chart::Rendered;
use crate::error::ChartError;
use crate::glob::matches_path;
use crate::manifest::{Hook, HookEvent, Manifest, documents};
use crate::value_tree::read_json;

/// The parts that are printed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PrintOptions {
    /// Prints the files in `crds/` first.
    pub include_crds: bool,
    /// Prints no hooks.
    pub no_hooks: bool,
    /// Prints no hooks that are tests.
    pub skip_tests: bool,
    /// Patterns of template files without the name of the chart; if there are any, only these are printed.
    pub show_only: Vec<String>,
}

/// A pattern that matches no template.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("could not find template {pattern} in chart")]
pub struct NoSuchTemplate {
    /// The pattern as given.
    pub pattern: String,
    /// The templates that printed something.
    pub printed: Vec<String>,
}

/// A document of a rendered chart, or a file in `crds/`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RenderedDocument<'r> {
    /// The template with the path of its chart: `web/templates/deployment.yaml`.
    pub source: &'r str,
    /// The text of the document.
    pub content: Cow<'r, str>,
    /// The facts of a hook.
    pub hook: Option<&'r Hook>,
    /// True for a file in `crds/`.
    pub is_crd: bool,
    /// The start in the output of the template, in bytes.
    pub(crate) offset: usize,
}

impl RenderedDocument<'_> {
    /// Returns the objects in the text.
    ///
    /// # Errors
    /// A file in `crds/` that is not YAML.
    pub fn objects(&self) -> Result<Vec<Value>, ChartError> {
        let mut objects = Vec::new();
        for document in documents(&self.content) {
            let object = read_json(document.as_bytes()).map_err(|error| ChartError::ManifestYaml {
                template: self.source.to_owned(),
                error,
                output: document.to_owned(),
            })?;
            if !object.is_null() {
                objects.push(object);
            }
        }
        Ok(objects)
    }
}

impl Rendered {
    /// Returns the text that `helm template` prints.
    ///
    /// # Errors
    /// A pattern of `show_only` that matches no template.
    pub fn print(&self, options: &PrintOptions) -> Result<String, NoSuchTemplate> {
        let length = |manifest: &Manifest| manifest.template.len() + manifest.content.len() + 20;
        let length = self.manifests.iter().chain(&self.hooks).map(length).sum();
        let mut out = String::with_capacity(length);
        let (hooks, objects): (Vec<_>, Vec<_>) =
            self.all_documents(options).partition(|document| document.hook.is_some());
        for document in &objects {
            push(&mut out, document);
        }
        out.truncate(out.trim_end().len());
        out.push('\n');
        for document in &hooks {
            push(&mut out, document);
        }
        if options.show_only.is_empty() { Ok(out) } else { only(&out, &options.show_only) }
    }

    /// Returns the documents that the options select, in the order in which `helm template` prints them.
    ///
    /// # Errors
    /// A pattern of `show_only` that matches no template.
    pub fn documents(&self, options: &PrintOptions) -> Result<Vec<RenderedDocument<'_>>, NoSuchTemplate> {
        let all = self.all_documents(options);
        if options.show_only.is_empty() {
            return Ok(all.collect());
        }
        let all: Vec<(&str, RenderedDocument<'_>)> =
            all.filter_map(|document| Some((document.source.split_once('/')?.1, document))).collect();
        let selected = select(&all, &options.show_only)?;
        Ok(selected.into_iter().cloned().collect())
    }

    /// Returns files in `crds/`, objects and hooks, without regard to `show_only`.
    fn all_documents(&self, options: &PrintOptions) -> impl Iterator<Item = RenderedDocument<'_>> {
        let crds = self.crds.iter().filter(|_| options.include_crds);
        let crds = crds.map(|crd| RenderedDocument {
            source: &crd.path,
            content: crd.content.to_str(),
            hook: None,
            is_crd: true,
            offset: 0,
        });
        let skips_hook =
            |hook: &Manifest| options.no_hooks || options.skip_tests && has_event(hook, HookEvent::Test);
        let hooks = self.hooks.iter().filter(move |hook| !skips_hook(hook));
        crds.chain(self.manifests.iter().chain(hooks).map(|manifest| RenderedDocument {
            source: &manifest.template,
            content: Cow::Borrowed(&manifest.content),
            hook: manifest.hook.as_ref(),
            is_crd: false,
            offset: manifest.offset,
        }))
    }
}

fn push(out: &mut String, document: &RenderedDocument<'_>) {
    for part in ["---\n# Source: ", document.source, "\n", &document.content, "\n"] {
        out.push_str(part);
    }
}

fn has_event(manifest: &Manifest, event: HookEvent) -> bool {
    manifest.hook.as_ref().is_some_and(|hook| hook.events.contains(&event))
}

/// Returns the documents of the templates that match the patterns, in the order of the patterns.
fn only(printed: &str, patterns: &[String]) -> Result<String, NoSuchTemplate> {
    let documents: Vec<(&str, &str)> =
        documents(printed).filter_map(|document| Some((source_in_chart(document)?, document))).collect();
    let mut out = String::new();
    for document in select(&documents, patterns)? {
        out.push_str("---\n");
        out.push_str(document);
        out.push('\n');
    }
    Ok(out)
}

/// Returns the documents whose sources match patterns, in the order of the patterns.
fn select<'d, T>(documents: &'d [(&str, T)], patterns: &[String]) -> Result<Vec<&'d T>, NoSuchTemplate> {
    let mut selected = Vec::new();
    for pattern in patterns {
        let matching = documents.iter().filter(|(source, _)| matches_path(pattern, source) == Ok(true));
        let before = selected.len();
        selected.extend(matching.map(|(_, document)| document));
        if selected.len() == before {
            let printed = documents.iter().map(|(source, _)| (*source).to_owned()).collect();
            return Err(NoSuchTemplate { pattern: pattern.clone(), printed });
        }
    }
    Ok(selected)
}

/// Returns the path of the first source comment in a document, without the name of the chart.
fn source_in_chart(document: &str) -> Option<&str> {
    let mut rest = document;
    loop {
        let (_, after) = rest.split_once("# Source: ")?;
        let line = after.lines().next().unwrap_or_default();
        match line.split_once('/') {
            Some((chart, path)) if !chart.is_empty() && !path.is_empty() => return Some(path),
            _ => rest = after,
        }
    }
}
