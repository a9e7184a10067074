//! A rendered chart as `helm template` prints it.
//!
//! Source: Helm 3.22 cmd/helm/template.go.

use crate::chart::Rendered;
use crate::glob::matches_path;
use crate::manifest::{HookEvent, Manifest, documents};

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

impl Rendered {
    /// Returns the text that `helm template` prints.
    ///
    /// # Errors
    /// A pattern of `show_only` that matches no template.
    pub fn print(&self, options: &PrintOptions) -> Result<String, NoSuchTemplate> {
        let mut out = String::new();
        if options.include_crds {
            for crd in &self.crds {
                push(&mut out, &crd.path, &crd.content.to_str());
            }
        }
        for Manifest { template, content, .. } in &self.manifests {
            push(&mut out, template, content);
        }
        let mut out = format!("{}\n", out.trim());
        let is_printed =
            |hook: &&Manifest| !(options.no_hooks || options.skip_tests && has_event(hook, HookEvent::Test));
        for Manifest { template, content, .. } in self.hooks.iter().filter(is_printed) {
            push(&mut out, template, content);
        }
        if options.show_only.is_empty() { Ok(out) } else { only(&out, &options.show_only) }
    }
}

fn push(out: &mut String, source: &str, content: &str) {
    for part in ["---\n# Source: ", source, "\n", content, "\n"] {
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
    for pattern in patterns {
        let is_match = |(source, _): &&(&str, &str)| matches_path(pattern, source) == Ok(true);
        let mut matching = documents.iter().filter(is_match).peekable();
        if matching.peek().is_none() {
            let printed = documents.iter().map(|(source, _)| (*source).to_owned()).collect();
            return Err(NoSuchTemplate { pattern: pattern.clone(), printed });
        }
        for (_, document) in matching {
            out.push_str("---\n");
            out.push_str(document);
            out.push('\n');
        }
    }
    Ok(out)
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
