//! Requests without effect that make the API server call a webhook.

use std::{collections::BTreeMap, time::Duration};

use api::labels::FIELD_MANAGER;
use manifest::{Object, Value};
use serde_json::json;

use super::client_configs::{self, Endpoint};
use crate::{
    ApiError, ApiKind, Blocker, GroupKind, Health, ListQuery, ObjectKey, ServedKinds, Server, Status,
    WriteMode, defined_kinds, key_of,
};

/// The name of objects that are never stored.
const NAME: &str = "capstan-probe";

/// A request that tests one webhook.
#[derive(Debug)]
pub(super) struct Probe {
    /// The object that makes the server call the webhook.
    pub(super) object: ObjectKey,
    kind: ApiKind,
    request: ProbeRequest,
}

#[derive(Debug)]
enum ProbeRequest {
    /// Create an object in a dry run.
    Create { namespace: String },
    /// Read an object in a version other than its storage version.
    Read,
}

/// An admission webhook for creations. Mutating webhooks are better candidates, because the server calls them before it
/// validates the object.
struct Candidate<'a> {
    object: &'a Object,
    rules: &'a Value,
    is_ignored: bool,
}

impl Probe {
    /// Returns one probe for each service that a webhook of these objects calls.
    pub(super) async fn all(server: &Server, objects: &[Object]) -> Result<Vec<Self>, ApiError> {
        let mut candidates: BTreeMap<Endpoint, Vec<Candidate<'_>>> = BTreeMap::new();
        for object in objects {
            for webhook in client_configs::webhooks(object) {
                let Some(endpoint) = webhook.get("clientConfig").and_then(Endpoint::of) else { continue };
                let is_ignored = webhook["failurePolicy"] == "Ignore";
                let candidate = Candidate { object, rules: &webhook["rules"], is_ignored };
                candidates.entry(endpoint).or_default().push(candidate);
            }
        }
        let mut probes = Vec::new();
        let has_all = |kinds: &ServedKinds| {
            let is_known = |candidate: &Candidate<'_>| created_kind(kinds, candidate.rules).is_some();
            candidates.values().flatten().all(is_known)
        };
        let kinds = if candidates.is_empty() { None } else { Some(server.kinds_with(has_all).await?) };
        for (endpoint, candidates) in &mut candidates {
            candidates.sort_by_key(|of| (of.is_ignored, !of.object.kind().starts_with("Mutating")));
            let found = candidates.iter().find_map(|candidate| {
                let kind = created_kind(kinds.as_ref()?, candidate.rules)?;
                Some((candidate.object, kind))
            });
            probes.extend(found.map(|(object, kind)| Self {
                object: key_of(object),
                kind,
                request: ProbeRequest::Create { namespace: endpoint.namespace().to_owned() },
            }));
        }
        probes.extend(conversion_probes(objects, |endpoint| candidates.contains_key(endpoint)));
        Ok(probes)
    }

