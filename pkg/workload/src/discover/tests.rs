//! Tests of a discovery on a server, and of its requests.

use snapbox::{assert_data_eq, str};
use std::{
    future::Future,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Poll},
};

use api::{ProviderId, ProviderType};
use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt as _, Collected, Full};
use inventory::ManagementCluster;
use kube::client::Body;
use sandbox::Sandbox;
use serde_json::json;
use support::{
    cluster_api::{cluster_class, definition, install, object, provider},
    fixture::Fixture,
    kind::{self, Kind},
    request_counter::RequestCounter,
};
use tower_service::Service;

use super::{DiscoverError, Discovery, Scope};
use crate::{
    MoveChoice,
    discover::{discover, rediscover, rediscover_with_pause_status},
    testing::{cluster, cluster_through},
};

/// The requests for definitions, the inventory and the kinds: 16 labelled definitions, Secrets and ConfigMaps.
const REQUESTS: usize = 3 + 18;
const IDENTITY: Kind = kind::AWS_CLUSTER_STATIC_IDENTITY;

async fn lab() -> Fixture {
    let lab = Fixture::start().await;
    install(&lab).await;
    lab
}

fn scope(namespaces: &[&str]) -> Scope {
    Scope { namespaces: namespaces.iter().map(|name| (*name).to_owned()).collect() }
}

/// Returns the discovered objects, except for the ConfigMap `kube-root-ca.crt` of every namespace.
fn names(found: &Discovery) -> Vec<String> {
    let keys = found.graph.iter().map(|(_, node)| &node.facts.key);
    keys.filter(|key| key.name != "kube-root-ca.crt").map(ToString::to_string).collect()
}

/// Returns the discovered objects that move.
fn moving(found: &Discovery, scope: &Scope) -> Vec<String> {
    let choice = MoveChoice { namespaces: scope.namespaces.clone(), ..MoveChoice::default() };
    let selection = found.graph.select(&choice);
    selection.moving().map(|id| found.graph.node(id).facts.key.to_string()).collect()
}

