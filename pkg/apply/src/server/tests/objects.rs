//! Objects on a server without faults.

use serde_json::json;

use crate::{
    ApplyRequest, DeletionOutcome, GroupKind, ListQuery, ObjectRevision, PatchTarget, Server, WriteMode,
    testing::{Lab, MANAGER, config_map, config_maps, value},
};

async fn get(server: &Server, name: &str) -> Option<manifest::Object> {
    server.get(&config_maps(), "default", name).await.unwrap()
}

#[tokio::test]
async fn objects_are_applied_read_replaced_patched_and_deleted() {
    let lab = Lab::start().await;
    let (server, kind) = (&lab.server, &config_maps());
    assert_eq!(get(server, "a").await, None);
    let applied = server.apply(kind, &config_map("a", "1"), MANAGER, ApplyRequest::default()).await.unwrap();
    assert_eq!(value(&applied), "1");
    let mut changed = get(server, "a").await.unwrap();
    *changed.get_mut(&["data", "key"]).unwrap() = "2".into();
    assert_eq!(value(&server.replace(kind, &changed, MANAGER, WriteMode::Real).await.unwrap()), "2");
    assert!(server.replace(kind, &changed, MANAGER, WriteMode::Real).await.unwrap_err().is_conflict());
    let merge = json!({"data": {"key": "3"}});
    let merged = server.patch(kind, "default", "a", &merge, MANAGER, PatchTarget::Object).await.unwrap();
    assert_eq!(value(&merged), "3");
    let steps = json!([{"op": "replace", "path": "/data/key", "value": "4"}]);
    let patched = server.patch(kind, "default", "a", &steps, MANAGER, PatchTarget::Object).await.unwrap();
    assert_eq!(value(&patched), "4");
    server.delete(kind, "default", "a", None).await.unwrap();
    assert_eq!(get(server, "a").await, None);
}

#[tokio::test]
async fn a_missing_or_recreated_object_counts_as_deleted() {
    let lab = Lab::start().await;
    let (server, kind) = (&lab.server, &config_maps());
    server.delete(kind, "default", "a", None).await.unwrap();
    let created = server.create(kind, &config_map("a", "1"), MANAGER, WriteMode::Real).await.unwrap();
    let revision = ObjectRevision::of(&created);
    let another = ObjectRevision { uid: "another".to_owned(), ..revision.clone() };
    let other = server.delete(kind, "default", "a", Some(&another)).await;
    assert_eq!(other.unwrap(), DeletionOutcome::Gone, "the one that was meant");
    assert!(get(server, "a").await.is_some());
    assert_eq!(server.delete(kind, "default", "a", Some(&revision)).await.unwrap(), DeletionOutcome::Gone);
    assert_eq!(get(server, "a").await, None);
}

#[tokio::test]
async fn an_object_is_sent_to_the_path_of_its_own_version() {
    let sandbox = Lab::start().await;
    let server = &sandbox.server;
    let mut kind = server.kind(&GroupKind::new("apps", "Deployment")).await.unwrap();
    kind.version = "v9".into();
    let pod =
        json!({"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}});
    let deployment = json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d", "namespace": "default"},
        "spec": {"selector": {"matchLabels": {"a": "b"}}, "template": pod},
    });
    let deployment = deployment.try_into().unwrap();
    let applied = server.apply(&kind, &deployment, MANAGER, ApplyRequest::default()).await.unwrap();
    assert_eq!(applied.api_version(), "apps/v1");
}

#[tokio::test]
async fn listed_objects_have_a_kind_and_respect_the_limit() {
    let sandbox = Lab::start().await;
    let (server, kind) = (&sandbox.server, &config_maps());
    for number in 0..4 {
        server
            .apply(kind, &config_map(&format!("m{number}"), "1"), MANAGER, ApplyRequest::default())
            .await
            .unwrap();
    }
    let all = ListQuery { namespace: Some("default".into()), ..ListQuery::default() };
    let seen = |objects: Vec<manifest::Object>| {
        let line =
            |o: &manifest::Object| format!("{} {} {}={}", o.api_version(), o.kind(), o.name(), value(o));
        objects.iter().map(line).collect::<Vec<_>>()
    };
    let everything = seen(server.list(kind, &all).await.unwrap());
    for number in 0..4 {
        assert!(everything.contains(&format!("v1 ConfigMap m{number}=1")), "{everything:?}");
    }
    let two = ListQuery { limit: Some(2), metadata_only: true, fields: "metadata.name!=m0".into(), ..all };
    let two = server.list(kind, &two).await.unwrap();
    assert!(two.len() == 2 && two.iter().all(|object| object.as_map().get("data").is_none()));
    assert_eq!((two[0].api_version(), two[0].kind()), ("v1", "ConfigMap"));
}
