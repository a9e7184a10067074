use apply::{FieldSet, ObjectKey, Policies};
use support::{fixture::Fixture, kind::CONFIG_MAP};

use super::*;
use crate::{
    provider_set::read_recorded_set,
    testing::{NEW_VERSION, cluster, docker, namespace_of},
};

fn set_of(phase: ItemPhase) -> ApplySet {
    let policies = Policies::default();
    let item = ApplySetItem {
        key: ObjectKey { kind: "Service".to_owned(), name: "webhook".to_owned(), ..ObjectKey::default() },
        version: "v1".to_owned(),
        adoption_policy: policies.adoption,
        reconcile_policy: policies.reconcile,
        update_policy: policies.update,
        delete_policy: policies.delete,
        apply_order: 0,
        delete_order: 0,
        managed_types: Vec::new(),
        digest: "abc".to_owned(),
        owned: String::new(),
        owned_fields: FieldSet::default(),
        phase,
        status: String::new(),
        last_applied_at: None,
    };
    ApplySet { items: vec![item] }
}

async fn record(fixture: &Fixture) -> ProviderRecord {
    let namespace = namespace_of(&docker());
    ProviderRecord {
        cluster: cluster(fixture).await,
        id: docker(),
        version: NEW_VERSION.to_owned(),
        namespace,
    }
}

const NAMESPACE: &str = "{apiVersion: v1, kind: Namespace, metadata: {name: infrastructure-docker-system}}";

#[tokio::test]
async fn a_record_has_the_provider_labels_and_is_deleted_when_empty() {
    let fixture = Fixture::start().await;
    fixture.apply(NAMESPACE).await;
    let record = record(&fixture).await;
    let set = set_of(ItemPhase::Ready);
    record.save(&set).await.unwrap();
    let place = "infrastructure-docker-system/capstan.infrastructure-docker";
    let kept = fixture.get(CONFIG_MAP, place).await.unwrap();
    assert_eq!(kept["metadata"]["labels"]["cluster.x-k8s.io/provider"], "infrastructure-docker");
    let read = read_recorded_set(&record.cluster, &record.id, &record.namespace).await.unwrap();
    assert_eq!(read, Some((set, NEW_VERSION.to_owned())));

    record.save(&ApplySet::default()).await.unwrap();
    assert_eq!(fixture.get(CONFIG_MAP, place).await, None);
    assert_eq!(read_recorded_set(&record.cluster, &record.id, &record.namespace).await.unwrap(), None);
}

#[tokio::test]
async fn a_record_without_its_namespace_matters_only_for_kept_objects() {
    let fixture = Fixture::start().await;
    let record = record(&fixture).await;
    assert!(record.save(&set_of(ItemPhase::ScheduledForApplication)).await.is_err());
    record.save(&set_of(ItemPhase::Deleting)).await.unwrap();
    record.save(&ApplySet::default()).await.unwrap();
}

#[tokio::test]
async fn an_invalid_record_is_an_error_with_its_name() {
    let fixture = Fixture::start().await;
    fixture.apply(NAMESPACE).await;
    fixture
        .apply(
            "{apiVersion: v1, kind: ConfigMap, metadata: {name: capstan.infrastructure-docker, \
             namespace: infrastructure-docker-system}, data: {applySet: soon}}",
        )
        .await;
    let record = record(&fixture).await;
    let error =
        read_recorded_set(&record.cluster, &record.id, &record.namespace).await.unwrap_err().to_string();
    assert!(error.contains("infrastructure-docker-system/capstan.infrastructure-docker"), "{error}");
}

// Row: D-336
#[tokio::test]
async fn an_oversized_record_keeps_only_digests() {
    let fixture = Fixture::start().await;
    fixture.apply(NAMESPACE).await;
    let record = record(&fixture).await;
    let mut set = set_of(ItemPhase::Ready);
    let fields: serde_json::Map<_, _> =
        (0..20_000).map(|number| (format!("f:a-field-of-some-length-{number:010}"), json!({}))).collect();
    set.items[0].owned = "digest".to_owned();
    set.items[0].owned_fields = serde_json::from_value(json!({"f:spec": fields})).unwrap();
    record.save(&set).await.unwrap();
    let read = read_recorded_set(&record.cluster, &record.id, &record.namespace).await.unwrap();
    assert_eq!(read, Some((set.without_fields(), NEW_VERSION.to_owned())));
}