// Row: PRV-62
// Row: PRV-64
// Row: PRV-65
#[tokio::test]
async fn labelled_definitions_are_listed_with_one_request_each() {
    const WIDGET: Kind = Kind::new("example.org", "v1", "Widget", "widgets");
    let lab = lab().await;
    let unlabelled = definition(WIDGET).field("metadata", json!({"name": "widgets.example.org"}));
    lab.create([unlabelled]).await;
    lab.create(support::cluster_api::cluster("a/one").machines(1)).await;
    lab.create([
        object(IDENTITY, "who"),
        object(kind::CONFIG_MAP, "a/stray"),
        object(kind::CONFIG_MAP, "a/linked").owned_by(kind::MACHINE, "one-machine-0"),
        object(WIDGET, "a/widget").label("clusterctl.cluster.x-k8s.io/move", ""),
    ])
    .await;
    let counter = RequestCounter::start(lab.sandbox());
    let (cluster, scope) = (cluster(&lab).await, scope(&["a"]));
    let found = discover(&cluster, &scope).await.unwrap();
    assert_eq!(counter.all().total(), REQUESTS, "{}", counter.all());
    assert_data_eq!(
        names(&found).join("\n"),
        str![[r#"
AWSClusterStaticIdentity who
Cluster a/one
ConfigMap a/linked
ConfigMap a/stray
DockerCluster a/one
DockerMachine a/one-machine-0
KubeadmConfig a/one-machine-0
Machine a/one-machine-0
Secret a/one-ca
Secret a/one-kubeconfig
Secret a/one-machine-0
"#]]
    );
    let moving = moving(&found, &scope);
    assert!(moving.contains(&"ConfigMap a/linked".to_owned()), "{moving:?}");
    assert!(moving.contains(&"AWSClusterStaticIdentity who".to_owned()), "{moving:?}");
    let again = rediscover(&cluster, &scope, &found).await.unwrap();
    assert_eq!(names(&again), names(&found));
    assert_eq!(counter.all().total(), REQUESTS + 18, "what is known is not asked for: {}", counter.all());
    let at_rest = rediscover_with_pause_status(&cluster, &scope, &found).await.unwrap();
    assert_eq!(names(&at_rest), names(&found));
    assert_eq!(counter.all().total(), REQUESTS + 18 + 18, "{}", counter.all());
}

#[tokio::test]
async fn only_namespaces_in_scope_and_of_infrastructure_providers_are_read() {
    let lab = lab().await;
    for namespace in ["a", "b", "c"] {
        lab.create(support::cluster_api::cluster(&format!("{namespace}/one"))).await;
    }
    let docker = ProviderId::new(ProviderType::Infrastructure, "docker");
    let core = ProviderId::new(ProviderType::Core, "cluster-api");
    lab.create([
        provider(&docker, "v1.14.0"),
        provider(&core, "v1.14.0"),
        object(IDENTITY, "who"),
        object(kind::SECRET, "infrastructure-docker-system/who").owned_by(IDENTITY, "who"),
        object(kind::SECRET, "cluster-api-system/other").owned_by(IDENTITY, "who"),
        object(kind::CONFIG_MAP, "infrastructure-docker-system/who").owned_by(IDENTITY, "who"),
    ])
    .await;
    let cluster = cluster(&lab).await;
    let one = scope(&["a"]);
    let found = discover(&cluster, &one).await.unwrap();
    assert_data_eq!(
        moving(&found, &one).join("\n"),
        str![[r#"
AWSClusterStaticIdentity who
Cluster a/one
DockerCluster a/one
Secret a/one-ca
Secret a/one-kubeconfig
Secret infrastructure-docker-system/who
"#]]
    );
    let counter = RequestCounter::start(lab.sandbox());
    let found = discover(&cluster, &scope(&["a", "b"])).await.unwrap();
    assert!(!names(&found).iter().any(|name| name.contains(" c/")), "{:?}", names(&found));
    // Clusters and cluster-scoped kinds are listed once, Secrets in one more namespace.
    assert_eq!(counter.all().total(), 3 + 2 + 2 * 16 + 1, "{}", counter.all());
    let found = discover(&cluster, &Scope::default()).await.unwrap();
    assert!(names(&found).contains(&"Cluster c/one".to_owned()), "{:?}", names(&found));
}

#[tokio::test]
async fn a_class_in_another_namespace_is_found_with_templates_and_users() {
    let lab = lab().await;
    for class in ["shared/small", "shared/joint", "shared/unused", "a/own"] {
        lab.create(cluster_class(class)).await;
    }
    let with = |place: &str, class: &str| support::cluster_api::cluster(place).of_class(class);
    lab.create(with("a/one", "shared/small")).await;
    lab.create(with("b/two", "a/own")).await;
    lab.create(with("b/three", "shared/unused")).await;
    let template = |place: &str| object(kind::DOCKER_MACHINE_TEMPLATE, place);
    let both =
        template("shared/both").owned_by(kind::CLUSTER_CLASS, "small").owned_by(kind::CLUSTER_CLASS, "joint");
    lab.create([template("shared/unrelated"), both]).await;
    let counter = RequestCounter::start(lab.sandbox());
    let found = discover(&cluster(&lab).await, &scope(&["a"])).await.unwrap();
    // The additional requests list the classes of the namespace, and the four kinds of their templates.
    assert_eq!(counter.all().total(), REQUESTS + 5, "{}", counter.all());
    let names = names(&found).into_iter().filter(|name| !name.contains(" a/"));
    assert_data_eq!(
        names.collect::<Vec<_>>().join("\n"),
        str![[r#"
Cluster b/two
ClusterClass shared/joint
ClusterClass shared/small
DockerClusterTemplate shared/joint
DockerClusterTemplate shared/small
DockerMachineTemplate shared/both
DockerMachineTemplate shared/joint-control-plane
DockerMachineTemplate shared/joint-worker
DockerMachineTemplate shared/small-control-plane
DockerMachineTemplate shared/small-worker
KubeadmConfigTemplate shared/joint-worker
KubeadmConfigTemplate shared/small-worker
KubeadmControlPlaneTemplate shared/joint
KubeadmControlPlaneTemplate shared/small
"#]]
    );
}

#[tokio::test]
async fn a_removed_kind_has_no_objects_and_an_unreadable_kind_is_an_error() {
    let lab = lab().await;
    lab.create([object(kind::KUBEADM_CONFIG_TEMPLATE, "a/worker")]).await;
    let cluster = cluster(&lab).await;
    let scope = scope(&["a"]);
    let found = discover(&cluster, &scope).await.unwrap();
    assert!(names(&found).contains(&"KubeadmConfigTemplate a/worker".to_owned()));
    lab.delete(kind::CUSTOM_RESOURCE_DEFINITION, "kubeadmconfigtemplates.bootstrap.cluster.x-k8s.io").await;
    lab.wait_until_idle().await;
    let again = rediscover(&cluster, &scope, &found).await.unwrap();
    assert!(!names(&again).contains(&"KubeadmConfigTemplate a/worker".to_owned()));
    lab.inject_fault("403,verb=list,resource=cluster.x-k8s.io/machines,times=1");
    let error = rediscover(&cluster, &scope, &found).await.unwrap_err();
    assert!(matches!(&error, DiscoverError::Api(error) if error.code() == Some(403)), "{error:?}");
}

#[tokio::test]
async fn large_unrelated_secrets_are_read_without_content() {
    let lab = lab().await;
    lab.create(support::cluster_api::cluster("a/one")).await;
    let (scope, scales) = (scope(&["a"]), Scales::on(lab.sandbox()));
    let cluster = scales.cluster().await;
    discover(&cluster, &scope).await.unwrap();
    let before = scales.bytes.swap(0, Ordering::Relaxed);
    let data = json!({"release": "x".repeat(20_000)});
    let release =
        |number| object(kind::SECRET, &format!("a/release-{number}")).field("stringData", data.clone());
    lab.create((0..200).map(release)).await;
    discover(&cluster, &scope).await.unwrap();
    let more = scales.bytes.load(Ordering::Relaxed) - before;
    assert!(more < 200 * 1_000, "{more} bytes for 200 Secrets");
}

/// A service that counts the bytes of a sandbox's answers.
#[derive(Clone)]
struct Scales {
    sandbox: Sandbox,
    bytes: Arc<AtomicUsize>,
}

impl Scales {
    fn on(sandbox: &Sandbox) -> Self {
        Self { sandbox: sandbox.clone(), bytes: Arc::default() }
    }

    async fn cluster(&self) -> ManagementCluster {
        cluster_through(kube::Client::new(self.clone(), "default")).await
    }
}

impl Service<Request<Body>> for Scales {
    type Response = Response<Full<Bytes>>;
    type Error = <Sandbox as Service<Request<Body>>>::Error;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Self::Error>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Service::<Request<Body>>::poll_ready(&mut self.sandbox, context)
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let (answer, bytes) = (self.sandbox.call(request), self.bytes.clone());
        Box::pin(async move {
            let (head, body) = answer.await?.into_parts();
            let body = body.collect().await.map(Collected::to_bytes).unwrap_or_default();
            bytes.fetch_add(body.len(), Ordering::Relaxed);
            Ok(Response::from_parts(head, Full::new(body)))
        })
    }
}
