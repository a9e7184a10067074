use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use api::output::{CertManagerPlan, ProgressEvent};
use apply::EventSink;
use inventory::ProviderInventory;
use provider::config::{Config, ConfigFile, ConfigFormat, Environment};
use repository::{Overrides, RepositoryContext};
use sandbox::{ControllerSwitches, ServiceWebhooks};
use serde_json::{Value, json};
use snapbox::{assert_data_eq, str};
use support::{
    fixture::Fixture,
    kind::{CONFIG_MAP, Kind},
    request_counter::RequestCounter,
};
use tempfile::TempDir;

use super::*;
use crate::{
    LifecycleVerb,
    cert_manager::{
        execute_cert_manager,
        install::wait_for_external_cert_manager,
        plan_cert_manager_for_init, plan_cert_manager_for_upgrade,
        record::{CORE_LABEL, VERSION_ANNOTATION},
    },
    testing,
};

const ISSUER: Kind = Kind::new("cert-manager.io", "v1", "Issuer", "issuers");
const DEPLOYMENT: Kind = Kind::new("apps", "v1", "Deployment", "deployments");
const WEBHOOKS: Kind = Kind::new(
    "admissionregistration.k8s.io",
    "v1",
    "ValidatingWebhookConfiguration",
    "validatingwebhookconfigurations",
)
.cluster_scoped();

const OLD: &str = "v1.20.3";
const NEW: &str = "v1.21.1";

/// The webhook that validates Issuers.
const WEBHOOK: &str = "---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: cert-manager-webhook}
webhooks:
- name: webhook.cert-manager.io
  admissionReviewVersions: [v1]
  sideEffects: None
  clientConfig: {service: {name: cert-manager-webhook, namespace: cert-manager}}
  rules: [{apiGroups: [cert-manager.io], apiVersions: [v1], operations: ['*'], resources: ['*/*']}]
";

/// A repository with two releases of cert-manager, and a configuration that selects one and has extra lines.
struct Release {
    _folder: TempDir,
    config: Config,
    overrides: Overrides,
    context: RepositoryContext,
}

impl Release {
    fn of(version: &str, more: &str) -> Self {
        let folder = TempDir::new().unwrap();
        for version in [OLD, NEW] {
            let release = folder.path().join("cert-manager").join(version);
            std::fs::create_dir_all(&release).unwrap();
            std::fs::write(release.join("cert-manager.yaml"), manifest(version)).unwrap();
        }
        let url = folder.path().join(format!("cert-manager/{version}/cert-manager.yaml"));
        let text = format!("cert-manager:\n  url: {}\n  version: {version}\n{more}", url.display());
        let origin = "clusterctl.yaml".to_owned();
        let file = ConfigFile { origin, folder: None, format: ConfigFormat::Yaml, text };
        let config = Config::new(Some(file), Environment::default()).unwrap();
        let overrides = Overrides::in_folder(folder.path().join("overrides"));
        Self { _folder: folder, config, overrides, context: RepositoryContext::default() }
    }

    fn sources(&self) -> Sources<'_> {
        Sources {
            config: &self.config,
            overrides: &self.overrides,
            repositories: &self.context,
            overlays: provider::Overlays::none(),
            trace: ::manifest::provenance::Trace::Off,
        }
    }
}

/// Returns a manifest. The older release has one more object.
fn manifest(version: &str) -> String {
    let dropped =
        "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: dropped, namespace: cert-manager}\n";
    let dropped = if version == OLD { dropped } else { "" };
    format!("{}{WEBHOOK}{dropped}", testing::cert_manager(version))
}

/// Returns cert-manager as other tools package it.
fn foreign() -> String {
    let labels = "app.kubernetes.io/name: webhook, app.kubernetes.io/component: webhook";
    let named = "metadata: {name: cert-manager-webhook, namespace: cert-manager";
    manifest(NEW).replace(named, &format!("{named}, labels: {{{labels}}}"))
}

/// Events in order, as text.
type EventNames = Arc<Mutex<Vec<String>>>;

async fn cluster(fixture: &Fixture) -> (ManagementCluster, EventNames) {
    let reported = EventNames::default();
    let sink = reported.clone();
    let events = EventSink::new(move |event: &ProgressEvent| sink.lock().unwrap().push(format!("{event:?}")));
    (ManagementCluster::new(testing::cluster(fixture).await.server, events), reported)
}

fn reported(reported: &EventNames, word: &str) -> bool {
    reported.lock().unwrap().iter().any(|event| event.contains(word))
}

fn soon() -> Instant {
    Instant::now() + Duration::from_secs(20)
}

/// Starts a fixture whose workloads become ready and whose webhooks behave as given.
async fn lab(webhooks: ServiceWebhooks) -> Fixture {
    let controllers = ControllerSwitches {
        garbage_collection: true,
        workloads: true,
        cert_manager: true,
        ..ControllerSwitches::none()
    };
    Fixture::builder()
        .controllers(controllers)
        .options(|options| options.service_webhooks = webhooks)
        .start()
        .await
}

