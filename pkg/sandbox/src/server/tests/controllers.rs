//! Tests of the controller runner.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use futures::future::BoxFuture;

use super::*;
use crate::{
    client::Client,
    controllers::{Controller, ObjectRef, Requeue, runner::RunningControllers},
    status::Status,
    store::Change,
};

/// Panics at the first look at the ConfigMap `one`, fails at the second, and postpones the third forever.
#[derive(Default)]
struct FlakyController {
    reconciliations: AtomicUsize,
}

impl Controller for FlakyController {
    fn name(&self) -> &'static str {
        "unlucky"
    }

    fn affected_objects(&self, client: &Client, change: &Change) -> Vec<ObjectRef> {
        let is_one = &*change.after.key.name == "one";
        is_one.then(|| client.object_ref(&change.after.key)).flatten().into_iter().collect()
    }

    fn reconcile<'a>(&'a self, _: &'a Client, _: &'a ObjectRef) -> BoxFuture<'a, Result<Requeue, Status>> {
        Box::pin(async {
            match self.reconciliations.fetch_add(1, Ordering::SeqCst) {
                0 => panic!("as a mistake in a controller would"),
                1 => Err(Status::internal("once")),
                _ => Ok(Requeue::After(std::time::Duration::from_hours(24))),
            }
        })
    }
}

#[tokio::test]
async fn a_failed_reconciliation_is_retried_before_settling() {
    let sandbox = sandbox().await;
    ask(&sandbox, "POST", CONFIG_MAPS, &config_map("one")).await;
    let unlucky = Arc::new(FlakyController::default());
    let store = Arc::clone(&sandbox.server.store);
    let running = RunningControllers::start(
        sandbox.client("test"),
        Arc::clone(&store),
        vec![Arc::clone(&unlucky) as _],
    );
    running.wait_until_idle(store.revision()).await;
    assert_eq!(unlucky.reconciliations.load(Ordering::SeqCst), 3);
}

/// Fails at every look at the ConfigMap `one`.
struct FailingController;

impl Controller for FailingController {
    fn name(&self) -> &'static str {
        "hopeless"
    }

    fn affected_objects(&self, client: &Client, change: &Change) -> Vec<ObjectRef> {
        FlakyController::default().affected_objects(client, change)
    }

    fn reconcile<'a>(&'a self, _: &'a Client, _: &'a ObjectRef) -> BoxFuture<'a, Result<Requeue, Status>> {
        Box::pin(async { Err(Status::internal("never")) })
    }
}

#[tokio::test]
async fn controller_errors_are_reported() {
    let sandbox = sandbox().await;
    ask(&sandbox, "POST", CONFIG_MAPS, &config_map("one")).await;
    let store = Arc::clone(&sandbox.server.store);
    let running = RunningControllers::start(sandbox.client("test"), store, vec![Arc::new(FailingController)]);
    while running.failing_reconciliations().is_empty() {
        tokio::task::yield_now().await;
    }
    assert_eq!(
        running.failing_reconciliations(),
        ["hopeless: ConfigMap default/one: Internal error occurred: never"]
    );
    assert_eq!(sandbox.failing_reconciliations(), Vec::<String>::new());
}

#[tokio::test]
async fn effects_of_a_write_exist_after_settling() {
    let sandbox = Sandbox::start(Options::default()).await.unwrap();
    let owner = ask(&sandbox, "POST", CONFIG_MAPS, &config_map("owner")).await.1;
    let mut dependent = config_map("dependent");
    dependent["metadata"]["ownerReferences"] = json!([{
        "apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": owner["metadata"]["uid"],
    }]);
    ask(&sandbox, "POST", CONFIG_MAPS, &dependent).await;
    ask(&sandbox, "DELETE", &format!("{CONFIG_MAPS}/owner"), &Value::Null).await;
    sandbox.wait_until_idle().await;
    assert_eq!(get(&sandbox, &format!("{CONFIG_MAPS}/dependent")).await.0, 404);
    // Stopped controllers have no pending work.
    sandbox.stop().await;
    sandbox.wait_until_idle().await;
}

#[tokio::test]
async fn a_namespace_is_deleted_with_its_content() {
    let sandbox = Sandbox::start(Options::default()).await.unwrap();
    let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team"}});
    ask(&sandbox, "POST", "/api/v1/namespaces", &namespace).await;
    let mut held = config_map("held");
    held["metadata"]["finalizers"] = json!(["example.com/hold"]);
    let path = "/api/v1/namespaces/team/configmaps";
    ask(&sandbox, "POST", path, &held).await;
    ask(&sandbox, "DELETE", "/api/v1/namespaces/team", &Value::Null).await;
    sandbox.wait_until_idle().await;
    let (_, waiting) = get(&sandbox, "/api/v1/namespaces/team").await;
    let conditions = waiting["status"]["conditions"].as_array().unwrap();
    let remaining = conditions.iter().find(|one| one["type"] == "NamespaceFinalizersRemaining").unwrap();
    assert_eq!(
        remaining["message"],
        "Some content in the namespace has finalizers remaining: example.com/hold in 1 resource instances"
    );
    assert_eq!(ask(&sandbox, "POST", path, &config_map("late")).await.0, 403);
    ask(&sandbox, "PATCH", &format!("{path}/held"), &json!({"metadata": {"finalizers": null}})).await;
    sandbox.wait_until_idle().await;
    assert_eq!(get(&sandbox, "/api/v1/namespaces/team").await.0, 404);
}
