//! `--provenance`: the origin of the fields of printed objects.

use api::output::{FieldProvenance, FieldSetter, ObjectProvenance, ProvenanceReport};
use manifest::{
    Object,
    provenance::{FieldOrigin, Trace},
};

use crate::{
    Failure,
    settings::{OutputFormat, to_json},
};

/// The flag.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct ProvenanceFlag {
    /// Show the setter of each field: comments or json
    #[arg(long, value_name = "FORM", num_args = 0..=1, require_equals = true, default_missing_value = "comments")]
    provenance: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Provenance {
    Off,
    Comments,
    Json,
}

impl ProvenanceFlag {
    /// Parses the flag for an output format.
    pub(crate) fn parse(&self, format: OutputFormat) -> Result<Provenance, Failure> {
        match (self.provenance.as_deref(), format) {
            (None, _) => Ok(Provenance::Off),
            (Some("comments"), OutputFormat::Json) => {
                Err(Failure::user("JSON output cannot contain comments")
                    .hint("use `--provenance=json` for a list of fields, or omit `--output json`"))
            }
            (Some("comments"), _) => Ok(Provenance::Comments),
            (Some("json"), _) => Ok(Provenance::Json),
            (Some(other), _) => Err(Failure::user(format!("invalid value `{other}` for `--provenance`"))
                .hint("use comments or json")),
        }
    }
}

impl Provenance {
    pub(crate) fn trace(self) -> Trace {
        match self {
            Self::Off => Trace::Off,
            Self::Comments | Self::Json => Trace::On,
        }
    }
}

pub(crate) fn report(objects: &[Object]) -> Result<String, Failure> {
    to_json(&ProvenanceReport { objects: objects.iter().map(provenance_of).collect() })
}

fn provenance_of(object: &Object) -> ObjectProvenance {
    let fields = object.changed_fields().into_iter();
    ObjectProvenance {
        api_version: object.api_version().to_owned(),
        kind: object.kind().to_owned(),
        namespace: non_empty(object.namespace()),
        name: object.name().to_owned(),
        origin: object.provenance().map(|provenance| field_setter(provenance.object_origin())),
        fields: fields
            .map(|it| FieldProvenance { path: it.pointer, set_by: field_setter(it.origin) })
            .collect(),
    }
}

pub(crate) fn field_setter(setter: &FieldOrigin) -> FieldSetter {
    FieldSetter {
        file: non_empty(&setter.file),
        field: non_empty(&setter.field),
        content: non_empty(&setter.content),
    }
}

pub(crate) fn non_empty(text: &str) -> Option<String> {
    Some(text.to_owned()).filter(|text| !text.is_empty())
}
