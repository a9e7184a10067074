//! Controllers on a real API server that is cut off, slow, restarted, or wrong about the time.

use std::{
    collections::BTreeSet,
    time::{Duration, Instant},
};

use futures::StreamExt as _;
use http::Method;
use jiff::SignedDuration;
use kube::Client;
use serde_json::{Value, json};
use support::{
    api_server::ApiServer,
    binary::{RunningBinary, TestEnvironment},
    fixture::{apply, get, merge},
    kind::Kind,
    object_snapshot::client_from_kubeconfig,
};

use crate::{
    api_proxy::{ApiProxy, ReceivedRequest},
    controller::start_controller,
};

const COMPONENT: Kind = Kind::new("core.cs.sap.com", "v1alpha1", "Component", "components");

/// A Component with as many ConfigMaps as its value `count`.
const MAPS: &str = "
apiVersion: v1
kind: Namespace
metadata: {name: shop}
---
apiVersion: core.cs.sap.com/v1alpha1
kind: Blueprint
metadata: {name: maps, namespace: shop}
spec:
  files:
    maps.yaml: |
      {{- range $i := until (int .count) }}
      ---
      apiVersion: v1
      kind: ConfigMap
      metadata: {name: 'map-{{ $i }}'}
      data: {count: '{{ $.count }}'}
      {{- end }}
---
apiVersion: core.cs.sap.com/v1alpha1
kind: Component
metadata: {name: maps, namespace: shop}
spec: {sourceRef: {blueprint: {name: maps}}, values: {count: 1}, retryInterval: 1s}
";

/// The time limit of one change.
const TIMEOUT: Duration = Duration::from_mins(2);

/// A real API server with the Component.
struct Lab {
    server: ApiServer,
    client: Client,
}

impl Lab {
    /// None if this machine has no API server.
    async fn start() -> Option<Self> {
        let server = ApiServer::start_or_skip()?;
        let client = client_from_kubeconfig(server.kubeconfig()).await;
        apply(&client, &crate::world().run_expecting_success("component definition").stdout).await;
        apply(&client, MAPS).await;
        Some(Self { server, client })
    }

    async fn proxy(&self) -> ApiProxy {
        ApiProxy::start(self.client.clone()).await
    }

    /// Changes the number of ConfigMaps of the Component.
    async fn edit(&self, count: usize) {
        merge(&self.client, COMPONENT, "shop/maps", &json!({"spec": {"values": {"count": count}}})).await;
    }

    async fn component(&self) -> Value {
        get(&self.client, COMPONENT, "shop/maps").await.unwrap_or_default()
    }

    async fn inventory(&self) -> BTreeSet<String> {
        names(&self.component().await["status"]["inventory"], "/name")
    }

    /// Returns the ConfigMaps that have an owner.
    async fn maps(&self) -> BTreeSet<String> {
        let owned = "labelSelector=component-operator.cs.sap.com/owner-id";
        let list = self.request(&format!("/api/v1/namespaces/shop/configmaps?{owned}")).await;
        names(&list["items"], "/metadata/name")
    }

    async fn request(&self, path: &str) -> Value {
        self.client.request(http::Request::get(path).body(Vec::new()).unwrap()).await.unwrap()
    }

