//! The commands and the controller take turns: what `component plan` shows is what the controller writes.
#![cfg(unix)]

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    time::{Duration, Instant},
};

use futures::StreamExt as _;
use manifest::{Object, YamlLimits, read_stream};
use serde_json::{Map, Value, json};
use support::{
    binary::{RunOutput, TestEnvironment},
    fixture::Fixture,
    kind::Kind,
    skip::corpus,
};

pub(crate) const COMPONENT: Kind = Kind::new("core.cs.sap.com", "v1alpha1", "Component", "components");

/// The cases that run at a time. Most of their time is waiting.
const CONCURRENT_CASES: usize = 6;
/// The time after which a Component that is still Processing is written.
const SETTLED_AFTER: Duration = Duration::from_secs(2);

/// The commands and the controller on one cluster.
#[derive(Debug, PartialEq, Eq)]
enum Turns {
    /// The cluster refuses the Component.
    Refused,
    /// The objects of the plan, and those that the controller wrote.
    Written { planned: Vec<String>, written: Vec<String> },
    /// The plan after the writes of the controller is not empty.
    Different { difference: String },
    /// The plan fails; the objects that the controller wrote nevertheless.
    Failed { written: Vec<String> },
}

/// Returns the objects of a case. The files of its artifact are in a Blueprint. `None` if a file is no text.
fn objects(folder: &Path, unpacked: &Path) -> Option<Vec<Object>> {
    let read = |name: &str| fs::read(folder.join(name)).unwrap_or_default();
    let mut component =
        read_stream(&read("component.yaml"), &YamlLimits::default()).ok()?.objects.remove(0).into_value();
    component["spec"]["sourceRef"] = json!({"blueprint": {"name": "files"}});
    if component["metadata"]["namespace"].is_null() {
        component["metadata"]["namespace"] = "ns".into();
    }
    // Other Components of the case do not exist.
    component["spec"].as_object_mut()?.remove("dependencies");
    let source = folder.join("source");
    let source = if source.is_dir() { source } else { unpack(folder, unpacked)? };
    let text = |(path, content): (String, Vec<u8>)| {
        Some((path[1..].to_owned(), String::from_utf8(content).ok()?.into()))
    };
    let files = support::folder::files(&source).into_iter().map(text).collect::<Option<Map<_, _>>>()?;
    let namespace = component["metadata"]["namespace"].clone();
    let blueprint = json!({
        "apiVersion": "core.cs.sap.com/v1alpha1", "kind": "Blueprint",
        "metadata": {"name": "files", "namespace": namespace}, "spec": {"files": files},
    });
    let space = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}});
    let mut secrets = read_stream(&read("secrets.yaml"), &YamlLimits::default()).unwrap().objects;
    for secret in secrets.iter_mut().filter(|secret| secret.namespace().is_empty()) {
        secret.set_namespace(namespace.as_str()?);
    }
    let own = [space, blueprint].map(|value| Object::try_from(value).unwrap());
    Some(own.into_iter().chain(secrets).chain([Object::try_from(component).unwrap()]).collect())
}

/// Unpacks the artifact of a case. `None` if it is damaged or has links.
fn unpack(folder: &Path, unpacked: &Path) -> Option<PathBuf> {
    fs::create_dir(unpacked).unwrap();
    let archive = folder.join("source.tgz");
    let run = Command::new("tar").arg("xzf").arg(archive).arg("-C").arg(unpacked).output().unwrap();
    run.status.success().then(|| unpacked.to_owned())
}

/// A sandbox with the definitions of Components.
struct Lab {
    fixture: Fixture,
    world: TestEnvironment,
}

impl Lab {
    async fn start() -> Self {
        let fixture = Fixture::start().await;
        let world = crate::world().env("KUBECONFIG", fixture.kubeconfig().await.as_os_str());
        let definition =
            tokio::task::block_in_place(|| world.run_expecting_success("component definition").stdout);
        fixture.apply(&definition).await;
        fixture.wait_until_idle().await;
        Self { fixture, world }
    }

    /// Runs a command while other tasks of this thread go on.
    fn run(&self, line: &str) -> RunOutput {
        tokio::task::block_in_place(|| self.world.run_line(line))
    }