async fn install(cluster: &ManagementCluster, release: &Release) -> CertManagerPlan {
    let plan = plan_cert_manager_for_init(cluster, &release.sources()).await.unwrap();
    execute(cluster, &plan, release, soon()).await.unwrap();
    plan
}

async fn execute(
    cluster: &ManagementCluster,
    plan: &CertManagerPlan,
    release: &Release,
    deadline: Instant,
) -> Result<(), CertManagerError> {
    let empty = LifecyclePlan::empty(LifecycleVerb::Init, &ProviderInventory::default());
    let mut plan = LifecyclePlan { cert_manager: plan.clone(), ..empty };
    execute_cert_manager(cluster, &mut plan, &release.sources(), deadline).await
}

// Row: D-106
#[tokio::test]
async fn no_request_is_sent_if_the_check_is_disabled() {
    let fixture = Fixture::start().await;
    let counter = RequestCounter::start(fixture.sandbox());
    let (cluster, _) = cluster(&fixture).await;
    let release = Release::of(NEW, "  mode: none\n");
    assert_eq!(install(&cluster, &release).await, CertManagerPlan::default());
    let upgrade = plan_cert_manager_for_upgrade(&cluster, &release.sources()).await.unwrap();
    assert_eq!((upgrade, counter.all().total()), (CertManagerPlan::default(), 0));
}

// Row: D-102
#[tokio::test]
async fn the_probe_finds_an_external_cert_manager_and_leaves_no_objects() {
    let fixture = Fixture::start().await;
    fixture.apply(&foreign()).await;
    let (cluster, events) = cluster(&fixture).await;
    let counter = RequestCounter::start(fixture.sandbox());
    for _ in 0..2 {
        let plan = install(&cluster, &Release::of(OLD, "")).await;
        assert_eq!(plan, CertManagerPlan::keep(""));
    }
    assert_eq!(fixture.list(ISSUER).await, Vec::<Value>::new());
    let writes: Vec<_> =
        counter.requests().into_iter().filter(|one| one.verb != "list" && one.verb != "get").collect();
    assert!(writes.iter().all(|one| one.verb == "create" && one.resource == "issuers"), "{writes:?}");
    assert!(reported(&events, "CertManagerFound") && !reported(&events, "Warning"));
}

#[tokio::test]
async fn leftover_cert_manager_definitions_give_a_warning() {
    let fixture = Fixture::start().await;
    fixture.apply(&testing::cert_manager(NEW)).await;
    let (cluster, events) = cluster(&fixture).await;
    install(&cluster, &Release::of(NEW, "")).await;
    let events = events.lock().unwrap();
    let warnings: Vec<&str> =
        events.iter().map(String::as_str).filter(|event| event.starts_with("Warning")).collect();
    assert_data_eq!(
        warnings.join("\n"),
        str![[
            r#"Warning { text: "the server serves the cert-manager kinds, but no cert-manager Deployment exists: if you uninstalled cert-manager, delete its CustomResourceDefinitions" }"#
        ]]
    );
}

// Row: D-103
#[tokio::test]
async fn an_unresponsive_external_cert_manager_is_awaited_and_unchanged() {
    let fixture = lab(ServiceWebhooks::Refuse).await;
    fixture.apply(&foreign()).await;
    fixture.merge(DEPLOYMENT, "cert-manager/cert-manager-webhook", &json!({"spec": {"paused": true}})).await;
    let (cluster, _) = cluster(&fixture).await;
    let release = Release::of(NEW, "");
    let plan = plan_cert_manager_for_init(&cluster, &release.sources()).await.unwrap();
    assert_eq!(plan, CertManagerPlan::external());
    let waited = execute(&cluster, &plan, &release, Instant::now()).await;
    let Err(CertManagerError::NotAnswering { last, .. }) = waited else { panic!("{waited:?}") };
    assert!(last.contains("failed calling webhook \"webhook.cert-manager.io\""), "{last}");
    let touched = fixture.get(DEPLOYMENT, "cert-manager/cert-manager-webhook").await.unwrap();
    assert_eq!(touched["metadata"]["labels"].get(CORE_LABEL), None);

    let (waited, ()) = futures::join!(
        execute(&cluster, &plan, &release, soon()),
        fixture.delete(WEBHOOKS, "cert-manager-webhook"),
    );
    waited.unwrap();
}

#[tokio::test]
async fn unready_objects_of_an_external_cert_manager_are_reported() {
    let fixture = Fixture::builder()
        .options(|options| options.service_webhooks = ServiceWebhooks::Refuse)
        .start()
        .await;
    fixture.apply(&foreign()).await;
    let (cluster, _) = cluster(&fixture).await;
    let waited = wait_for_external_cert_manager(&cluster, Instant::now()).await;
    let Err(CertManagerError::NotAnswering { blockers, .. }) = waited else { panic!("{waited:?}") };
    let objects: Vec<_> = blockers.iter().map(|blocker| blocker.object.to_string()).collect();
    assert_eq!(objects, ["Deployment cert-manager/cert-manager-webhook"]);
}

