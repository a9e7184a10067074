//! The labels of cert-manager objects, and the record of the cert-manager apply set.

use api::labels;
use apply::{ApiError, ApplySet, ApplySetStore, ListQuery, OwnershipMarks};
use futures::{FutureExt as _, future::BoxFuture};
use inventory::{ManagementCluster, config_map_kind};
use manifest::{Object, Value};
use serde_json::json;

/// The label of cert-manager objects that clusterctl or capstan installed.
pub(super) const CORE_LABEL: &str = "clusterctl.cluster.x-k8s.io/core";
pub(super) const CORE_VALUE: &str = "cert-manager";
/// Selects objects with `CORE_LABEL`.
pub(super) const SELECTOR: &str = "clusterctl.cluster.x-k8s.io/core=cert-manager";
/// The annotation with the version of a cert-manager object.
pub(super) const VERSION_ANNOTATION: &str = "cert-manager.clusterctl.cluster.x-k8s.io/version";

/// The name of the ConfigMap in the namespace of cert-manager. The ConfigMap has no cert-manager label,
/// because clusterctl counts all labelled objects.
const RECORD_NAME: &str = "capstan.cert-manager";
/// The same key as in the records of providers.
const SET_KEY: &str = "applySet";
const VERSION_KEY: &str = "version";

/// The record of the cert-manager apply set.
pub(super) struct CertManagerRecord<'a> {
    pub(super) cluster: &'a ManagementCluster,
    pub(super) namespace: &'a str,
    pub(super) version: &'a str,
}

impl ApplySetStore for CertManagerRecord<'_> {
    fn save<'a>(&'a self, set: &'a ApplySet) -> BoxFuture<'a, Result<(), ApiError>> {
        let set = serde_json::to_string(set).expect("invariant: an apply set has text keys alone");
        let record = json!({
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {
                "name": RECORD_NAME,
                "namespace": self.namespace,
                "labels": {labels::CLUSTERCTL: ""},
            },
            "data": {SET_KEY: set, VERSION_KEY: self.version},
        });
        let record = Object::try_from(record).expect("invariant: the literal above is a mapping");
        async move { self.cluster.store_object(&config_map_kind(), &record).await }.boxed()
    }
}

pub(super) fn marks() -> OwnershipMarks {
    OwnershipMarks {
        label: (CORE_LABEL.to_owned(), CORE_VALUE.to_owned()),
        reserved: Vec::new(),
        owner: CORE_VALUE.to_owned(),
        owner_annotation: None,
        digest_annotation: None,
        finalizer: None,
        shares_namespaces: false,
    }
}

/// Returns the recorded apply set from any namespace. A record that cannot be read counts as absent.
pub(super) async fn recorded_cert_manager_set(
    cluster: &ManagementCluster,
) -> Result<Option<ApplySet>, ApiError> {
    let list = ListQuery { fields: format!("metadata.name={RECORD_NAME}"), ..ListQuery::default() };
    let records = cluster.server.list(&config_map_kind(), &list).await?;
    let Some(record) = records.first() else { return Ok(None) };
    cluster.revisions.record(record);
    let text = record.get(&["data", SET_KEY]).and_then(Value::as_str).unwrap_or_default();
    match serde_json::from_str(text) {
        Ok(set) => Ok(Some(set)),
        Err(error) => {
            let place = format!("{}/{RECORD_NAME}", record.namespace());
            cluster.warn(format!("ignoring key `{SET_KEY}` of ConfigMap {place}: {error}"));
            Ok(None)
        }
    }
}