    /// Runs the controller until a Component has settled. Returns the objects that it wrote.
    async fn written(&self, component: &Object, folder: &Path) -> Vec<String> {
        let audit = self.fixture.sandbox().audit();
        let before = audit.answered();
        let controller =
            self.world.start("controller --metrics-bind-address 0 --health-probe-bind-address 0");
        let key = format!("{}/{}", component.namespace(), component.name());
        let started_at = Instant::now();
        let (mut progress, mut last_change) = ((Value::Null, 0), Instant::now());
        loop {
            let found = self.fixture.get(COMPONENT, &key).await.unwrap_or_default();
            let (state, reason) = (&found["status"]["state"], &found["status"]["conditions"][0]["reason"]);
            let now = (state.clone(), self.writes_since(before).len());
            if now != progress {
                (progress, last_change) = (now, Instant::now());
            }
            // Some objects are never ready on a sandbox.
            let is_settled = state == "Processing" && last_change.elapsed() > SETTLED_AFTER;
            if is_settled || state == "Ready" || state == "Error" || reason == "Retrying" {
                break;
            }
            let is_late = started_at.elapsed() > Duration::from_mins(1);
            assert!(!is_late, "{}: {:#}", folder.display(), found["status"]);
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        drop(controller);
        self.writes_since(before)
    }

    /// Returns the objects that the controller wrote after a request. The paths of creations do not name the object.
    fn writes_since(&self, request: u64) -> Vec<String> {
        let writes = self.fixture.sandbox().audit().since(request).into_iter().filter(|one| {
            one.client == "component-operator.cs.sap.com" && one.resource != "events" && one.code < 300
        });
        let mut written: Vec<String> =
            writes.map(|one| format!("{}/{}", one.namespace, one.resource)).collect();
        written.sort();
        written
    }
}

async fn take_turns(folder: PathBuf) -> (PathBuf, Option<Turns>) {
    let turns = take_turns_in(&folder).await;
    (folder, turns)
}

/// Plans a Component, and lets the controller write it. `None` if the case has no text files.
async fn take_turns_in(folder: &Path) -> Option<Turns> {
    let lab = Lab::start().await;
    let mut all = objects(folder, &lab.world.current_dir().join("unpacked"))?;
    let component = all.pop().unwrap();
    lab.fixture.apply(&manifest::write_stream(&all)).await;
    let text = manifest::write_stream(std::slice::from_ref(&component));
    if !is_accepted(&lab, &component).await {
        return Some(Turns::Refused);
    }
    lab.world.write("component.yaml", text);
    let plan = lab.run("component plan component.yaml -o json");
    let written = lab.written(&component, folder).await;
    if plan.status != 0 {
        return Some(Turns::Failed { written });
    }
    let plan: Value = serde_json::from_str(&plan.stdout).unwrap();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let steps = plan["components"][0]["steps"].as_array().unwrap().iter();
    let mut planned: Vec<String> = steps
        .filter(|step| step["action"] != "keep")
        .map(|step| format!("{}/{}s", text(&step["object"]["namespace"]), text(&step["object"]["kind"])))
        .map(|object| object.to_lowercase())
        .collect();
    planned.sort();
    // The same bytes: the commands have nothing to add.
    let diff = lab.run("component diff component.yaml --exit-status");
    if diff.status != 0 {
        return Some(Turns::Different { difference: diff.to_string() });
    }
    Some(Turns::Written { planned, written })
}

/// Creates a Component. False if the definition refuses it.
async fn is_accepted(lab: &Lab, component: &Object) -> bool {
    let path = format!("/apis/core.cs.sap.com/v1alpha1/namespaces/{}/components", component.namespace());
    let request = http::Request::post(path).header("content-type", "application/json");
    let body = serde_json::to_vec(component.as_map()).unwrap();
    lab.fixture.client().request::<Value>(request.body(body).unwrap()).await.is_ok()
}

/// Takes turns in all cases of a set. Returns the numbers of written and failed cases.
async fn take_all_turns(set: &str) -> (usize, usize) {
    let Some(corpus) = corpus() else { return (usize::MAX, usize::MAX) };
    let folders =
        fs::read_dir(corpus.join("components").join(set)).unwrap().map(|entry| entry.unwrap().path());
    let cases: Vec<PathBuf> = folders.filter(|folder| folder.join("component.yaml").exists()).collect();
    let (mut all, mut failed, mut wrong) = (0, 0, Vec::new());
    let turns = cases.into_iter().map(|folder| tokio::spawn(take_turns(folder)));
    let mut turns = futures::stream::iter(turns).buffer_unordered(CONCURRENT_CASES);
    while let Some(ended) = turns.next().await {
        let (folder, turns) = ended.unwrap();
        match turns {
            None | Some(Turns::Refused) => {}
            Some(Turns::Written { planned, written }) if planned == written => all += 1,
            Some(Turns::Failed { written }) if written.is_empty() => failed += 1,
            Some(other) => wrong.push(format!("{}: {other:?}", folder.display())),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    (all, failed)
}

#[tokio::test(flavor = "multi_thread")]
async fn the_controller_writes_the_plan_of_every_recorded_component() {
    let (written, failed) = take_all_turns("component").await;
    assert!(written >= 23 && failed >= 12, "{written} {failed}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_controller_writes_the_plan_of_every_recorded_chart() {
    let (written, failed) = take_all_turns("chart").await;
    assert!(written >= 31 && failed >= 18, "{written} {failed}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_controller_writes_the_plan_of_every_recorded_kustomization() {
    let (written, failed) = take_all_turns("kustomize").await;
    assert!(written >= 38 && failed >= 19, "{written} {failed}");
}