#[tokio::test]
async fn an_unserved_external_cert_manager_is_an_error() {
    let fixture = Fixture::start().await;
    let (cluster, _) = cluster(&fixture).await;
    let release = Release::of(NEW, "  mode: external\n");
    let plan = plan_cert_manager_for_init(&cluster, &release.sources()).await.unwrap();
    assert_eq!(plan, CertManagerPlan::external());
    let waited = execute(&cluster, &plan, &release, Instant::now()).await;
    assert_data_eq!(
        waited.unwrap_err().to_string(),
        str!["cert-manager is not responding: the server does not serve kind `Issuer.cert-manager.io` in v1"]
    );
}

#[tokio::test]
async fn cert_manager_is_installed_once_with_labels_and_a_record() {
    let fixture = lab(ServiceWebhooks::Ignore).await;
    let (cluster, _) = cluster(&fixture).await;
    let release = Release::of(NEW, "");
    let plan = install(&cluster, &release).await;
    assert_eq!(plan, CertManagerPlan::install(NEW, None));
    let webhook = fixture.get(DEPLOYMENT, "cert-manager/cert-manager-webhook").await.unwrap();
    assert_eq!(
        webhook["metadata"]["labels"],
        json!({"clusterctl.cluster.x-k8s.io": "", "clusterctl.cluster.x-k8s.io/core": "cert-manager"})
    );
    assert_eq!(webhook["metadata"]["annotations"][VERSION_ANNOTATION], NEW);
    let record = fixture.get(CONFIG_MAP, "cert-manager/capstan.cert-manager").await.unwrap();
    assert_eq!(record["metadata"]["labels"].get(CORE_LABEL), None, "clusterctl counts what has it");

    let again = install(&cluster, &release).await;
    assert_eq!(again, CertManagerPlan::keep(NEW));
    let upgrade = plan_cert_manager_for_upgrade(&cluster, &release.sources()).await.unwrap();
    assert_eq!(upgrade, CertManagerPlan::keep(NEW));
}

#[tokio::test]
async fn deleted_objects_are_created_again() {
    let fixture = lab(ServiceWebhooks::Ignore).await;
    let (cluster, _) = cluster(&fixture).await;
    let release = Release::of(NEW, "");
    install(&cluster, &release).await;
    fixture.delete(DEPLOYMENT, "cert-manager/cert-manager-cainjector").await;
    let why = Some("Deployment cert-manager/cert-manager-cainjector is missing".to_owned());
    assert_eq!(install(&cluster, &release).await, CertManagerPlan::install(NEW, why));
    assert!(fixture.get(DEPLOYMENT, "cert-manager/cert-manager-cainjector").await.is_some());
}

// Row: D-104
#[tokio::test]
async fn an_upgrade_replaces_cert_manager_and_deletes_dropped_objects() {
    let fixture = lab(ServiceWebhooks::Ignore).await;
    let (cluster, events) = cluster(&fixture).await;
    install(&cluster, &Release::of(OLD, "")).await;
    let release = Release::of(NEW, "");
    let plan = plan_cert_manager_for_upgrade(&cluster, &release.sources()).await.unwrap();
    assert_eq!(plan, CertManagerPlan::upgrade(OLD, NEW));
    let uid = |webhook: Option<Value>| webhook.unwrap()["metadata"]["uid"].clone();
    let before = uid(fixture.get(DEPLOYMENT, "cert-manager/cert-manager-webhook").await);
    execute(&cluster, &plan, &release, soon()).await.unwrap();
    let webhook = fixture.get(DEPLOYMENT, "cert-manager/cert-manager-webhook").await;
    assert_eq!(webhook.as_ref().unwrap()["metadata"]["annotations"][VERSION_ANNOTATION], NEW);
    assert_eq!(uid(webhook), before, "it was never away");
    assert_eq!(fixture.get(CONFIG_MAP, "cert-manager/dropped").await, None);
    assert!(reported(&events, "UpgradingCertManager"));
}

#[tokio::test]
async fn an_unresponsive_cert_manager_is_reported_with_its_blockers() {
    let fixture = Fixture::builder()
        .options(|options| options.service_webhooks = ServiceWebhooks::Refuse)
        .start()
        .await;
    let (cluster, _) = cluster(&fixture).await;
    let release = Release::of(NEW, "");
    let plan = CertManagerPlan::install(NEW, None);
    let until = Instant::now() + Duration::from_secs(2);
    let waited = execute(&cluster, &plan, &release, until).await;
    let Err(CertManagerError::NotAnswering { last, blockers }) = waited else { panic!("{waited:?}") };
    assert!(last.contains("failed calling webhook"), "{last}");
    assert_eq!(blockers.len(), 3, "{blockers:?}");
}
