//! The templates of one kustomization, and their rendering.

use std::collections::BTreeMap;
use std::rc::Rc;

use chart::ChartError;
use serde_json::Value as Json;
use template::{Delimiters, Limit, Output, Session, Settings, Str, Templates, Value};

use super::error::RenderProblem;
use super::files::{SourceFile, text};
use super::functions::{self, Host};
use super::request::RenderRequest;

/// The most bytes that all templates of one rendering may print.
pub(super) const MAX_OUTPUT_BYTES: usize = 256 << 20;

/// The name of the texts of `tpl`, which occurs in errors.
pub(super) const SET: &str = "gotpl";

/// The templates of one kustomization.
pub(super) struct TemplateSet {
    templates: Templates,
    host: Rc<Host>,
    settings: Settings,
}

impl TemplateSet {
    /// Creates an empty set. `files` are the files that templates read.
    pub(super) fn new(request: &RenderRequest<'_>, files: &[SourceFile], delimiters: Delimiters) -> Self {
        let readable = files.iter().map(|file| (Str::from(file.path.as_str()), Str::from(&*file.content)));
        Self {
            templates: Templates::new(SET, functions::kustomization()).with_delimiters(delimiters),
            host: Rc::new(Host::new(request, readable.collect::<BTreeMap<_, _>>())),
            settings: settings(request),
        }
    }

    /// Parses a file as the template with its name.
    pub(super) fn parse(&mut self, name: &str, content: &[u8]) -> Result<(), RenderProblem> {
        let parsed = self.templates.parse(name, &text(content));
        parsed.map_err(|error| RenderProblem::template(name, error))
    }

    /// Starts a rendering. Templates may change the values; later templates see the change.
    pub(super) fn renderer(&self, values: &Json) -> Renderer<'_> {
        let session = Session::new(self.settings.clone()).with_host(self.host.clone());
        Renderer { templates: &self.templates, session, data: Value::from_json(values), printed: 0 }
    }
}

/// The settings of the engine for a request.
pub(super) fn settings(request: &RenderRequest<'_>) -> Settings {
    let trace = request.trace.is_some();
    Settings { trace, seed: request.seed, now: request.now, ..Settings::helm() }
}

/// A rendering of several templates with the same values.
pub(super) struct Renderer<'t> {
    templates: &'t Templates,
    session: Session,
    data: Value,
    printed: usize,
}

impl Renderer<'_> {
    /// Renders a template.
    pub(super) fn render(&mut self, name: &str) -> Result<Output, RenderProblem> {
        let output = self.templates.render(name, &self.data, &mut self.session);
        let output = output.map_err(|error| RenderProblem::template(name, error))?;
        self.printed = self.printed.saturating_add(output.bytes.len());
        if self.printed > MAX_OUTPUT_BYTES {
            return Err(RenderProblem::OutputTooLarge { limit: MAX_OUTPUT_BYTES });
        }
        Ok(output)
    }
}

impl RenderProblem {
    /// Wraps the error of a template.
    pub(super) fn template(file: &str, error: template::Error) -> Self {
        Self::Template(Box::new(ChartError::of_template(file, error)))
    }

    /// Returns the limit that a template exceeded.
    pub fn limit(&self) -> Option<Limit> {
        match self {
            Self::Template(error) => error.limit(),
            _ => None,
        }
    }
}
