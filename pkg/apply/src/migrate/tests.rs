use manifest::Value;
use serde_json::json;
use snapbox::{assert_data_eq, str};
use support::{fixture::Fixture, request_counter::RequestCounter};

use super::*;
use crate::{
    WriteMode,
    testing::{Lab, object},
};

/// Returns a definition with these versions; the last is the storage version.
fn definition(versions: &[&str]) -> Value {
    let version = |name: &&str| {
        json!({
            "name": name, "served": true, "storage": Some(name) == versions.last(),
            "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}}
        })
    };
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.example.com"},
        "spec": {
            "group": "example.com", "scope": "Namespaced",
            "names": {"plural": "widgets", "singular": "widget", "kind": "Widget", "listKind": "WidgetList"},
            "versions": versions.iter().map(version).collect::<Vec<_>>()
        }
    })
}

/// Returns a lab with three objects stored in `v1`, and a definition that now stores `v2`.
async fn lab_with_old_objects(fixture: Fixture) -> Lab {
    let lab = Lab::with_fixture(fixture).await;
    lab.create(&definition(&["v1"])).await;
    lab.fixture.wait_until_idle().await;
    for name in ["a", "b", "c"] {
        let widget = json!({"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": name, "namespace": "default"}});
        lab.create(&widget).await;
    }
    let (live, mut newer) = (lab.get(&definition(&[])).await, object(definition(&["v1", "v2"])));
    let version = live.get(&["metadata", "resourceVersion"]).cloned().unwrap();
    newer.as_map_mut()["metadata"]["resourceVersion"] = version;
    lab.server.replace(&definition::kind(), &newer, "test", WriteMode::Real).await.unwrap();
    lab.fixture.wait_until_idle().await;
    assert_eq!(stored_versions(&lab).await, json!(["v1", "v2"]));
    lab.events.take();
    lab
}

async fn stored_versions(lab: &Lab) -> Value {
    lab.get(&definition(&[])).await.get(&["status", "storedVersions"]).cloned().unwrap()
}

#[tokio::test]
async fn objects_are_rewritten_and_the_old_version_is_removed() {
    let lab = lab_with_old_objects(Fixture::start().await).await;
    let next = object(definition(&["v2", "v3"]));
    lab.server.kinds().await.unwrap();
    let counter = RequestCounter::start(lab.fixture.sandbox());
    let migrated = lab.server.migrate(&next).await.unwrap();
    assert_eq!(migrated, Some(StorageMigration { objects: 3, versions: vec!["v1".to_owned()] }));
    assert_eq!(stored_versions(&lab).await, json!(["v2"]));
    assert_data_eq!(
        counter.writes().to_string(),
        str![[r#"
1 patch customresourcedefinitions/status, 3 patch widgets
"#]]
    );
    let reported = lab.events.take().into_iter().filter_map(|event| match event {
        Event::Migrating { definition, done, total } => Some((definition, done, total)),
        _ => None,
    });
    let name = || "widgets.example.com".to_owned();
    assert_eq!(reported.collect::<Vec<_>>(), [(name(), 0, Some(3)), (name(), 3, Some(3))]);

    assert_eq!(lab.server.migrate(&next).await.unwrap(), None);
}

#[tokio::test]
async fn a_missing_definition_needs_no_migration() {
    let lab = Lab::start().await;
    assert_eq!(lab.server.migrate(&object(definition(&["v1"]))).await.unwrap(), None);
}

#[tokio::test]
async fn a_definition_without_the_storage_version_is_refused() {
    let lab = lab_with_old_objects(Fixture::start().await).await;
    let counter = RequestCounter::start(lab.fixture.sandbox());
    let error = lab.server.migrate(&object(definition(&["v1", "v3"]))).await.unwrap_err();
    assert!(
        matches!(&error, MigrationError::StorageVersionRemoved { definition, version }
            if definition == "widgets.example.com" && version == "v2"),
        "{error:?}"
    );
    assert_eq!(counter.writes().total(), 0);
}

#[tokio::test]
async fn concurrently_changed_objects_count_as_migrated() {
    let lab = lab_with_old_objects(Fixture::start().await).await;
    lab.fixture.inject_fault("409,verb=patch,resource=example.com/widgets,times=1");
    lab.fixture.inject_fault(
        "409,verb=patch,resource=apiextensions.k8s.io/customresourcedefinitions/status,times=2",
    );
    let migrated = lab.server.migrate(&object(definition(&["v2"]))).await.unwrap();
    assert_eq!(migrated, Some(StorageMigration { objects: 3, versions: vec!["v1".to_owned()] }));
    assert_eq!(stored_versions(&lab).await, json!(["v2"]));
}

#[tokio::test]
async fn a_failed_migration_can_be_repeated() {
    let lab = lab_with_old_objects(Fixture::start().await).await;
    lab.fixture.inject_fault("403,verb=patch,resource=example.com/widgets,times=1");
    let next = object(definition(&["v2"]));
    let error = lab.server.migrate(&next).await.unwrap_err();
    assert!(
        matches!(&error, MigrationError::Api { definition, version, .. }
            if definition == "widgets.example.com" && version == "v2"),
        "{error:?}"
    );
    assert_eq!(stored_versions(&lab).await, json!(["v1", "v2"]));
    assert_eq!(lab.server.migrate(&next).await.unwrap().map(|migrated| migrated.objects), Some(3));
}

#[test]
fn a_migration_can_run_on_any_thread() {
    fn is_send<T: Send>(_: impl FnOnce(Server) -> T) {}
    is_send(|server| async move { server.migrate(&Object::default()).await });
}
