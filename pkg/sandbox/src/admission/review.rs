//! `AdmissionReview` requests and responses.

use base64::{Engine, prelude::BASE64_STANDARD};
use serde::Deserialize as _;
use serde_json::{Value, json};

use super::{WriteRequest, matching::Invocation, webhook::Webhook};
use crate::{
    kinds::ResourceType,
    status::{Details, Status},
};

/// An `AdmissionReview` request with its own `uid`.
#[derive(Debug)]
pub(super) struct Review {
    uid: String,
    /// `v1` or `v1beta1`.
    version: &'static str,
    body: Vec<u8>,
}

#[derive(Debug)]
pub(super) struct ReviewResponse {
    pub(super) allowed: bool,
    /// The `Status` of a refusal; null if the webhook returned none.
    pub(super) status: Value,
    pub(super) patch: Option<Patch>,
    pub(super) warnings: Vec<String>,
}

/// The patch that a webhook returned, not yet parsed.
#[derive(Debug)]
pub(super) struct Patch {
    kind: String,
    bytes: Vec<u8>,
}

impl Default for ReviewResponse {
    fn default() -> Self {
        Self { allowed: true, status: Value::Null, patch: None, warnings: Vec::new() }
    }
}

fn group_version_kind(resource: &ResourceType, subresource: &str) -> Value {
    match resource.subresource(subresource).filter(|found| !found.kind.is_empty()) {
        Some(found) => json!({"group": &*found.group, "version": &*found.version, "kind": &*found.kind}),
        None => json!({"group": &*resource.group, "version": &*resource.version, "kind": &*resource.kind}),
    }
}

fn group_version_resource(resource: &ResourceType) -> Value {
    json!({"group": &*resource.group, "version": &*resource.version, "resource": &*resource.plural})
}

impl Review {
    /// Builds the review in the first known version that the webhook accepts: `None` if no version is known.
    pub(super) fn of(
        webhook: &Webhook,
        invocation: &Invocation<'_>,
        request: &WriteRequest<'_>,
        object: Option<&Value>,
    ) -> Option<Self> {
        let version = webhook.review_versions.iter().find_map(|version| match &**version {
            "v1" => Some("v1"),
            "v1beta1" => Some("v1beta1"),
            _ => None,
        })?;
        let uid = uuid::Uuid::new_v4().to_string();
        let body = review_request(&uid, version, invocation, request, object);
        Some(Self { uid, version, body: body.to_string().into_bytes() })
    }

    pub(super) fn body(&self) -> Vec<u8> {
        self.body.clone()
    }

    /// Parses an answer as `AdmissionReview` of the version of the review.
    pub(super) fn parse_response(&self, body: &[u8]) -> Result<Value, String> {
        let answer: Value = serde_json::from_slice(body)
            .map_err(|error| format!("couldn't get version/kind; json parse error: {error}"))?;
        let text = |field: &str| answer[field].as_str().unwrap_or_default().to_owned();
        let (version, kind) = (text("apiVersion"), text("kind"));
        let known =
            version.strip_prefix("admission.k8s.io/").filter(|version| matches!(*version, "v1" | "v1beta1"));
        match known {
            Some(_) if kind != "AdmissionReview" => {}
            Some(version) if version == self.version => return Ok(answer),
            Some(version) => {
                let wanted = self.version;
                return Err(format!(
                    "converting ({version}.AdmissionReview) to ({wanted}.AdmissionReview): unknown conversion"
                ));
            }
            None => {}
        }
        Err(format!("no kind \"{kind}\" is registered for version \"{version}\""))
    }

    pub(super) fn read_response(&self, answer: &Value, mutating: bool) -> Result<ReviewResponse, String> {
        let response = answer["response"].as_object().ok_or("webhook response was absent")?;
        let text = |field: &str| response.get(field).and_then(Value::as_str);
        if self.version == "v1" {
            let uid = text("uid").unwrap_or_default();
            if uid != self.uid {
                return Err(format!("expected response.uid=\"{}\", got \"{uid}\"", self.uid));
            }
        }
        let bytes = text("patch").map(|patch| BASE64_STANDARD.decode(patch));
        let bytes =
            bytes.transpose().map_err(|error| format!("response.patch: {error}"))?.unwrap_or_default();
        let patch = self.patch(bytes, text("patchType"), mutating)?;
        let warnings = response.get("warnings").and_then(Value::as_array).into_iter().flatten();
        Ok(ReviewResponse {
            allowed: response.get("allowed").and_then(Value::as_bool).unwrap_or_default(),
            status: response.get("status").cloned().unwrap_or_default(),
            patch,
            warnings: warnings.filter_map(Value::as_str).map(str::to_owned).collect(),
        })
    }

