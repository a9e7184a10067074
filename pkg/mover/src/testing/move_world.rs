//! A world of three Clusters for tests, and its state after a move.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
    sync::Arc,
    time::Duration,
};

use api::output::MoveAborted;
use inventory::ManagementCluster;
use serde_json::{Value, json};
use support::{
    cluster_api::{cluster, cluster_class, install, object, provider, resource_set},
    fixture::Fixture,
    kind,
    object_snapshot::ObjectSnapshot,
};
use tempfile::TempDir;
use workload::{DELETE_FOR_MOVE, MOVE_MARK, PAUSED_ANNOTATION};

use crate::{
    ClusterChoice, DifferencePolicy, JournalHolder, JournalStore, MoveError, MoveOutcome, MovePlan,
    MoveRequest, MoveRoute, abort_move, execute_move, plan_move,
    testing::{Lab, NEW_VERSION, core, docker},
};

/// The state of both clusters before a move. Any number of labs can start from this state.
pub(crate) struct World {
    source: TempDir,
    target: TempDir,
}

/// A lab and its data folders.
pub(crate) struct StartedWorld {
    pub(crate) lab: Lab,
    _folders: [TempDir; 2],
}

/// All objects of both clusters, without values that differ from run to run.
#[derive(Debug, PartialEq)]
pub(crate) struct State {
    pub(crate) source: BTreeMap<String, Value>,
    pub(crate) target: BTreeMap<String, Value>,
}

impl World {
    /// Builds three Clusters in `team`. The first uses a ClusterClass that a Cluster of `other` uses too. The second
    /// has a resource set and is paused by the user. The third has certificates of the user.
    /// Both clusters have a cluster-scoped identity.
    pub(crate) async fn build() -> Self {
        let world = Self { source: TempDir::new().unwrap(), target: TempDir::new().unwrap() };
        let (source, target) = (fixture(world.source.path()).await, fixture(world.target.path()).await);
        futures::join!(install_providers(&source), install_providers(&target));
        source.create(cluster_class("team/shared")).await;
        source
            .create(cluster("team/a").of_class("shared").control_plane(1).machine_deployment("md", 1))
            .await;
        source.create(cluster("other/x").of_class("team/shared")).await;
        source.create(cluster("team/b").machines(1)).await;
        source.create(resource_set("team/addons", &["b"])).await;
        source.create(cluster("team/c").control_plane(1)).await;
        source
            .create([
                object(kind::SECRET, "team/c-apiserver-etcd-client")
                    .field("stringData", json!({"tls.crt": "mine"})),
                object(kind::SECRET, "team/unrelated").field("stringData", json!({"a": "b"})),
                object(kind::CONFIG_MAP, "team/labelled").label("clusterctl.cluster.x-k8s.io/move", "false"),
                object(kind::SECRET, "infrastructure-docker-system/account")
                    .owned_by(kind::AWS_CLUSTER_STATIC_IDENTITY, "account")
                    .field("stringData", json!({"key": "k"})),
            ])
            .await;
        source.merge(kind::CLUSTER, "team/b", &json!({"spec": {"paused": true}})).await;
        world
    }

    pub(crate) async fn start(&self) -> StartedWorld {
        let folders = [copy_folder(self.source.path()), copy_folder(self.target.path())];
        let lab = Lab { source: fixture(folders[0].path()).await, target: fixture(folders[1].path()).await };
        StartedWorld { lab, _folders: folders }
    }
}

/// Installs the kinds of Cluster API, two providers and an identity.
pub(crate) async fn install_providers(fixture: &Fixture) {
    install(fixture).await;
    fixture.create([provider(&core(), NEW_VERSION), provider(&docker(), NEW_VERSION)]).await;
    fixture.create([object(kind::AWS_CLUSTER_STATIC_IDENTITY, "account")]).await;
}

async fn fixture(folder: &Path) -> Fixture {
    let builder = Fixture::builder().clock_at("2026-01-02T03:04:05Z");
    builder.options(|options| options.data_dir = Some(folder.to_owned())).start().await
}

fn copy_folder(from: &Path) -> TempDir {
    let folder = TempDir::new().unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        fs::copy(&path, folder.path().join(path.file_name().unwrap())).unwrap();
    }
    folder
}

pub(crate) fn request() -> MoveRequest {
    MoveRequest {
        namespaces: BTreeSet::from(["team".to_owned()]),
        clusters: ClusterChoice::All,
        namespace_map: BTreeMap::new(),
        include_status: BTreeSet::new(),
        timeout: Duration::from_mins(10),
        on_difference: DifferencePolicy::Stop,
        overwrite: false,
        server_dry_run: false,
    }
}

pub(crate) fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap()
}

/// Returns the keeper of a process. All earlier processes have ended.
pub(crate) fn keeper(process: &str) -> JournalStore {
    JournalStore {
        holder: JournalHolder { host: "here".to_owned(), process: process.to_owned(), write_number: 0 },
        has_ended: Arc::new(|_| true),
        write_journal: Arc::new(|_| Ok(())),
        write_report: Arc::new(|_| Ok(())),
    }
}

/// Plans and executes a move, like the command.
pub(crate) async fn plan_and_execute(
    source: &ManagementCluster,
    target: &ManagementCluster,
    request: &MoveRequest,
    process: &str,
) -> Result<MoveOutcome, MoveError> {
    let plan = Box::pin(plan_move(source, Some(target), request)).await?;
    execute(source, target, request, plan, process).await
}

