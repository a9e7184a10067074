//! Tests on the sandbox and on a real API server, if this machine has one.

use std::time::Duration;

use futures::StreamExt as _;
use kube::config::Kubeconfig;
use manifest::Value;
use serde_json::json;
use support::api_server::ApiServer;

use crate::{
    ApiError, ApplyPrecondition, ApplyRequest, ConnectionOptions, Credentials, DeletionOutcome, GroupKind,
    Impersonation, ListQuery, ObjectRevision, PatchTarget, Permission, Server, ServerOptions, WatchEvent,
    WriteMode,
    testing::{Lab, MANAGER, config_map, config_maps, object, value},
};

#[tokio::test]
async fn a_real_server_meets_the_expectations() {
    let Some(real) = ApiServer::start_or_skip() else { return };
    let config: Kubeconfig = serde_json::from_value(read(&real)).unwrap();
    let context = config.current_context.clone().unwrap();
    let credentials = Credentials::Kubeconfig { config: Box::new(config), context };
    let connection = ConnectionOptions { credentials, impersonation: None, user_agent: "test/1".into() };
    let server = Server::connect(connection.clone(), ServerOptions::default()).await.unwrap().without_lease();
    on_any(&server).await;
    dead_apis(&server).await;
    rules(&server, connection).await;
}

#[tokio::test]
async fn the_sandbox_behaves_like_a_real_server() {
    on_any(&Lab::start().await.server).await;
}

async fn on_any(server: &Server) {
    writes_onto_versions(server).await;
    deletions(server).await;
    watches(server).await;
    reviews(server).await;
}

fn read(real: &ApiServer) -> Value {
    let text = std::fs::read(real.kubeconfig()).unwrap();
    let stream = manifest::read_stream(&text, &manifest::YamlLimits::default()).unwrap();
    stream.objects.into_iter().next().unwrap().into_value()
}

async fn writes_onto_versions(server: &Server) {
    let (kind, new) =
        (&config_maps(), ApplyRequest { precondition: ApplyPrecondition::Absent, ..ApplyRequest::default() });
    let first = server.apply(kind, &config_map("a", "1"), MANAGER, new.clone()).await.unwrap();
    let error = server.apply(kind, &config_map("a", "2"), MANAGER, new.clone()).await.unwrap_err();
    assert!(error.is_conflict(), "{error}");
    let dry = ApplyRequest { mode: WriteMode::DryRun, ..new };
    assert!(server.apply(kind, &config_map("a", "2"), MANAGER, dry.clone()).await.unwrap_err().is_conflict());
    server.apply(kind, &config_map("b", "2"), MANAGER, dry).await.unwrap();
    server.create(kind, &config_map("b", "2"), MANAGER, WriteMode::DryRun).await.unwrap();
    assert!(server.get(kind, "default", "b").await.unwrap().is_none());
    let onto = ApplyRequest {
        precondition: ApplyPrecondition::Revision(ObjectRevision::of(&first)),
        ..ApplyRequest::default()
    };
    server.apply(kind, &config_map("a", "2"), MANAGER, onto.clone()).await.unwrap();
    assert!(server.apply(kind, &config_map("a", "3"), MANAGER, onto).await.unwrap_err().is_conflict());
    // A returned object can be applied again: fields of the server are left out.
    server.apply(kind, &first, MANAGER, ApplyRequest::default()).await.unwrap();
    server.apply(kind, &config_map("a", "2"), MANAGER, ApplyRequest::default()).await.unwrap();
    assert!(server.replace(kind, &first, MANAGER, WriteMode::Real).await.unwrap_err().is_conflict());
    let error = server.create(kind, &config_map("a", "3"), MANAGER, WriteMode::Real).await.unwrap_err();
    assert!(error.is_already_exists(), "{error}");
    let live = server.get(kind, "default", "a").await.unwrap().unwrap();
    let another = ObjectRevision { uid: "another".to_owned(), ..ObjectRevision::of(&live) };
    assert_eq!(server.delete(kind, "default", "a", Some(&another)).await.unwrap(), DeletionOutcome::Gone);
    let error = server.delete(kind, "default", "a", Some(&ObjectRevision::of(&first))).await.unwrap_err();
    assert!(error.is_conflict(), "{error}");
    assert_eq!(value(&server.get(kind, "default", "a").await.unwrap().unwrap()), "2");
    server.create(kind, &config_map("gone", "1"), MANAGER, WriteMode::Real).await.unwrap();
    let deleted = server.get(kind, "default", "gone").await.unwrap().unwrap();
    server.delete(kind, "default", "gone", Some(&ObjectRevision::of(&deleted))).await.unwrap();
    let onto = ApplyRequest {
        precondition: ApplyPrecondition::Revision(ObjectRevision::of(&deleted)),
        ..ApplyRequest::default()
    };
    let error = server.apply(kind, &config_map("gone", "2"), MANAGER, onto).await.unwrap_err();
    assert!(error.is_conflict(), "{error}");
    assert!(server.get(kind, "default", "gone").await.unwrap().is_none());
}

