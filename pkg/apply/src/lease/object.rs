//! The Lease object, and the requests that read and write it.

use http::Method;
use jiff::Timestamp;
use manifest::{Map, Object, Value};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{LEASE_DURATION, LeaseHolder, LeaseName};
use crate::{ApiError, ObjectRevision, Server, server::call::ApiCall};

/// The annotation with machine, process and command of the holder, as JSON.
const HOLDER: &str = "capstan.dev/holder";
const JSON: &str = "application/json";

/// The content of the annotation.
#[derive(Serialize, Deserialize)]
struct HolderAnnotation {
    host: String,
    process: String,
    verb: String,
}

/// The requests for a lease, each sent without a lease.
pub(super) struct LeaseRequests<'a> {
    pub(super) server: &'a Server,
    pub(super) name: &'a LeaseName,
}

impl LeaseRequests<'_> {
    pub(super) async fn create(&self, lease: &Object) -> Result<Object, ApiError> {
        self.send(&self.call(Method::POST, "create", "", Some(lease.as_map()))).await
    }

    pub(super) async fn read(&self) -> Result<Option<Object>, ApiError> {
        match self.send(&self.call(Method::GET, "get", &self.name.name, None)).await {
            Err(error) if error.is_not_found() => Ok(None),
            found => found.map(Some),
        }
    }

    /// Replaces one revision. The object needs its uid, because a PUT can also create a Lease.
    pub(super) async fn replace(&self, lease: &Object) -> Result<Object, ApiError> {
        self.send(&self.call(Method::PUT, "renew", &self.name.name, Some(lease.as_map()))).await
    }

    pub(super) async fn delete(&self, only: &ObjectRevision) -> Result<(), ApiError> {
        let ObjectRevision { uid, resource_version } = only;
        let options = json!({
            "apiVersion": "v1",
            "kind": "DeleteOptions",
            "preconditions": {"uid": uid, "resourceVersion": resource_version},
        });
        let call = self.call(Method::DELETE, "release", &self.name.name, options.as_object());
        self.server.send(&call).await.map(drop)
    }

    async fn send(&self, call: &ApiCall) -> Result<Object, ApiError> {
        self.server.object(call, &self.server.send(call).await?)
    }

    fn call(&self, method: Method, verb: &str, name: &str, body: Option<&Map<String, Value>>) -> ApiCall {
        let LeaseName { namespace, name: lease } = self.name;
        let separator = if name.is_empty() { "" } else { "/" };
        let path = format!("/apis/coordination.k8s.io/v1/namespaces/{namespace}/leases{separator}{name}");
        let call = ApiCall::new(method, format!("{verb} Lease {namespace}/{lease}"), path).for_lease();
        match body {
            Some(body) => call.body(
                JSON,
                serde_json::to_vec(body).expect("invariant: JSON trees have string keys and can be written"),
            ),
            None => call,
        }
    }
}

/// Returns an identity that no other run has, even in the same process.
pub(super) fn identity(holder: &LeaseHolder) -> String {
    format!("{}/{}/{:08x}", holder.host, holder.process, fastrand::u32(..))
}

/// Returns a Lease that nobody holds yet. Its time is the creation time, by the clock of the server.
pub(super) fn new_lease(name: &LeaseName, holder: &LeaseHolder, identity: &str) -> Object {
    let lease = json!({
        "apiVersion": "coordination.k8s.io/v1",
        "kind": "Lease",
        "metadata": {
            "namespace": name.namespace,
            "name": name.name,
            "annotations": {HOLDER: holder_annotation(holder)},
        },
        "spec": {"holderIdentity": identity, "leaseDurationSeconds": LEASE_DURATION.as_secs()},
    });
    Object::try_from(lease).expect("invariant: the literal above is a mapping")
}

/// Returns the Lease of another run after a takeover.
pub(super) fn take_over(
    found: &Object,
    holder: &LeaseHolder,
    identity: &str,
    now: Option<Timestamp>,
) -> Object {
    let mut lease = renew(found, now);
    set(&mut lease, &["metadata", "annotations"], HOLDER, holder_annotation(holder).into());
    set(&mut lease, &["spec"], "holderIdentity", identity.into());
    set(&mut lease, &["spec"], "leaseDurationSeconds", LEASE_DURATION.as_secs().into());
    set(&mut lease, &["spec"], "acquireTime", time(now));
    let transitions = found.get(&["spec", "leaseTransitions"]).and_then(Value::as_u64).unwrap_or_default();
    set(&mut lease, &["spec"], "leaseTransitions", transitions.saturating_add(1).into());
    lease
}

/// Returns the Lease with a new renewal time.
pub(super) fn renew(lease: &Object, now: Option<Timestamp>) -> Object {
    let mut lease = lease.clone();
    set(&mut lease, &["spec"], "renewTime", time(now));
    lease
}

/// True if the last renewal is longer ago than a lease lasts. False if the time of the server is unknown.
pub(super) fn is_expired(lease: &Object, now: Option<Timestamp>) -> bool {
    if identity_of(lease).is_empty() {
        return true;
    }
    let Some(now) = now else { return false };
    let times = [timestamp(lease, &["spec", "renewTime"]), creation_time(lease)];
    let last = times.into_iter().flatten().max();
    last.is_some_and(|last| {
        now.duration_since(last) > LEASE_DURATION.try_into().unwrap_or(jiff::SignedDuration::MAX)
    })
}

pub(super) fn identity_of(lease: &Object) -> &str {
    lease.get(&["spec", "holderIdentity"]).and_then(Value::as_str).unwrap_or_default()
}

/// Returns the holder of a Lease. If another program wrote the Lease, its identity stands for the machine.
pub(super) fn holder(lease: &Object) -> LeaseHolder {
    let noted = lease.annotation(HOLDER).and_then(|text| serde_json::from_str(text).ok());
    let HolderAnnotation { host, process, verb } = noted.unwrap_or_else(|| HolderAnnotation {
        host: identity_of(lease).to_owned(),
        process: String::new(),
        verb: String::new(),
    });
    let since = timestamp(lease, &["spec", "acquireTime"]).or_else(|| creation_time(lease));
    LeaseHolder { host: one_line(&host), process: one_line(&process), verb: one_line(&verb), since }
}

/// Escapes control characters, because any program can write a Lease.
fn one_line(text: &str) -> String {
    text.chars().flat_map(|c| if c.is_control() { c.escape_default().collect() } else { vec![c] }).collect()
}

fn holder_annotation(holder: &LeaseHolder) -> String {
    let LeaseHolder { host, process, verb, .. } = holder.clone();
    serde_json::to_string(&HolderAnnotation { host, process, verb }).expect("invariant: three texts are JSON")
}

fn creation_time(lease: &Object) -> Option<Timestamp> {
    timestamp(lease, &["metadata", "creationTimestamp"])
}

fn timestamp(lease: &Object, path: &[&str]) -> Option<Timestamp> {
    lease.get(path)?.as_str()?.parse().ok()
}

/// Formats a time as MicroTime; null if the time is unknown.
fn time(now: Option<Timestamp>) -> Value {
    now.map_or(Value::Null, |now| format!("{now:.6}").into())
}

fn set(lease: &mut Object, path: &[&str], field: &str, value: Value) {
    let mut fields = lease.as_map_mut();
    for part in path {
        let inner = fields.entry((*part).to_owned()).or_insert_with(|| json!({}));
        if !inner.is_object() {
            *inner = json!({});
        }
        let Some(inner) = inner.as_object_mut() else { return };
        fields = inner;
    }
    fields.insert(field.to_owned(), value);
}