pub(crate) async fn execute(
    source: &ManagementCluster,
    target: &ManagementCluster,
    request: &MoveRequest,
    plan: MovePlan,
    process: &str,
) -> Result<MoveOutcome, MoveError> {
    let route = MoveRoute { source, target };
    let outcome = Box::pin(execute_move(route, request, plan, &keeper(process))).await?;
    Ok(outcome.expect("something moves"))
}

/// Plans and executes a move without interruptions.
pub(crate) async fn move_lab(
    lab: &Lab,
    request: &MoveRequest,
    process: &str,
) -> Result<MoveOutcome, MoveError> {
    let lines = lab.lines();
    plan_and_execute(&lines.source().await, &lines.target().await, request, process).await
}

/// Aborts a move without interruptions.
pub(crate) async fn abort_lab(lab: &Lab) -> Result<MoveAborted, MoveError> {
    let lines = lab.lines();
    let (source, target, keeper) = (lines.source().await, lines.target().await, keeper("2"));
    let route = MoveRoute { source: &source, target: &target };
    Box::pin(abort_move(route, Duration::from_mins(10), &keeper)).await
}

pub(crate) async fn state(lab: &Lab) -> State {
    futures::join!(lab.source.wait_until_idle(), lab.target.wait_until_idle());
    State { source: side_state(&lab.source).await, target: side_state(&lab.target).await }
}

pub(crate) async fn side_state(fixture: &Fixture) -> BTreeMap<String, Value> {
    let all = ObjectSnapshot::read(&fixture.client()).await;
    let uids: BTreeMap<&str, String> = all
        .iter()
        .filter_map(|(_, object)| {
            let metadata = &object["metadata"];
            let kind = object["kind"].as_str().unwrap_or_default();
            Some((metadata["uid"].as_str()?, format!("{kind} {}", metadata["name"].as_str()?)))
        })
        .collect();
    let lasting = all.iter().filter(|(name, _)| !name.ends_with("/capstan-move"));
    lasting.map(|(name, object)| (name.to_owned(), normalized(object, &uids))).collect()
}

/// Removes times, versions and uids from an object. Owners that exist are named instead of their uids.
fn normalized(object: &Value, uids: &BTreeMap<&str, String>) -> Value {
    let mut object = object.clone();
    let metadata = object["metadata"].as_object_mut().unwrap();
    for field in ["uid", "resourceVersion", "generation", "creationTimestamp"] {
        metadata.remove(field);
    }
    for owner in metadata.get_mut("ownerReferences").and_then(Value::as_array_mut).into_iter().flatten() {
        let uid = owner["uid"].take();
        let name = uids.get(uid.as_str().unwrap_or_default()).cloned();
        owner["uid"] = json!(name.unwrap_or_else(|| "of nothing".to_owned()));
    }
    if let Some(managers) = metadata.get_mut("managedFields") {
        let mut reported: Vec<String> = managers.as_array().unwrap().iter().map(manager).collect();
        reported.sort_unstable();
        *managers = json!(reported);
    }
    object
}

fn manager(entry: &Value) -> String {
    format!("{} {} {}", entry["manager"], entry["operation"], entry["subresource"])
}

impl State {
    /// Fails unless the state is valid after any move: no traces of tools, no missing owners, and no pause but the
    /// user's.
    pub(crate) fn check(&self, when: &str) {
        for (name, object) in self.source.iter().chain(&self.target) {
            let metadata = &object["metadata"];
            for key in [MOVE_MARK, DELETE_FOR_MOVE] {
                assert_eq!(metadata["annotations"].get(key), None, "{when}: {name} still has {key}");
            }
            let owners = metadata["ownerReferences"].as_array().into_iter().flatten();
            for owner in owners {
                let expected =
                    format!("{} {}", owner["kind"].as_str().unwrap(), owner["name"].as_str().unwrap());
                assert_eq!(owner["uid"], expected, "{when}: the owner of {name}");
            }
            let is_paused =
                object["spec"]["paused"] == true || !metadata["annotations"][PAUSED_ANNOTATION].is_null();
            assert_eq!(is_paused, name == "Cluster team/b", "{when}: {name}");
            assert!(metadata["deletionTimestamp"].is_null(), "{when}: {name} is going");
        }
        for (name, object) in self.target.iter().filter(|(name, _)| name.contains(" team/")) {
            let managers = object["metadata"]["managedFields"].to_string();
            assert!(!managers.contains("capstan"), "{when}: {name} is managed by {managers}");
        }
    }

    /// Returns the state without the field managers of objects outside the moved namespace.
    pub(crate) fn without_foreign_managers(&self) -> Self {
        let side = |objects: &BTreeMap<String, Value>| {
            let mut objects = objects.clone();
            for (_, object) in objects.iter_mut().filter(|(name, _)| !name.contains(" team/")) {
                object["metadata"].as_object_mut().unwrap().remove("managedFields");
            }
            objects
        };
        Self { source: side(&self.source), target: side(&self.target) }
    }

    /// Fails at the first difference from an expected state.
    pub(crate) fn assert_same(&self, expected: &Self, when: &str) {
        for (side, found, expected) in
            [("source", &self.source, &expected.source), ("target", &self.target, &expected.target)]
        {
            let missing: Vec<_> = expected.keys().filter(|name| !found.contains_key(*name)).collect();
            let more: Vec<_> = found.keys().filter(|name| !expected.contains_key(*name)).collect();
            assert!(
                missing.is_empty() && more.is_empty(),
                "{when}: {side}: missing {missing:?}, too many {more:?}"
            );
            for (name, object) in found {
                assert_eq!(object, &expected[name], "{when}: {side}: {name}");
            }
        }
    }
}
