//! The engine of templates: strict variables, the settings of the template, and the filters of cookiecutter.

use std::path::PathBuf;
use std::sync::Arc;

use minijinja::syntax::SyntaxConfig;
use minijinja::value::Kwargs;
use minijinja::{Environment, Error, Value};
use serde_json::json;

use super::{CookiecutterError, OrderedMap};
use crate::jinja;

/// The extensions of Jinja2 that have no effect here, because their content is always there or no tag of them is known.
const KNOWN_EXTENSIONS: [&str; 6] = [
    "cookiecutter.extensions.JsonifyExtension",
    "cookiecutter.extensions.RandomStringExtension",
    "cookiecutter.extensions.SlugifyExtension",
    "cookiecutter.extensions.TimeExtension",
    "cookiecutter.extensions.UUIDExtension",
    "jinja2_time.TimeExtension",
];

/// Renders texts with the variables of a template.
pub(super) struct Engine {
    environment: Environment<'static>,
}

impl Engine {
    /// Reads the settings among the variables. Included templates are searched for in the folders.
    pub(super) fn new(variables: &OrderedMap, folders: Vec<PathBuf>) -> Result<Self, CookiecutterError> {
        let extensions = variables.get("_extensions").and_then(serde_json::Value::as_array);
        let mut extensions = extensions.into_iter().flatten().filter_map(serde_json::Value::as_str);
        if let Some(name) = extensions.find(|name| !KNOWN_EXTENSIONS.contains(name)) {
            return Err(CookiecutterError::Extension { name: name.to_owned() });
        }
        let mut environment = jinja::environment(folders, &Arc::default());
        environment.add_filter("jsonify", jsonify);
        environment.add_filter("slugify", slugify);
        environment.set_syntax(syntax(variables)?);
        Ok(Self { environment })
    }

    /// Renders a text, whose name is for errors.
    pub(super) fn render(
        &self,
        name: &str,
        text: &str,
        variables: &serde_json::Value,
    ) -> Result<String, String> {
        let variables = json!({ "cookiecutter": variables });
        self.environment
            .render_named_str(name, text, minijinja::value::Serde(&variables))
            .map_err(|error| jinja::TemplateError::of_engine(&error, |_| Some(text.to_owned())).to_string())
    }
}

/// Returns the treatment of white space. Unlike in other programs, the last line end of a file is kept.
fn syntax(variables: &OrderedMap) -> Result<SyntaxConfig, CookiecutterError> {
    let mut syntax = SyntaxConfig::builder();
    syntax.keep_trailing_newline(true);
    let settings = variables.get("_jinja2_env_vars").and_then(serde_json::Value::as_object);
    for (name, value) in settings.into_iter().flatten() {
        let unsupported = || CookiecutterError::Setting { name: name.clone() };
        let is_on = value.as_bool().ok_or_else(unsupported)?;
        match name.as_str() {
            "trim_blocks" => syntax.trim_blocks(is_on),
            "lstrip_blocks" => syntax.lstrip_blocks(is_on),
            "keep_trailing_newline" => syntax.keep_trailing_newline(is_on),
            _ => return Err(unsupported()),
        };
    }
    syntax.build().map_err(|_| CookiecutterError::Setting { name: "delimiters".to_owned() })
}

/// Prints a value as JSON with sorted keys, as Python does with `indent`.
#[expect(clippy::needless_pass_by_value, reason = "the engine passes values")]
fn jsonify(value: &Value, indent: Option<usize>, options: Kwargs) -> Result<String, Error> {
    let indent = indent.map_or_else(|| options.get::<Option<usize>>("indent"), |indent| Ok(Some(indent)))?;
    options.assert_all_used()?;
    jinja::check_indent(indent)?;
    let invalid =
        |error: serde_json::Error| Error::new(minijinja::ErrorKind::InvalidOperation, error.to_string());
    let value = serde_json::to_value(value).map_err(invalid)?;
    let spaces = " ".repeat(indent.unwrap_or(4));
    let mut out = Vec::new();
    let format = serde_json::ser::PrettyFormatter::with_indent(spaces.as_bytes());
    serde::Serialize::serialize(&value, &mut serde_json::Serializer::with_formatter(&mut out, format))
        .map_err(invalid)?;
    Ok(String::from_utf8_lossy(&out).into_owned())
}

/// Returns a text in lower case, with one dash for everything between its letters and digits.
fn slugify(text: &str) -> String {
    let words = text.split(|character: char| !character.is_ascii_alphanumeric());
    words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join("-").to_ascii_lowercase()
}
