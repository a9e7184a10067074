//! Pod subresources without kubelets: bindings, evictions, logs; also tokens of service accounts.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use jiff::SignedDuration;
use serde_json::{Value, json};

use super::{Call, delete, update};
use crate::{clock::Clock, conditions, meta, request::options::DeleteOptions, status::Status};

/// The default lifetime of a token, in seconds.
const TOKEN_SECONDS: i64 = 3600;

/// Returns a success status with code 201 and without an object.
pub(crate) fn created_status() -> Value {
    json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201})
}

/// Binds a pod to a node.
/// Errors: 409 if the pod already has a node.
pub(crate) async fn bind(call: &Call<'_>, binding: &Value) -> Result<Value, Status> {
    let node = binding["target"]["name"].as_str().unwrap_or_default().to_owned();
    let mut whole = Call::new(call.server, call.kinds.clone(), call.resource.clone());
    (whole.namespace, whole.name, whole.manager, whole.dry_run) =
        (call.namespace, call.name, call.manager, call.dry_run);
    // The pod endpoint does not allow changes of the node.
    whole.subresource = "binding";
    update::change(&whole, false, |live| {
        let live = live.ok_or_else(|| call.not_found())?;
        if let Some(there) = live["spec"]["nodeName"].as_str().filter(|there| !there.is_empty()) {
            let why = format!("pod {} is already assigned to node \"{there}\"", call.name);
            return Err(Status::conflict("", "pods/binding", call.name, &why));
        }
        if meta::is_deleting(live) {
            let why = format!("pod {} is being deleted, cannot be assigned to a host", call.name);
            return Err(Status::conflict("", "pods/binding", call.name, &why));
        }
        let mut new = live.clone();
        new["spec"]["nodeName"] = node.clone().into();
        set_scheduled(&mut new, &call.server.clock.now());
        for field in ["labels", "annotations"] {
            if let Some(added) = meta::field(binding, field).and_then(Value::as_object) {
                let mut all =
                    meta::field(&new, field).and_then(Value::as_object).cloned().unwrap_or_default();
                all.extend(added.clone());
                meta::set(&mut new, field, all);
            }
        }
        Ok(new)
    })
    .await?;
    Ok(created_status())
}

fn set_scheduled(pod: &mut Value, now: &str) {
    let condition =
        json!({"type": "PodScheduled", "status": "True", "lastProbeTime": null, "lastTransitionTime": now});
    conditions::set(pod, condition);
}

/// Evicts a pod. Disruption budgets are ignored, so the eviction is a deletion.
pub(crate) async fn evict(call: &Call<'_>, eviction: &Value) -> Result<Value, Status> {
    let options = eviction.get("deleteOptions").filter(|options| options.is_object());
    let text = options.map(Value::to_string).unwrap_or_default();
    let mut options =
        DeleteOptions::read(&crate::request::Query::default(), text.as_bytes(), "application/json")?;
    options.dry_run |= call.dry_run;
    delete::delete(call, &options).await?;
    Ok(created_status())
}

/// Creates a token of a service account. The token is fictitious and grants nothing.
/// Errors: 404 if the account does not exist.
pub(crate) fn token(call: &Call<'_>, mut request: Value) -> Result<Value, Status> {
    let account = super::read::get(call, "")?;
    let account = super::object::read(&call.resource, &account);
    let seconds = request["spec"]["expirationSeconds"].as_i64().unwrap_or(TOKEN_SECONDS).clamp(600, 1 << 32);
    if request["spec"]["audiences"].as_array().is_none_or(Vec::is_empty) {
        request["spec"]["audiences"] = json!(["https://kubernetes.default.svc"]);
    }
    let now = call.server.clock.timestamp();
    let expires = now.saturating_add(SignedDuration::from_secs(seconds)).unwrap_or(now);
    let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
    let claims = json!({
        "aud": request["spec"]["audiences"],
        "exp": expires.as_second(),
        "iat": now.as_second(),
        "iss": "https://kubernetes.default.svc",
        "jti": uuid::Uuid::new_v4().to_string(),
        "kubernetes.io": {
            "namespace": call.namespace,
            "serviceaccount": {"name": call.name, "uid": meta::uid(&account)},
        },
        "nbf": now.as_second(),
        "sub": format!("system:serviceaccount:{}:{}", call.namespace, call.name),
    });
    let token =
        format!("{}.{}.{}", part(&json!({"alg": "none", "kid": "sandbox"})), part(&claims), part(&json!("")));
    Ok(json!({
        "kind": "TokenRequest",
        "apiVersion": "authentication.k8s.io/v1",
        "metadata": {
            "name": call.name,
            "namespace": call.namespace,
            "uid": meta::uid(&account),
            "creationTimestamp": call.server.clock.now(),
        },
        "spec": {
            "audiences": request["spec"]["audiences"],
            "expirationSeconds": seconds,
            "boundObjectRef": request["spec"]["boundObjectRef"],
        },
        "status": {"token": token, "expirationTimestamp": Clock::format(expires)},
    }))
}
