//! Controllers on a real API server that is cut off, slow, restarted, or wrong about the time.

use std::{
    collections::BTreeSet,
    time::{Duration, Instant},
};

use futures::StreamExt as _;
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
    // It changes something all the time.
    for count in (2..6).cycle() {
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

#[tokio::test(flavor = "multi_thread")]
async fn a_component_survives_all_faults_of_a_real_server() {
    let Some(mut lab) = Lab::start().await else { return };
    create_foreign_maps(&lab.client).await;
    let proxy = lab.proxy().await;
    let _controller = start_replica(&proxy);
    lab.wait_for_maps(1).await;
    beside_foreign_objects(&lab, &proxy).await;
    with_interrupted_watches(&lab, &proxy).await;
    while_refused_and_slow(&lab, &proxy).await;
    while_restarted(&mut lab, &proxy).await;
    // Nothing of others is gone.
    let list = lab.request("/api/v1/namespaces/shop/configmaps?limit=1").await;
    let count = list["metadata"]["remainingItemCount"].as_u64().unwrap() + 1;
    assert!(count >= (FOREIGN + lab.maps().await.len()) as u64, "{count}");
}

/// A change costs a few requests, however many objects of others exist.
async fn beside_foreign_objects(lab: &Lab, proxy: &ApiProxy) {
    let before = proxy.received().len();
    lab.edit(5).await;
    lab.wait_for_maps(5).await;
    let requests = &proxy.received()[before..];
    assert!(requests.len() < 40, "{requests:?}");
    let lists: Vec<_> = requests.iter().filter(|request| request.is_list_of("configmaps")).collect();
    assert!(lists.iter().all(|list| list.target.contains("labelSelector=")), "{lists:?}");
    let reads = requests.iter().filter(|request| request.target.contains("/configmaps/foreign-"));
    assert_eq!(reads.count(), 0);
}

/// Changes during an interruption are found, after an answer 410 too.
async fn with_interrupted_watches(lab: &Lab, proxy: &ApiProxy) {
    proxy.cut();
    lab.edit(2).await;
    proxy.restore();
    lab.wait_for_maps(2).await;
    proxy.refuse(1, 410, |request| request.is_watch() && request.target.contains("/components"));
    let before = proxy.received().len();
    proxy.close_connections();
    lab.edit(3).await;
    lab.wait_for_maps(3).await;
    let is_listed_again =
        || proxy.received()[before..].iter().any(|request| request.is_list_of("components"));
    let listed_again = async {
        while proxy.unused_refusals() > 0 || !is_listed_again() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(Duration::from_mins(1), listed_again).await.expect("a list after the answer 410");
}

/// Each request is answered in the end.
async fn while_refused_and_slow(lab: &Lab, proxy: &ApiProxy) {
    proxy.refuse(6, 429, |request| !request.is_watch());
    proxy.set_latency(Duration::from_millis(200));
    lab.edit(4).await;
    lab.wait_for_maps(4).await;
    proxy.set_latency(Duration::ZERO);
    assert_eq!(proxy.unused_refusals(), 0);
}

/// The server is killed while the controller writes, and changes before its watches are back.
async fn while_restarted(lab: &mut Lab, proxy: &ApiProxy) {
    let before = proxy.received().len();
    lab.edit(40).await;
    let has_begun = || {
        let creates =
            |request: &&ReceivedRequest| request.is_write() && request.target.contains("configmaps");
        proxy.received()[before..].iter().filter(creates).count() > 10
    };
    while !has_begun() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    proxy.cut();
    lab.server.restart().unwrap();
    lab.client = client_from_kubeconfig(lab.server.kubeconfig()).await;
    proxy.set_client(lab.client.clone());
    lab.edit(38).await;
    proxy.restore();
    lab.wait_for_maps(38).await;
}