    /// Sends the probe once; returns a blocker if there is no answer.
    /// # Errors
    /// Permanent failures of the server itself.
    pub(super) async fn send(&self, server: &Server) -> Result<Option<Blocker>, ApiError> {
        let once = server.retrying_for(Duration::ZERO);
        let answer = match &self.request {
            ProbeRequest::Create { namespace } => once
                .create(&self.kind, &self.object_to_create(namespace), FIELD_MANAGER, WriteMode::DryRun)
                .await
                .map(|_| ()),
            ProbeRequest::Read => {
                let one = ListQuery { limit: Some(1), ..ListQuery::default() };
                once.list(&self.kind, &one).await.map(|_| ())
            }
        };
        match answer {
            Err(error) if error.is_temporary() => Ok(Some(Blocker::new(
                self.object.clone(),
                Status::of(Health::InProgress, error.short_message()),
            ))),
            Ok(()) | Err(ApiError::Status { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn object_to_create(&self, namespace: &str) -> Object {
        let mut object = Object::default();
        object.as_map_mut().insert("apiVersion".to_owned(), self.kind.api_version().into());
        object.as_map_mut().insert("kind".to_owned(), self.kind.kind.as_str().into());
        object.as_map_mut().insert("metadata".to_owned(), json!({"name": NAME}));
        if self.kind.namespaced {
            object.set_namespace(namespace);
        }
        object
    }
}

/// Returns probes of services that only convert: a stored object is read in another version.
fn conversion_probes(objects: &[Object], is_probed: impl Fn(&Endpoint) -> bool) -> Vec<Probe> {
    let mut probes = BTreeMap::new();
    for object in objects.iter().filter(|object| object.is_crd()) {
        let endpoint = client_configs::client_configs(object).find_map(Endpoint::of);
        let Some(endpoint) = endpoint.filter(|endpoint| !is_probed(endpoint)) else { continue };
        let kind = converted_kind(object);
        probes.extend(
            kind.map(|kind| (endpoint, Probe { object: key_of(object), kind, request: ProbeRequest::Read })),
        );
    }
    probes.into_values().collect()
}

/// Returns the kind of a definition in a version that is served and not stored.
fn converted_kind(definition: &Object) -> Option<ApiKind> {
    let versions = definition.get(&["spec", "versions"])?.as_array()?;
    let stored = versions.iter().find(|version| version["storage"] == true)?["name"].as_str()?;
    defined_kinds(definition).into_iter().find(|kind| kind.version != stored)
}

/// Returns a kind whose creation a rule covers.
fn created_kind(kinds: &ServedKinds, rules: &Value) -> Option<ApiKind> {
    let rules = rules.as_array()?.iter().filter(|rule| matches_rule(&rule["operations"], "CREATE"));
    rules.into_iter().find_map(|rule| {
        let candidates = kinds.iter().filter(|kind| {
            matches_rule(&rule["apiGroups"], &kind.group)
                && matches_resource(&rule["resources"], &kind.plural)
        });
        candidates.filter(|kind| kind.supports("create") && kind.supports("get")).find_map(|kind| {
            let group_kind = GroupKind::new(&*kind.group, &*kind.kind);
            let version = rule["apiVersions"].as_array()?.iter().filter_map(Value::as_str);
            let mut served = version.filter_map(|version| match version {
                "*" => Some(kind),
                version => kinds.version(&group_kind, version),
            });
            served.next().cloned()
        })
    })
}

/// True if a list of a rule includes the name or `*`.
fn matches_rule(list: &Value, wanted: &str) -> bool {
    list.as_array().into_iter().flatten().any(|name| name == wanted || name == "*")
}

/// True if a list of a rule includes the resource. Subresources have names of their own: `*` excludes them, `*/*`
/// includes everything.
fn matches_resource(list: &Value, plural: &str) -> bool {
    matches_rule(list, plural) || list.as_array().into_iter().flatten().any(|name| name == "*/*")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::object;

    fn kinds() -> ServedKinds {
        let mut kinds = ServedKinds::default();
        for (group, version, kind, plural, verbs) in [
            ("", "v1", "Binding", "bindings", &["create"][..]),
            ("", "v1", "ConfigMap", "configmaps", &["create", "get"]),
            ("example.com", "v2", "Widget", "widgets", &[]),
            ("example.com", "v1", "Widget", "widgets", &[]),
        ] {
            kinds.add(ApiKind {
                group: group.to_owned(),
                version: version.to_owned(),
                kind: kind.to_owned(),
                plural: plural.to_owned(),
                namespaced: true,
                verbs: verbs.iter().map(|&verb| verb.to_owned()).collect(),
            });
        }
        kinds
    }

    #[test]
    fn a_rule_is_probed_with_a_kind_it_covers() {
        for (groups, versions, operations, resources, expected) in [
            ("", "v1", "CREATE", "configmaps", Some("v1 ConfigMap")),
            ("", "v1", "*", "*", Some("v1 ConfigMap")),
            ("example.com", "v1", "CREATE", "widgets", Some("example.com/v1 Widget")),
            ("example.com", "*", "CREATE", "*/*", Some("example.com/v2 Widget")),
            ("*", "v2", "CREATE", "*", Some("example.com/v2 Widget")),
            ("example.com", "v3", "CREATE", "widgets", None),
            ("example.com", "v1", "UPDATE", "widgets", None),
            ("example.com", "v1", "CREATE", "widgets/status", None),
            ("example.org", "v1", "CREATE", "widgets", None),
        ] {
            let rule = json!({
                "apiGroups": [groups], "apiVersions": [versions], "operations": [operations], "resources": [resources]
            });
            let kind = created_kind(&kinds(), &json!([{}, rule]));
            let kind = kind.map(|kind| format!("{} {}", kind.api_version(), kind.kind));
            assert_eq!(kind.as_deref(), expected, "{rule}");
        }
    }

    #[test]
    fn a_conversion_service_is_probed_by_reading_an_unstored_version() {
        let definition = |name: &str, served: bool| {
            object(json!({
                "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": name},
                "spec": {
                    "group": "example.com", "scope": "Cluster", "names": {"kind": "Widget", "plural": "widgets"},
                    "versions": [
                        {"name": "v1", "served": true, "storage": true}, {"name": "v2", "served": served, "storage": false}
                    ],
                    "conversion": {"strategy": "Webhook", "webhook": {"clientConfig": {
                        "service": {"namespace": "ns", "name": name}
                    }}}
                }
            }))
        };
        let objects = [definition("a", true), definition("b", true), definition("c", false)];
        let is_probed = |endpoint: &Endpoint| {
            *endpoint == Endpoint::Service { namespace: "ns".to_owned(), name: "b".to_owned() }
        };
        let probes = conversion_probes(&objects, is_probed);
        let [Probe { object, kind, request: ProbeRequest::Read }] = &probes[..] else { panic!("{probes:?}") };
        assert_eq!((object.name.as_str(), kind.api_version().as_str()), ("a", "example.com/v2"));
    }
}
