//! Tests of objects that capstan stores on a cluster, while other tools write and delete them.

use apply::key_of;
use serde_json::json;
use support::{fixture::Fixture, kind::CONFIG_MAP};

use super::*;
use crate::testing::{cluster, objects};

const RECORD: &str =
    "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: default}, data: {by: capstan}}";
const RECORD_KEY: &str = "default/a";

/// A cluster with one stored object.
struct StoredRecord {
    fixture: Fixture,
    cluster: ManagementCluster,
    record: Object,
}

impl StoredRecord {
    async fn start() -> Self {
        let fixture = Fixture::start().await;
        let cluster = cluster(&fixture).await;
        let keeping = Self { fixture, cluster, record: objects(RECORD).remove(0) };
        keeping.store().await;
        keeping
    }

    async fn store(&self) {
        self.cluster.store_object(&config_map_kind(), &self.record).await.unwrap();
    }

    async fn delete(&self) {
        self.cluster.delete_stored_object(&config_map_kind(), &key_of(&self.record)).await.unwrap();
    }

    async fn exists(&self) -> bool {
        self.fixture.get(CONFIG_MAP, RECORD_KEY).await.is_some()
    }

    async fn edit(&self) {
        self.fixture.merge(CONFIG_MAP, RECORD_KEY, &json!({"data": {"by": "somebody"}})).await;
    }
}

#[tokio::test]
async fn a_stored_object_takes_one_request_each_time() {
    let keeping = StoredRecord::start().await;
    let before = keeping.cluster.server.requests();
    keeping.store().await;
    keeping.delete().await;
    keeping.store().await;
    assert_eq!(keeping.cluster.server.requests() - before, 3);
}

#[tokio::test]
async fn a_stored_object_edited_or_deleted_by_others_is_restored() {
    let keeping = StoredRecord::start().await;
    keeping.edit().await;
    keeping.store().await;
    assert_eq!(keeping.fixture.get(CONFIG_MAP, RECORD_KEY).await.unwrap()["data"]["by"], "capstan");
    keeping.fixture.delete(CONFIG_MAP, RECORD_KEY).await;
    keeping.store().await;
    assert!(keeping.exists().await);
    keeping.edit().await;
    keeping.delete().await;
    assert!(!keeping.exists().await);
}

#[tokio::test]
async fn a_stored_object_recreated_by_another_run_is_not_deleted() {
    let keeping = StoredRecord::start().await;
    keeping.fixture.delete(CONFIG_MAP, RECORD_KEY).await;
    keeping.fixture.apply(RECORD).await;
    keeping.delete().await;
    assert!(keeping.exists().await);
}
