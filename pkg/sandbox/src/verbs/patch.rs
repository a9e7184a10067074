//! The patch verb with its four patch types.

use serde_json::Value;

use super::{Call, admission, call::WriteResult, decode, kind, managed, update};
use crate::{
    meta, patch,
    request::{
        body::{self, DecodedBody},
        options::{FieldValidation, WriteKind},
    },
    status::Status,
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PatchType {
    /// `application/json-patch+json`, RFC 6902.
    Json,
    /// `application/merge-patch+json`, RFC 7386.
    Merge,
    /// `application/strategic-merge-patch+json`, for built-in kinds only.
    Strategic,
    /// `application/apply-patch+yaml`.
    Apply,
}

impl PatchType {
    /// Returns the patch type of a content type.
    /// Errors: 415 for other content types, with the real server's message for the kind of resource.
    pub(crate) fn of(content_type: &str, custom: bool) -> Result<Self, Status> {
        match body::media_type(content_type) {
            "application/json-patch+json" => Ok(Self::Json),
            "application/merge-patch+json" => Ok(Self::Merge),
            "application/apply-patch+yaml" => Ok(Self::Apply),
            "application/strategic-merge-patch+json" if !custom => Ok(Self::Strategic),
            _ if custom => Err(body::unsupported(&[
                "application/json-patch+json",
                "application/merge-patch+json",
                "application/apply-patch+yaml",
            ])),
            _ => Err(Status::new(415, "UnsupportedMediaType", "415: Unsupported Media Type")
                .with_details(crate::status::Details::default())),
        }
    }

    pub(crate) fn options(self) -> WriteKind {
        if self == Self::Apply { WriteKind::Apply } else { WriteKind::Patch }
    }
}

/// A decoded patch.
#[derive(Debug)]
pub(crate) struct Patch {
    kind: PatchType,
    content: Value,
    strict_errors: Vec<String>,
    force: bool,
}

impl Patch {
    /// Decodes a patch.
    /// Errors: 400 if the patch is unreadable.
    pub(crate) fn read(sort: PatchType, content: &[u8], force: bool) -> Result<Self, Status> {
        let DecodedBody { value, strict_errors: oddities } = match sort {
            PatchType::Apply => body::configuration(content)?,
            PatchType::Json | PatchType::Merge => body::json(content)
                .map_err(|why| Status::bad_request(format!("error decoding patch: {why}")))?,
            PatchType::Strategic => body::json(content).map_err(Status::bad_request)?,
        };
        Ok(Self { kind: sort, content: value, strict_errors: oddities, force })
    }

    /// Rejects an apply to the scale of a custom resource. The real server fails to convert such a configuration.
    /// Errors: 500 with the real server's message.
    pub(crate) fn check_scale(&self, call: &Call<'_>) -> Result<(), Status> {
        if self.kind != PatchType::Apply || call.resource.custom.is_none() {
            return Ok(());
        }
        Err(Status::internal_without_details(format!(
            "failed to convert new object ({}/{}; autoscaling/v1, Kind=Scale) to proper version: request to convert CR to \
             an invalid group/version: autoscaling/v1",
            meta::namespace(&self.content),
            meta::name(&self.content)
        )))
    }

    /// Applies the patch to a value without a schema, such as a scale.
    pub(crate) fn apply_to(&self, value: &Value) -> Result<Value, Status> {
        match self.kind {
            PatchType::Json => patch::json(value, &self.content),
            PatchType::Merge | PatchType::Strategic | PatchType::Apply => patch::merge(value, &self.content),
        }
    }
}

/// Patches the object that a call names. Returns true if an apply created the object.
pub(crate) async fn patch(call: &Call<'_>, patch: &Patch) -> Result<(WriteResult, bool), Status> {
    if patch.kind == PatchType::Apply {
        return apply(call, patch).await;
    }
    update::change(call, false, |live| {
        let live = live.ok_or_else(|| call.not_found())?;
        let mut new = match patch.kind {
            PatchType::Json => patch::json(live, &patch.content)?,
            PatchType::Merge => patch::merge(live, &patch.content)?,
            PatchType::Strategic | PatchType::Apply => {
                patch::strategic(live, &patch.content, call.resource.schema.schema())?
            }
        };
        let shown = match patch.kind {
            PatchType::Strategic => Some(go_value(&patch.content)),
            _ => None,
        };
        decode::decode_patched(call, &mut new, patch.strict_errors.clone(), shown.as_deref())?;
        kind::set_defaults(&call.resource, &mut new);
        managed::track(call, Some(live), &mut new);
        decode::match_namespace(call, &mut new)?;
        decode::match_name(call, &new)?;
        Ok(new)
    })
    .await
}

async fn apply(call: &Call<'_>, patch: &Patch) -> Result<(WriteResult, bool), Status> {
    let may_create = call.subresource.is_empty();
    update::change(call, may_create, |live| {
        let mut new = managed::apply(call, live, &patch.content, patch.force)?;
        decode::check_applied(call, &new)?;
        match call.field_validation {
            FieldValidation::Ignore => {}
            FieldValidation::Warn => call.warn_all(patch.strict_errors.iter().cloned()),
            FieldValidation::Strict if patch.strict_errors.is_empty() => {}
            FieldValidation::Strict => {
                let list = patch.strict_errors.join(", ");
                return Err(Status::bad_request(format!(
                    "error strict decoding YAML: error converting YAML to JSON: yaml: unmarshal errors:\n  {list}"
                )));
            }
        }
        let sent_uid = meta::uid(&new).to_owned();
        if live.is_none() && !sent_uid.is_empty() {
            return Err(call.conflict(&format!(
                "uid mismatch: the provided object specified uid {sent_uid}, and no existing object was found"
            )));
        }
        decode::match_namespace(call, &mut new)?;
        decode::match_name(call, &new)?;
        kind::set_defaults(&call.resource, &mut new);
        admission::remove_duplicate_owners(call, &mut new);
        if live.is_none() {
            // The revision of the configuration is irrelevant, because no object exists yet.
            meta::remove(&mut new, "resourceVersion");
        }
        Ok(new)
    })
    .await
}

/// Formats a value like Go's `%+v`, as in the real server's errors about strategic patches.
fn go_value(value: &Value) -> String {
    match value {
        Value::Null => "<nil>".to_owned(),
        Value::String(text) => text.clone(),
        Value::Bool(_) | Value::Number(_) => value.to_string(),
        Value::Array(items) => format!("[{}]", items.iter().map(go_value).collect::<Vec<_>>().join(" ")),
        Value::Object(fields) => {
            let print = |(name, value): (&String, &Value)| format!("{name}:{}", go_value(value));
            format!("map[{}]", fields.iter().map(print).collect::<Vec<_>>().join(" "))
        }
    }
}
