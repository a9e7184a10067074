//! The format of manifests in a journal. Pure functions.

use std::io::{self, Read as _, Write as _};

use data_encoding::HEXLOWER;
use flate2::{Compression, read::GzDecoder, write::GzEncoder};
use manifest::{Map, Object, Value};
use sha2::{Digest as _, Sha256};

use crate::sources::ca_bundle::remove_injected_ca_bundles;

/// The size of one part in bytes. A Secret may hold 1 MiB; in base64 this is 0.93 of the 1.0 million a
/// request may safely have.
const PART_BYTES: usize = 700_000;

/// The limit of the unpacked size of a journal, in bytes.
const MAX_BYTES: u64 = 256 << 20;

/// Metadata fields that servers write, and fields that refer to other objects that may be gone at restore time.
const SERVER_FIELDS: [&str; 9] = [
    "creationTimestamp",
    "deletionGracePeriodSeconds",
    "deletionTimestamp",
    "finalizers",
    "generation",
    "managedFields",
    "ownerReferences",
    "resourceVersion",
    "uid",
];

/// Returns a live object without the fields that the server and controllers write, so that the object can be
/// applied again.
pub(crate) fn restorable_object(live: &Object) -> Object {
    let mut object = live.clone();
    remove_injected_ca_bundles(&mut object);
    let fields = object.as_map_mut();
    fields.remove("status");
    if let Some(Value::Object(metadata)) = fields.get_mut("metadata") {
        for field in SERVER_FIELDS {
            metadata.remove(field);
        }
        if let Some(Value::Object(annotations)) = metadata.get_mut("annotations") {
            annotations.remove("deployment.kubernetes.io/revision");
        }
    }
    match (live.group(), live.kind()) {
        ("", "Namespace") => drop(fields.remove("spec")),
        ("", "ServiceAccount") => drop(fields.remove("secrets")),
        ("", "Service") => drop_addresses(&mut object),
        // A controller aggregates the rules.
        ("rbac.authorization.k8s.io", "ClusterRole") if object.get(&["aggregationRule"]).is_some() => {
            drop(object.as_map_mut().remove("rules"));
        }
        _ => {}
    }
    object
}

/// Removes the addresses of a Service, because a recreated Service gets new ones. Keeps `None`, which the user chose.
fn drop_addresses(service: &mut Object) {
    let Some(Value::Object(spec)) = service.get_mut(&["spec"]) else { return };
    if spec.get("clusterIP").and_then(Value::as_str) != Some("None") {
        spec.remove("clusterIP");
        spec.remove("clusterIPs");
    }
}

/// Compresses objects as one JSON list, split into parts.
pub(crate) fn pack(objects: &[&Object]) -> io::Result<Vec<Vec<u8>>> {
    let list: Vec<_> = objects.iter().map(|object| object.as_map()).collect();
    let mut writer = GzEncoder::new(Vec::new(), Compression::default());
    serde_json::to_writer(&mut writer, &list)?;
    writer.flush()?;
    let packed = writer.finish()?;
    Ok(packed.chunks(PART_BYTES).map(<[u8]>::to_vec).collect())
}

/// Returns the packed objects.
pub(crate) fn unpack(parts: &[Vec<u8>]) -> io::Result<Vec<Object>> {
    let packed = parts.concat();
    let mut text = Vec::new();
    GzDecoder::new(&*packed).take(MAX_BYTES).read_to_end(&mut text)?;
    let list: Vec<Map<String, Value>> = serde_json::from_slice(&text)?;
    Ok(list.into_iter().map(Object::from_map).collect())
}

/// Returns the hex SHA-256 over all parts.
pub(crate) fn digest(parts: &[Vec<u8>]) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update(part);
    }
    HEXLOWER.encode(&hash.finalize())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn object(value: Value) -> Object {
        Object::try_from(value).unwrap()
    }

    #[test]
    fn fields_of_servers_and_controllers_are_not_restored() {
        let cases = [
            (
                json!({"apiVersion": "apps/v1", "kind": "Deployment",
                    "metadata": {"name": "m", "uid": "1", "resourceVersion": "7", "generation": 2, "managedFields": [],
                        "annotations": {"deployment.kubernetes.io/revision": "2", "mine": "x"}},
                    "spec": {"replicas": 2}, "status": {"replicas": 2}}),
                json!({"apiVersion": "apps/v1", "kind": "Deployment",
                    "metadata": {"name": "m", "annotations": {"mine": "x"}}, "spec": {"replicas": 2}}),
            ),
            (
                json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "s"},
                    "spec": {"clusterIP": "10.0.0.1", "clusterIPs": ["10.0.0.1"], "ports": []}}),
                json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "s"}, "spec": {"ports": []}}),
            ),
            (
                json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "s"}, "spec": {"clusterIP": "None"}}),
                json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "s"}, "spec": {"clusterIP": "None"}}),
            ),
            (
                json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "n"}, "spec": {"finalizers": []}}),
                json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "n"}}),
            ),
            (
                json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": "r"},
                    "aggregationRule": {}, "rules": [{"verbs": ["get"]}]}),
                json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": "r"},
                    "aggregationRule": {}}),
            ),
            (
                json!({"kind": "ValidatingWebhookConfiguration",
                    "metadata": {"name": "w", "annotations": {"cert-manager.io/inject-ca-from": "n/c"}},
                    "webhooks": [{"name": "a", "clientConfig": {"caBundle": "Zm9v", "url": "u"}}]}),
                json!({"kind": "ValidatingWebhookConfiguration",
                    "metadata": {"name": "w", "annotations": {"cert-manager.io/inject-ca-from": "n/c"}},
                    "webhooks": [{"name": "a", "clientConfig": {"url": "u"}}]}),
            ),
        ];
        for (live, expected) in cases {
            assert_eq!(Value::from(restorable_object(&object(live))), expected);
        }
    }

    #[test]
    fn packed_manifests_round_trip_in_parts_that_fit_a_secret() {
        let mut random = fast_random(7);
        let noise: String = (0..2_000_000).map(|_| char::from(b'a' + (random() % 26) as u8)).collect();
        let objects = [
            object(json!({"kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"noise": noise}})),
            object(json!({"kind": "ConfigMap", "metadata": {"name": "b"}})),
        ];
        let parts = pack(&objects.iter().collect::<Vec<_>>()).unwrap();
        assert!(parts.len() > 1 && parts.iter().all(|part| part.len() <= PART_BYTES), "{}", parts.len());
        assert_eq!(unpack(&parts).unwrap(), objects);
        let cut = &parts[..parts.len() - 1];
        assert!(unpack(cut).is_err());
        assert_ne!(digest(cut), digest(&parts));
    }

    /// Returns incompressible numbers, the same in every run.
    fn fast_random(seed: u64) -> impl FnMut() -> u64 {
        let mut state = seed;
        move || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            state >> 33
        }
    }
}