    fn patch(&self, bytes: Vec<u8>, kind: Option<&str>, mutating: bool) -> Result<Option<Patch>, String> {
        let strict = self.version == "v1";
        match (mutating, bytes.is_empty(), kind) {
            (false, false, _) if strict => Err("validating webhook may not return response.patch".to_owned()),
            (false, true, Some(_)) if strict => {
                Err("validating webhook may not return response.patchType".to_owned())
            }
            (true, false, None) if strict => {
                Err("webhook returned response.patch but not response.patchType".to_owned())
            }
            (true, true, Some(_)) if strict => {
                Err("webhook returned response.patchType but not response.patch".to_owned())
            }
            (true, false, Some("")) if strict => {
                Err("webhook returned invalid response.patchType of \"\"".to_owned())
            }
            (true, false, Some(kind)) if strict => Ok(Some(Patch { kind: kind.to_owned(), bytes })),
            (true, false, _) => Ok(Some(Patch { kind: "JSONPatch".to_owned(), bytes })),
            _ => Ok(None),
        }
    }
}

fn review_request(
    uid: &str,
    version: &str,
    invocation: &Invocation<'_>,
    request: &WriteRequest<'_>,
    object: Option<&Value>,
) -> Value {
    let user = request.user;
    let mut who = json!({"username": user.name});
    if !user.uid.is_empty() {
        who["uid"] = user.uid.clone().into();
    }
    if !user.groups.is_empty() {
        who["groups"] = user.groups.clone().into();
    }
    let converted =
        |value: Option<&Value>| value.map(|value| invocation.in_webhook_version(value).into_owned());
    let mut request_json = json!({
        "uid": uid,
        "kind": group_version_kind(invocation.resource, request.subresource),
        "resource": group_version_resource(invocation.resource),
        "requestKind": group_version_kind(request.resource, request.subresource),
        "requestResource": group_version_resource(request.resource),
        "operation": request.operation.name(),
        "userInfo": who,
        "object": converted(object),
        "oldObject": converted(request.old),
        "dryRun": request.dry_run,
        "options": request.options,
    });
    let optional = [
        ("subResource", request.subresource),
        ("requestSubResource", request.subresource),
        ("name", request.name),
        ("namespace", request.namespace),
    ];
    for (field, text) in optional {
        if !text.is_empty() {
            request_json[field] = text.into();
        }
    }
    json!({"kind": "AdmissionReview", "apiVersion": format!("admission.k8s.io/{version}"), "request": request_json})
}

/// Parses the operations of a patch: `None` if the patch has no operations.
pub(super) fn operations(patch: &Patch) -> Result<Option<Value>, String> {
    let read: Vec<Value> = serde_json::from_slice(&patch.bytes)
        .map_err(|error| format!("received undecodable patch in webhook response: {error}"))?;
    if read.is_empty() {
        return Ok(None);
    }
    if patch.kind != "JSONPatch" {
        return Err(format!("unsupported patch type \"{}\"", patch.kind));
    }
    Ok(Some(read.into()))
}

/// The answer to a request that a webhook refuses, made from the `Status` of the webhook.
pub(super) fn refusal(webhook: &str, status: &Value) -> Status {
    let text = |field: &str| status[field].as_str().unwrap_or_default();
    let denied = format!("admission webhook \"{webhook}\" denied the request");
    let message = match (text("message"), text("reason")) {
        ("", "") => format!("{denied} without explanation"),
        ("", reason) => format!("{denied}: {reason}"),
        (message, _) => format!("{denied}: {message}"),
    };
    let code = status["code"].as_u64().and_then(|code| u16::try_from(code).ok());
    let code = code.filter(|code| (400..600).contains(code)).unwrap_or(400);
    let refusal = Status::new(code, text("reason").to_owned(), message);
    match Details::deserialize(&status["details"]) {
        Ok(details) => refusal.with_details(details),
        Err(_) => refusal,
    }
}