async fn deletions(server: &Server) {
    let kind = &config_maps();
    let mut held = config_map("held", "1");
    if let Some(Value::Object(metadata)) = held.get_mut(&["metadata"]) {
        metadata.insert("finalizers".into(), json!(["example.org/held"]));
    }
    server.create(kind, &held, MANAGER, WriteMode::Real).await.unwrap();
    for _ in 0..2 {
        assert_eq!(server.delete(kind, "default", "held", None).await.unwrap(), DeletionOutcome::Terminating);
    }
    let freed = json!({"metadata": {"finalizers": null}});
    server.patch(kind, "default", "held", &freed, MANAGER, PatchTarget::Object).await.unwrap();
    assert_eq!(server.delete(kind, "default", "held", None).await.unwrap(), DeletionOutcome::Gone);
    // The server answers these deletions with the deleted object.
    let accounts = &server.kind(&GroupKind::new("", "ServiceAccount")).await.unwrap();
    let metadata = json!({"name": "a", "namespace": "default"});
    let account = object(json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata}));
    server.create(accounts, &account, MANAGER, WriteMode::Real).await.unwrap();
    assert_eq!(server.delete(accounts, "default", "a", None).await.unwrap(), DeletionOutcome::Gone);
    let namespaces = &server.kind(&GroupKind::new("", "Namespace")).await.unwrap();
    let namespace = object(json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "leaving"}}));
    server.create(namespaces, &namespace, MANAGER, WriteMode::Real).await.unwrap();
    assert_eq!(server.delete(namespaces, "", "leaving", None).await.unwrap(), DeletionOutcome::Terminating);
}

async fn watches(server: &Server) {
    let list = ListQuery {
        namespace: Some("default".into()),
        fields: "metadata.name=a".into(),
        ..ListQuery::default()
    };
    let mut watch = server.watch(&config_maps(), &ListQuery { metadata_only: true, ..list.clone() });
    let Some(Ok(WatchEvent::Updated(seen))) = watch.next().await else { panic!("it is there") };
    assert_eq!((seen.kind(), seen.name(), value(&seen)), ("ConfigMap", "a", ""));
    let mut watch = server.watch(&config_maps(), &list);
    watch.next().await.unwrap().unwrap();
    server.delete(&config_maps(), "default", "a", None).await.unwrap();
    let Some(Ok(WatchEvent::Deleted(deleted))) = watch.next().await else { panic!("it goes") };
    assert_eq!((deleted.kind(), value(&deleted)), ("ConfigMap", "2"));
    assert_eq!(server.list(&config_maps(), &list).await.unwrap(), []);
}

async fn reviews(server: &Server) {
    let permission = Permission {
        verb: "get".into(),
        group: String::new(),
        resource: "pods".into(),
        namespace: String::new(),
    };
    assert!(server.check_permissions(&[permission]).await.unwrap().is_admin);
    let missing = config_maps();
    let missing = crate::ApiKind { group: "nobody.org".into(), ..missing };
    assert!(server.get(&missing, "default", "a").await.unwrap().is_none());
}

/// Checks rules on a real server; the sandbox has no roles.
async fn rules(server: &Server, connection: ConnectionOptions) {
    const GROUP: &str = "rbac.authorization.k8s.io";
    let metadata = json!({"name": "limited", "namespace": "default"});
    let rules = json!([
        {"apiGroups": [""], "resources": ["pods", "pods/log"], "verbs": ["get", "list"]},
        {"apiGroups": ["apps"], "resources": ["*"], "verbs": ["*"]},
    ]);
    let role =
        json!({"apiVersion": format!("{GROUP}/v1"), "kind": "Role", "metadata": metadata, "rules": rules});
    let binding = json!({
        "apiVersion": format!("{GROUP}/v1"), "kind": "RoleBinding", "metadata": metadata,
        "roleRef": {"apiGroup": GROUP, "kind": "Role", "name": "limited"},
        "subjects": [{"apiGroup": GROUP, "kind": "User", "name": "limited"}],
    });
    for new in [role, binding].map(object) {
        let kind = server.kind(&GroupKind::new(GROUP, new.kind())).await.unwrap();
        server.create(&kind, &new, MANAGER, WriteMode::Real).await.unwrap();
    }
    let impersonation = Some(Impersonation { user: "limited".into(), groups: Vec::new() });
    let limited = ConnectionOptions { impersonation, ..connection };
    let limited = Server::connect(limited, ServerOptions::default()).await.unwrap().without_lease();
    let wanted = ["get pods", "list pods", "get pods/log", "delete apps/deployments", "delete pods"];
    let wanted = wanted.map(|text| {
        let (verb, resource) = text.split_once(' ').unwrap();
        let (group, resource) =
            resource.strip_prefix("apps/").map_or(("", resource), |resource| ("apps", resource));
        let [verb, group, resource] = [verb, group, resource].map(str::to_owned);
        Permission { verb, group, resource, namespace: "default".into() }
    });
    let access = limited.check_permissions(&wanted).await.unwrap();
    let denied: Vec<_> = access.denied.iter().map(|denied| denied.permission.to_string()).collect();
    assert_eq!(denied, ["delete pods in namespace default"]);
    assert_eq!(limited.requests(), 3, "everything, the rules, and what they do not allow");
}

async fn dead_apis(server: &Server) {
    let services = server.kind(&GroupKind::new("apiregistration.k8s.io", "APIService")).await.unwrap();
    let spec = json!({
        "group": "dead.example.org", "version": "v1", "groupPriorityMinimum": 100, "versionPriority": 100,
        "insecureSkipTLSVerify": true, "service": {"name": "none", "namespace": "default"},
    });
    let dead = object(json!({
        "apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService", "metadata": {"name": "v1.dead.example.org"},
        "spec": spec,
    }));
    server.create(&services, &dead, MANAGER, WriteMode::Real).await.unwrap();
    let kind = GroupKind::new("dead.example.org", "Thing");
    // The server needs a moment to notice the group.
    let broken = async {
        loop {
            server.forget_kinds();
            match server.kind(&kind).await {
                Err(ApiError::UnknownKind { .. }) => {}
                other => return other.unwrap_err(),
            }
        }
    };
    let error = tokio::time::timeout(Duration::from_mins(1), broken).await.unwrap();
    assert!(
        matches!(&error, ApiError::UnavailableGroup { group_version, .. } if group_version == "dead.example.org/v1")
    );
}
