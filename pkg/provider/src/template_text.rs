//! Files with variables such as `${NAME}`: substitution, and lists of variables.

use std::{borrow::Cow, sync::Arc};

use api::output::{Origin, Place, Variable};
use manifest::{
    Object, ObjectStream, StreamError, YamlLimits,
    envsubst::{MissingVariable, ParseError, RenderError, Template, TextPosition},
    provenance::{FieldOrigin, Trace},
};

use crate::config::Variables;

/// A file and its name for messages.
#[derive(Clone, Debug)]
pub struct TemplateText {
    /// The path, the url, or `<stdin>`.
    pub file: String,
    /// The text before substitution.
    pub text: String,
}

/// Variables without a value, from all files of one run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", missing_text(values))]
pub struct MissingValues {
    /// The missing variables, sorted by name.
    pub values: Vec<MissingValue>,
}

/// A variable without a value and without a default.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissingValue {
    /// The name, as in `${NAME}`.
    pub name: String,
    /// Every use of the variable, in file order.
    pub places: Vec<Place>,
    /// Similar names of set variables.
    pub suggestions: Vec<String>,
}

/// A file that cannot be rendered into objects.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum RenderTextError {
    #[error("`{file}` is not UTF-8 text: invalid byte at offset {offset} (line {line})")]
    NotText {
        file: String,
        /// The offset of the first invalid byte, from 0.
        offset: usize,
        /// The line of the first invalid byte, from 1.
        line: usize,
    },
    #[error("cannot substitute variables in `{file}`")]
    Parse {
        file: String,
        #[source]
        source: ParseError,
    },
    #[error("cannot substitute variables in `{file}`")]
    Render {
        file: String,
        #[source]
        source: RenderError,
    },
    #[error("{}", missing_count(_0))]
    Missing(#[source] MissingValues),
    #[error("cannot read documents in `{file}`")]
    Documents {
        file: String,
        #[source]
        source: StreamError,
    },
}

/// Renders one line per variable, so that a long list stays readable.
fn missing_text(values: &[MissingValue]) -> String {
    let one = |value: &MissingValue| {
        let place = value.places.first().map(|place| format!(" at {}:{}", place.file, place.line));
        let more = match value.places.len() {
            0 | 1 => String::new(),
            2 => " and 1 more place".to_owned(),
            count => format!(" and {} more places", count - 1),
        };
        format!("`{}`{}{more}", value.name, place.unwrap_or_default())
    };
    values.iter().map(one).collect::<Vec<_>>().join("\n")
}

fn missing_count(missing: &MissingValues) -> String {
    match missing.values.as_slice() {
        [_] => "a variable has no value".to_owned(),
        values => format!("{} variables have no value", values.len()),
    }
}

impl MissingValues {
    /// Merges the missing variables of another file. Names and places stay in order.
    pub fn merge(&mut self, other: MissingValues) {
        for value in other.values {
            match self.values.binary_search_by(|known| known.name.cmp(&value.name)) {
                Ok(at) => self.values[at].places.extend(value.places),
                Err(at) => self.values.insert(at, value),
            }
        }
    }
}

impl TemplateText {
    /// Creates a template from the bytes of a file.
    /// # Errors
    /// `NotText` with the position of the first byte that is not UTF-8.
    pub fn new(file: impl Into<String>, bytes: &[u8]) -> Result<Self, RenderTextError> {
        let file = file.into();
        match std::str::from_utf8(bytes) {
            Ok(text) => Ok(Self { file, text: text.to_owned() }),
            Err(error) => {
                let offset = error.valid_up_to();
                let line = bytes[..offset].split(|byte| *byte == b'\n').count();
                Err(RenderTextError::NotText { file, offset, line })
            }
        }
    }