    /// Waits until the Component is ready with a number of ConfigMaps. Its inventory covers them at any time.
    async fn wait_for_maps(&self, count: usize) {
        let expected: BTreeSet<String> = (0..count).map(|at| format!("map-{at}")).collect();
        let started_at = Instant::now();
        loop {
            let (before, maps, component) =
                (self.inventory().await, self.maps().await, self.component().await);
            let inventory = names(&component["status"]["inventory"], "/name");
            let covered: BTreeSet<String> = &before | &inventory;
            assert!(maps.is_subset(&covered), "{maps:?} are not all in {covered:?}");
            let is_observed =
                component["status"]["observedGeneration"] == component["metadata"]["generation"];
            let is_ready = is_observed && component["status"]["state"] == "Ready";
            if is_ready && maps == expected && inventory == expected {
                return;
            }
            assert!(started_at.elapsed() < TIMEOUT, "not {count} ConfigMaps: {component:#}");
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }
}

/// Returns the texts at a path in each item of a list.
fn names(items: &Value, path: &str) -> BTreeSet<String> {
    let name = |item: &Value| item.pointer(path).and_then(Value::as_str).unwrap().to_owned();
    items.as_array().into_iter().flatten().map(name).collect()
}

/// Starts a controller behind a proxy, which waits for other controllers.
fn start_replica(proxy: &ApiProxy) -> (TestEnvironment, RunningBinary) {
    let world = crate::world();
    let config = world.write("kubeconfig", proxy.kubeconfig());
    let world = world.env("KUBECONFIG", config.as_os_str());
    let controller = start_controller(&world, "--leader-elect --namespace kube-system");
    (world, controller)
}

/// Returns the times of the first and the last change of an object.
fn writes(proxy: &ApiProxy) -> Option<(Instant, Instant)> {
    let mut times = proxy.received().into_iter().filter(ReceivedRequest::is_write).map(|request| request.at);
    let first = times.next()?;
    Some((first, times.next_back().unwrap_or(first)))
}

/// True for a request that has replaced the Lease of another controller.
fn acquires_lease(request: &ReceivedRequest) -> bool {
    request.is_of_lease() && request.method == Method::PUT && request.code == Some(200)
}

/// Asserts that one controller has written everything before the other one began.
fn assert_one_after_the_other(first: &ApiProxy, second: &ApiProxy) {
    let (Some((_, end)), Some((begin, _))) = (writes(first), writes(second)) else {
        panic!("both controllers write");
    };
    assert!(end < begin, "both write at a time: {:?}, {:?}", first.received(), second.received());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_leader_that_is_cut_off_is_replaced_and_ends() {
    let Some(lab) = Lab::start().await else { return };
    let (cut_off, other) = (lab.proxy().await, lab.proxy().await);
    // Its last renewal seems to be in the future, so only time without a renewal shows that it is gone.
    cut_off.set_clock(SignedDuration::from_hours(1));
    let (_world, mut leader) = start_replica(&cut_off);
    lab.wait_for_maps(1).await;
    let _replica = start_replica(&other);
    lab.edit(2).await;
    lab.wait_for_maps(2).await;
    cut_off.cut();
    lab.edit(4).await;
    lab.wait_for_maps(4).await;
    cut_off.restore();
    lab.edit(3).await;
    assert!(!leader.wait(), "a leader that lost its Lease fails");
    lab.wait_for_maps(3).await;
    assert_one_after_the_other(&cut_off, &other);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_leader_whose_clock_is_slow_is_replaced_and_ends() {
    let Some(lab) = Lab::start().await else { return };
    let (slow, other) = (lab.proxy().await, lab.proxy().await);
    // Its Lease has expired at each renewal.
    slow.set_clock(SignedDuration::from_hours(-1));
    let (_world, mut leader) = start_replica(&slow);
    lab.wait_for_maps(1).await;
    let _replica = start_replica(&other);
    // It is replaced after it has recorded objects and before it creates them. Until it stops, it changes something.
    slow.hold(|request| request.is_write() && request.target.contains("configmaps"));
    lab.edit(5).await;
    wait_until(|| other.received().iter().any(acquires_lease), "replaced").await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    slow.release();
    lab.wait_for_maps(5).await;
    for count in (2..4).cycle() {
        lab.edit(count).await;
        lab.wait_for_maps(count).await;
        if writes(&other).is_some() {
            break;
        }
    }
    assert!(!leader.wait(), "a leader that lost its Lease fails");
    lab.edit(3).await;
    lab.wait_for_maps(3).await;
    assert_one_after_the_other(&slow, &other);
}

/// The number of ConfigMaps that belong to nobody.
const FOREIGN: usize = 10_000;

async fn create_foreign_maps(client: &Client) {
    let create = |at: usize| async move {
        let map =
            json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": format!("foreign-{at}")}});
        let request = http::Request::post("/api/v1/namespaces/shop/configmaps")
            .header("content-type", "application/json")
            .body(map.to_string().into_bytes());
        client.request::<Value>(request.unwrap()).await.unwrap();
    };
    futures::stream::iter(0..FOREIGN).map(create).buffer_unordered(50).collect::<()>().await;
}

/// Waits until a condition holds.
async fn wait_until(condition: impl Fn() -> bool, state: &str) {
    let started_at = Instant::now();
    while !condition() {
        assert!(started_at.elapsed() < TIMEOUT, "not {state}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_costs_few_requests_beside_many_foreign_objects() {
    let Some(lab) = Lab::start().await else { return };
    create_foreign_maps(&lab.client).await;
    let proxy = lab.proxy().await;
    let _controller = start_replica(&proxy);
    lab.wait_for_maps(1).await;
    let before = proxy.received().len();
    lab.edit(5).await;
    lab.wait_for_maps(5).await;
    let requests = &proxy.received()[before..];
    assert!(requests.iter().filter(|request| !request.is_of_lease()).count() < 40, "{requests:?}");
    let lists: Vec<_> = requests.iter().filter(|request| request.is_list_of("configmaps")).collect();
    assert!(lists.iter().all(|list| list.target.contains("labelSelector=")), "{lists:?}");
    let reads = requests.iter().filter(|request| request.target.contains("/configmaps/foreign-"));
    assert_eq!(reads.count(), 0);
    lab.edit(2).await;
    lab.wait_for_maps(2).await;
    let list = lab.request("/api/v1/namespaces/shop/configmaps").await;
    let names = names(&list["items"], "/metadata/name");
    assert_eq!(names.iter().filter(|name| name.starts_with("foreign-")).count(), FOREIGN);
}

#[tokio::test(flavor = "multi_thread")]
async fn changes_are_found_after_an_interruption_and_an_expired_watch() {
    let Some(lab) = Lab::start().await else { return };
    let proxy = lab.proxy().await;
    let _controller = start_replica(&proxy);
    lab.wait_for_maps(1).await;
    proxy.cut();
    lab.edit(2).await;
    proxy.restore();
    lab.wait_for_maps(2).await;
    let before = proxy.received().len();
    proxy.refuse(1, 410, |request| request.is_watch() && request.target.contains("/components"));
    proxy.close_connections();
    lab.edit(3).await;
    lab.wait_for_maps(3).await;
    let is_listed_again =
        || proxy.received()[before..].iter().any(|request| request.is_list_of("components"));
    wait_until(|| proxy.unused_refusals() == 0 && is_listed_again(), "listed after the answer 410").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn refused_and_slow_requests_are_sent_again() {
    let Some(lab) = Lab::start().await else { return };
    let proxy = lab.proxy().await;
    let _controller = start_replica(&proxy);
    lab.wait_for_maps(1).await;
    proxy.refuse(6, 429, |request| !request.is_watch());
    proxy.set_latency(Duration::from_millis(200));
    lab.edit(4).await;
    lab.wait_for_maps(4).await;
    wait_until(|| proxy.unused_refusals() == 0, "refused six times").await;
    lab.edit(2).await;
    lab.wait_for_maps(2).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_is_killed_during_writes_loses_no_object() {
    let Some(mut lab) = Lab::start().await else { return };
    let proxy = lab.proxy().await;
    let _controller = start_replica(&proxy);
    lab.wait_for_maps(1).await;
    let before = proxy.received().len();
    lab.edit(40).await;
    let creates = |request: &&ReceivedRequest| request.is_write() && request.target.contains("configmaps");
    let has_begun = || proxy.received()[before..].iter().filter(creates).count() > 10;
    wait_until(has_begun, "in the middle of the writes").await;
    proxy.cut();
    lab.server.restart().unwrap();
    lab.client = client_from_kubeconfig(lab.server.kubeconfig()).await;
    proxy.set_client(lab.client.clone());
    // The Component changes before its watch is back.
    lab.edit(38).await;
    proxy.restore();
    lab.wait_for_maps(38).await;
}
