//! Tests of objects that capstan stores on a cluster, while other tools write and delete them.

use serde_json::json;
use support::{fixture::Fixture, kind::CONFIG_MAP};

use super::*;
use crate::tests::{cluster, objects};

const RECORD: &str =
    "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: default}, data: {by: capstan}}";
const PLACE: &str = "default/a";

/// A cluster with one stored object.
struct Keeping {
    fixture: Fixture,
    cluster: ManagementCluster,
    record: Object,
}

impl Keeping {
    async fn start() -> Self {
        let fixture = Fixture::start().await;
        let cluster = cluster(&fixture).await;
        let keeping = Self { fixture, cluster, record: objects(RECORD).remove(0) };
        keeping.keep().await;
        keeping
    }

    async fn keep(&self) {
        self.cluster.keep(&config_map_kind(), &self.record).await.unwrap();
    }

    async fn drop_kept(&self) {
        self.cluster.drop_kept(&config_map_kind(), &ObjectKey::of(&self.record)).await.unwrap();
    }

    async fn is_there(&self) -> bool {
        self.fixture.get(CONFIG_MAP, PLACE).await.is_some()
    }

    async fn edit(&self) {
        self.fixture.merge(CONFIG_MAP, PLACE, &json!({"data": {"by": "somebody"}})).await;
    }
}

#[tokio::test]
async fn a_kept_object_takes_one_request_each_time() {
    let keeping = Keeping::start().await;
    let before = keeping.cluster.server.requests();
    keeping.keep().await;
    keeping.drop_kept().await;
    keeping.keep().await;
    assert_eq!(keeping.cluster.server.requests() - before, 3);
}

#[tokio::test]
async fn a_kept_object_edited_or_deleted_by_others_is_restored() {
    let keeping = Keeping::start().await;
    keeping.edit().await;
    keeping.keep().await;
    assert_eq!(keeping.fixture.get(CONFIG_MAP, PLACE).await.unwrap()["data"]["by"], "capstan");
    keeping.fixture.delete(CONFIG_MAP, PLACE).await;
    keeping.keep().await;
    assert!(keeping.is_there().await);
    keeping.edit().await;
    keeping.drop_kept().await;
    assert!(!keeping.is_there().await);
}

#[tokio::test]
async fn a_kept_object_that_another_run_created_anew_is_not_deleted() {
    let keeping = Keeping::start().await;
    keeping.fixture.delete(CONFIG_MAP, PLACE).await;
    keeping.fixture.apply(RECORD).await;
    keeping.drop_kept().await;
    assert!(keeping.is_there().await);
}