    /// Parses the variables of the file.
    /// # Errors
    /// `Parse` with the positions of all invalid `${…}`.
    pub fn template(&self) -> Result<Template<'_>, RenderTextError> {
        Template::parse(&self.text)
            .map_err(|source| RenderTextError::Parse { file: self.file.clone(), source })
    }

    /// Replaces all variables.
    /// # Errors
    /// `Missing` with every variable that has neither a value nor a default.
    pub fn substitute(&self, variables: &Variables<'_>) -> Result<String, RenderTextError> {
        let template = self.template()?;
        let rendered = template.render(&mut |name| variables.get(name).map(|found| found.text));
        rendered.map_err(|error| match error {
            RenderError::Missing(missing) => {
                RenderTextError::Missing(self.missing(&missing.variables, variables))
            }
            source => RenderTextError::Render { file: self.file.clone(), source },
        })
    }

    /// Replaces all variables with a value. Variables without a value stay as `${NAME}`.
    pub fn substitute_only_set(&self, variables: &Variables<'_>) -> Result<String, RenderTextError> {
        let template = self.template()?;
        let kept = |name: &str| Cow::Owned(format!("${{{name}}}"));
        let required: Vec<_> = template
            .variables()
            .top_level
            .into_iter()
            .filter(manifest::envsubst::Variable::is_required)
            .collect();
        let is_required = |name: &str| required.iter().any(|variable| variable.name == name);
        let mut lookup = |name: &str| match variables.get(name) {
            Some(found) => Some(found.text),
            None => is_required(name).then(|| kept(name)),
        };
        template
            .render(&mut lookup)
            .map_err(|source| RenderTextError::Render { file: self.file.clone(), source })
    }

    /// The variables of the file, sorted by name, with the origin of their values.
    pub fn variables(&self, variables: &Variables<'_>) -> Result<Vec<Variable>, RenderTextError> {
        let template = self.template()?;
        let mut listed: Vec<Variable> = template
            .variables()
            .top_level
            .into_iter()
            .map(|used| {
                let origin = variables.get(&used.name).map(|found| found.origin);
                let from_template = used.default.is_some().then_some(Origin::Template);
                Variable {
                    required: used.is_required(),
                    used: self.locations(&used.positions),
                    origin: origin.or(from_template),
                    default: used.default,
                    name: used.name,
                }
            })
            .collect();
        listed.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(listed)
    }

    /// Parses substituted text into objects.
    /// # Errors
    /// `Documents` with every invalid document. Line numbers refer to the substituted text.
    pub fn read_objects(&self, substituted: &str) -> Result<ObjectStream, RenderTextError> {
        manifest::read_stream(substituted.as_bytes(), &YamlLimits::default())
            .map_err(|source| RenderTextError::Documents { file: self.file.clone(), source })
    }

    /// Starts, if tracing is on, to record the origin of fields: the variables in a field, else the file.
    ///
    /// If the file is invalid with variable names as values, variables are not recorded.
    pub fn trace(&self, trace: Trace, objects: &mut [Object]) {
        if trace == Trace::Off {
            return;
        }
        let setter = |field: String| FieldOrigin { file: self.file.clone(), field, ..FieldOrigin::default() };
        let origin = Arc::new(setter(String::new()));
        for object in &mut *objects {
            object.start_provenance(&origin);
        }
        let marked = self.template().map(|template| template.mark(&|name| format!("{OPEN}{name}{CLOSE}")));
        let marked = marked.and_then(|text| self.read_objects(&text)).unwrap_or_default().objects;
        if marked.len() != objects.len() {
            return;
        }
        for (object, marked) in objects.iter_mut().zip(&marked) {
            object.record_marked_provenance(marked, &|text| {
                let names: Vec<String> = names_in(text).map(|name| format!("${{{name}}}")).collect();
                (!names.is_empty()).then(|| Arc::new(setter(names.join(" "))))
            });
        }
    }

    /// Warnings about the documents of the file. Line numbers refer to the substituted text.
    pub fn warnings(&self, stream: &ObjectStream) -> Vec<String> {
        let read = stream.warnings.iter().map(|warning| (warning.line, warning.kind.to_string()));
        let incomplete = stream.objects.iter().zip(&stream.lines).filter_map(|(object, line)| {
            missing_field(object).map(|field| (*line, format!("the object has no `{field}`")))
        });
        let mut all: Vec<_> = read.chain(incomplete).collect();
        all.sort();
        all.into_iter().map(|(line, text)| format!("{}:{line}: {text}", self.file)).collect()
    }

    fn missing(&self, missing: &[MissingVariable], variables: &Variables<'_>) -> MissingValues {
        let one = |variable: &MissingVariable| MissingValue {
            name: variable.name.clone(),
            places: self.locations(&variable.positions),
            suggestions: variables.suggestions(&variable.name),
        };
        MissingValues { values: missing.iter().map(one).collect() }
    }

    fn locations(&self, positions: &[TextPosition]) -> Vec<Place> {
        let place = |at: &TextPosition| Place { file: self.file.clone(), line: at.line, column: at.column };
        positions.iter().map(place).collect()
    }
}

/// Private-use characters that enclose variable names in a marked text. YAML accepts them in any scalar.
const OPEN: char = '\u{E000}';
const CLOSE: char = '\u{E001}';

fn names_in(text: &str) -> impl Iterator<Item = &str> {
    text.split(OPEN).skip(1).filter_map(|rest| rest.split_once(CLOSE).map(|(name, _)| name))
}

/// The missing field without which Kubernetes rejects an object. clusterctl accepts such objects, and capstan warns.
fn missing_field(object: &Object) -> Option<&'static str> {
    let unnamed = object.name().is_empty() && object.get(&["metadata", "generateName"]).is_none();
    match (object.kind(), object.api_version()) {
        ("", _) => Some("kind"),
        (_, "") => Some("apiVersion"),
        (kind, _) if unnamed && !kind.ends_with("List") => Some("metadata.name"),
        _ => None,
    }
}
