//! The states of Components in order, compared with those that the original controller went through on a real API server.

use std::{
    fs,
    path::Path,
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use futures::{StreamExt as _, TryStreamExt as _};
use kube::{
    Api, Client,
    api::{DeleteParams, DynamicObject, ListParams, Patch, PatchParams, WatchEvent, WatchParams},
    core::{ApiResource, GroupVersionKind},
};
use serde_json::{Value, json};
use support::{
    fixture::{apply, define, merge},
    host::{FakeHost, Reply},
    kind::{GIT_REPOSITORY, Kind},
    object_snapshot::client_from_kubeconfig,
    skip::corpus,
    tar::{TarEntry, gzip, tar},
};
use tokio::sync::oneshot;

use crate::{controller::start_controller, server::Server};

const COMPONENT: Kind = Kind::new("core.cs.sap.com", "v1alpha1", "Component", "components");

/// The time limit of one section.
const TIMEOUT: Duration = Duration::from_secs(30);

/// The states of Components in order: the name, and the state with its reason and its message.
type States = Vec<(String, String)>;

/// A server with Components and one source, and the recorded states.
struct Lab {
    client: Client,
    host: FakeHost,
    recorded: String,
    seen: Arc<Mutex<States>>,
    /// The number of states that were compared.
    compared: usize,
    /// Ends the watch.
    _watch: tokio::task::JoinSet<()>,
}

impl Lab {
    async fn start(kubeconfig: &Path, recorded: String) -> Self {
        let client = client_from_kubeconfig(kubeconfig).await;
        let world = crate::world().env("KUBECONFIG", kubeconfig.as_os_str());
        apply(&client, &world.run_expecting_success("component definition").stdout).await;
        define(&client, GIT_REPOSITORY).await;
        apply(&client, "{apiVersion: v1, kind: Namespace, metadata: {name: ns}}").await;
        let seen = Arc::<Mutex<States>>::default();
        let mut watch = tokio::task::JoinSet::new();
        let (tell, listed) = oneshot::channel();
        watch.spawn(record(components(&client), Arc::clone(&seen), tell));
        listed.await.unwrap();
        let lab = Self { client, host: FakeHost::start(&[]), recorded, seen, compared: 0, _watch: watch };
        lab.publish("repo", 1, &["a", "b"]).await;
        apply(&lab.client, "{apiVersion: source.toolkit.fluxcd.io/v1, kind: GitRepository, metadata: {name: other, namespace: ns}}").await;
        lab
    }

    /// Publishes an artifact with ConfigMaps, a Deployment and a broken template.
    async fn publish(&self, name: &str, revision: u32, maps: &[&str]) {
        let map = |one: &&str| {
            let text = format!(
                "{{apiVersion: v1, kind: ConfigMap, metadata: {{name: '{{{{ name }}}}-{one}'}}, data: {{x: '{{{{ .x }}}}'}}}}"
            );
            TarEntry::file(format!("maps/{one}.yaml"), text)
        };
        let deployment = "{apiVersion: apps/v1, kind: Deployment, metadata: {name: slow}, spec: {selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: i}]}}}}";
        let mut files: Vec<TarEntry> = maps.iter().map(map).collect();
        files.push(TarEntry::file("slow/a.yaml", deployment));
        files.push(TarEntry::file("bad/a.yaml", "{{ fail `boom` }}"));
        let archive = gzip(&tar(&files));
        let digest = transport::Digest::of(&archive).to_string();
        let file = format!("{name}-{revision}.tgz");
        self.host.on(format!("127.0.0.1/{file}"), Reply::file(archive));
        let url = format!("http://{}/{file}", self.host.address());
        let repository = json!({
            "apiVersion": "source.toolkit.fluxcd.io/v1", "kind": "GitRepository",
            "metadata": {"name": name, "namespace": "ns"},
        });
        apply(&self.client, &repository.to_string()).await;
        let status = json!({"status": {
            "conditions": [{"type": "Ready", "status": "True"}],
            "artifact": {"url": url, "digest": digest, "revision": format!("main@sha1:{revision}")},
        }});
        let repositories = objects(&self.client, "source.toolkit.fluxcd.io", "v1", "GitRepository");
        repositories.patch_status(name, &PatchParams::default(), &Patch::Merge(status)).await.unwrap();
    }

    async fn apply(&self, name: &str, spec: &str) {
        let rest =
            if spec.contains("sourceRef") { "" } else { "sourceRef: {fluxGitRepository: {name: repo}}, " };
        let path = if spec.contains("path:") { "" } else { "path: maps, " };
        apply(&self.client, &format!("{{apiVersion: core.cs.sap.com/v1alpha1, kind: Component, metadata: {{name: {name}, namespace: ns}}, spec: {{{rest}{path}{spec}}}}}")).await;
    }

    async fn delete(&self, name: &str) {
        components(&self.client).delete(name, &DeleteParams::default()).await.unwrap();
    }

    /// Waits until Components went through the recorded states of a section since the last comparison.
    async fn expect(&mut self, section: &str, names: &[&str]) {
        let started_at = Instant::now();
        loop {
            let seen = self.seen.lock().unwrap().clone();
            let of = |name: &&str| states_of(name, &seen[self.compared..]);
            let (ours, theirs): (Vec<_>, Vec<_>) = names
                .iter()
                .map(|name| (of(name), states_of(name, &section_of(&self.recorded, section))))
                .unzip();
            if ours == theirs {
                self.compared = seen.len();
                return;
            }
            assert!(!theirs.concat().is_empty(), "no section `{section}` is recorded");
            if started_at.elapsed() > TIMEOUT {
                assert_eq!(ours, theirs, "{section}");
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
}

fn components(client: &Client) -> Api<DynamicObject> {
    objects(client, "core.cs.sap.com", "v1alpha1", "Component")
}

fn objects(client: &Client, group: &str, version: &str, kind: &str) -> Api<DynamicObject> {
    let kind = GroupVersionKind::gvk(group, version, kind);
    Api::namespaced_with(client.clone(), "ns", &ApiResource::from_gvk(&kind))
}

/// Defines GitRepositories without a schema.
/// Records each new state of Components.
async fn record(components: Api<DynamicObject>, seen: Arc<Mutex<States>>, listed: oneshot::Sender<()>) {
    // Changes since the list are not lost, even if the watch begins late.
    let list = loop {
        // The kind may not be served yet.
        match components.list(&ListParams::default()).await {
            Ok(list) => break list,
            Err(_) => tokio::time::sleep(Duration::from_millis(20)).await,
        }
    };
    let mut version = list.metadata.resource_version.unwrap();
    let _ = listed.send(());
    loop {
        let events = components.watch(&WatchParams::default(), &version).await.unwrap();
        let mut events = events.boxed();
        while let Ok(Some(event)) = events.try_next().await {
            let (object, is_deleted) = match event {
                WatchEvent::Added(object) | WatchEvent::Modified(object) => (object, false),
                WatchEvent::Deleted(object) => (object, true),
                _ => continue,
            };
            version = object.metadata.resource_version.unwrap();
            let name = object.metadata.name.unwrap();
            let status = &object.data["status"];
            let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
            let ready = &status["conditions"][0];
            let state = if is_deleted { "DELETED".to_owned() } else { text(&status["state"]) };
            let line = format!("{state} {} {}", text(&ready["reason"]), text(&ready["message"]));
            let mut seen = seen.lock().unwrap();
            let last = seen.iter().rev().find(|(of, _)| *of == name);
            if !state.is_empty() && last.is_none_or(|(_, last)| *last != line) {
                seen.push((name, line));
            }
        }
    }
}

/// Returns the recorded states of a section.
fn section_of(recorded: &str, section: &str) -> States {
    let lines = recorded.lines().skip_while(|line| *line != format!("## {section}")).skip(1);
    let parse = |line: &str| {
        let (name, rest) = line.trim().split_once(' ')?;
        let state = rest.split_once(" state=")?.1;
        let (state, rest) = state.split_once(" Ready=")?;
        let (reason, message) = rest.split_once(" reason=")?.1.split_once(" msg=")?;
        (state != "None").then(|| (name.to_owned(), format!("{state} {reason} {message}")))
    };
    lines.take_while(|line| line.starts_with("  ")).filter_map(parse).collect()
}

/// Returns the states of one Component. A short wait for objects may be missing in both: the original needs another step
/// to find objects ready, and a watch may miss a state. Digests are those of the artifacts.
fn states_of(name: &str, states: &[(String, String)]) -> Vec<String> {
    let of_name = states.iter().filter(|(of, _)| of == name);
    let lasting = of_name.filter(|(_, line)| !line.starts_with("Processing Processing "));
    let without_digest = |line: &str| match (line.find("Source digest ("), line.find(") does not")) {
        (Some(at), Some(end)) => format!("{}...{}", &line[..at + "Source digest (".len()], &line[end..]),
        // The text of a failed template begins with other words.
        _ => line.replace("cannot render template: ", "template: "),
    };
    lasting.map(|(_, line)| without_digest(line)).collect()
}

async fn follow_the_original(server: &Server) {
    let Some(corpus) = corpus() else { return };
    let recorded = fs::read_to_string(corpus.join("components/controller/sequences.txt")).unwrap();
    let mut lab = Lab::start(server.kubeconfig(), recorded).await;
    let world = crate::world().env("KUBECONFIG", server.kubeconfig().as_os_str());
    let controller = start_controller(&world, "");
    lives_and_pins(&mut lab).await;
    dependencies(&mut lab).await;
    problems(&mut lab).await;
    drop(controller);
}

async fn lives_and_pins(lab: &mut Lab) {
    lab.apply("one", "values: {x: 1}").await;
    lab.expect("create", &["one"]).await;
    lab.apply("one", "values: {x: 2}").await;
    lab.expect("update of spec.values", &["one"]).await;
    lab.publish("repo", 2, &["a"]).await;
    lab.expect("new artifact (one object fewer)", &["one"]).await;
    lab.apply("one", "values: {x: 2}, revision: 'main@sha1:9'").await;
    lab.expect("pin mismatch (revision)", &["one"]).await;
    lab.apply("one", "values: {x: 2}, digest: 'sha256:0'").await;
    lab.expect("pin mismatch (digest)", &["one"]).await;
    lab.apply("one", "values: {x: 2}, revision: 'main@sha1:2'").await;
    lab.expect("pin match", &["one"]).await;
}

async fn dependencies(lab: &mut Lab) {
    lab.apply("dep", "dependencies: [{name: base}]").await;
    let started_at = Instant::now();
    while !lab.seen.lock().unwrap().iter().any(|(_, line)| line.contains("base not found")) {
        assert!(started_at.elapsed() < TIMEOUT, "dep does not wait for base");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    lab.apply("base", "values: {}").await;
    lab.expect("dependency pending, then created", &["dep", "base"]).await;
    lab.delete("base").await;
    lab.expect("delete base while dep exists", &["base"]).await;
    lab.delete("dep").await;
    // Both follow at once.
    let mark = lab.compared;
    lab.expect("delete dep", &["dep"]).await;
    lab.compared = mark;
    lab.expect("base after that", &["base"]).await;
}

async fn problems(lab: &mut Lab) {
    lab.apply("slow", "path: slow, timeout: 2s, retryInterval: 1s, requeueInterval: 1s").await;
    lab.expect("timeout (deployment never ready)", &["slow"]).await;
    lab.delete("slow").await;
    lab.expect("delete after timeout", &["slow"]).await;
    apply(&lab.client, "{apiVersion: v1, kind: ConfigMap, metadata: {name: adn-a, namespace: ns}}").await;
    lab.apply("adn", "adoptionPolicy: Never").await;
    lab.expect("adoption refused (Never, unowned object exists)", &["adn"]).await;
    apply(&lab.client, "{apiVersion: v1, kind: ConfigMap, metadata: {name: ado-a, namespace: ns, labels: {component-operator.cs.sap.com/owner-id: other}}}").await;
    lab.apply("ado", "values: {}").await;
    lab.expect("adoption refused (IfUnowned, other owner)", &["ado"]).await;
    lab.apply("nosrc", "sourceRef: {fluxGitRepository: {name: gone}}").await;
    lab.expect("source missing", &["nosrc"]).await;
    lab.apply("notready", "sourceRef: {fluxGitRepository: {name: other}}").await;
    lab.expect("source not ready", &["notready"]).await;
    lab.apply("nosec", "valuesFrom: [{name: gone}]").await;
    lab.expect("values secret missing", &["nosec"]).await;
    lab.apply("bad", "path: bad").await;
    lab.expect("render error", &["bad"]).await;
    lab.apply("susp", "suspend: true").await;
    lab.expect("suspended", &["susp"]).await;
    merge(&lab.client, COMPONENT, "ns/susp", &json!({"spec": {"suspend": null}})).await;
    lab.expect("resumed", &["susp"]).await;
}

// Row: CMP-22, CMP-32, CMP-33, CMP-34, CMP-58, CMP-59, CMP-74, CMP-75, CMP-79
#[tokio::test(flavor = "multi_thread")]
async fn states_follow_those_of_the_original_on_a_sandbox() {
    follow_the_original(&Server::sandbox().await).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn states_follow_those_of_the_original_on_a_real_server() {
    let Some(server) = Server::real() else { return };
    follow_the_original(&server).await;
}
