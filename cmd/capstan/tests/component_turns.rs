//! The commands and the controller take turns: what `component plan` shows is what the controller writes.
#![cfg(unix)]

use std::{
    fs,
    path::Path,
    process::{Child, Command},
    time::{Duration, Instant},
};

use manifest::{Object, YamlLimits, read_stream};
use serde_json::{Value, json};
use support::{fixture::Fixture, kind::Kind, skip::corpus};

use crate::management::Management;

pub(crate) const COMPONENT: Kind = Kind::new("core.cs.sap.com", "v1alpha1", "Component", "components");

/// The time after which a Component that is still Processing is written.
const SETTLED_AFTER: Duration = Duration::from_secs(3);

/// A controller as a process, killed on drop.
struct Controller(Child);

impl Drop for Controller {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Returns the objects of a case. The files of its artifact are in a Blueprint.
fn objects(folder: &Path, unpacked: &Path) -> Vec<Object> {
    let read = |name: &str| fs::read(folder.join(name)).unwrap_or_default();
    let mut component =
        read_stream(&read("component.yaml"), &YamlLimits::default()).unwrap().objects.remove(0).into_value();
    component["spec"]["sourceRef"] = json!({"blueprint": {"name": "files"}});
    // Other Components of the case do not exist.
    component["spec"].as_object_mut().unwrap().remove("dependencies");
    fs::create_dir(unpacked).unwrap();
    let archive = folder.join("source.tgz");
    let unpack = Command::new("tar").arg("xzf").arg(archive).arg("-C").arg(unpacked).status().unwrap();
    assert!(unpack.success());
    let files: serde_json::Map<String, Value> = support::folder::files(unpacked)
        .into_iter()
        .map(|(path, content)| (path[1..].to_owned(), String::from_utf8(content).unwrap().into()))
        .collect();
    let namespace = component["metadata"]["namespace"].clone();
    let blueprint = json!({
        "apiVersion": "core.cs.sap.com/v1alpha1", "kind": "Blueprint",
        "metadata": {"name": "files", "namespace": namespace}, "spec": {"files": files},
    });
    let space = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}});
    let mut secrets = read_stream(&read("secrets.yaml"), &YamlLimits::default()).unwrap().objects;
    for secret in secrets.iter_mut().filter(|secret| secret.namespace().is_empty()) {
        secret.set_namespace(namespace.as_str().unwrap());
    }
    let own = [space, blueprint].map(|value| Object::try_from(value).unwrap());
    own.into_iter().chain(secrets).chain([Object::try_from(component).unwrap()]).collect()
}

/// Plans a Component, lets the controller write it, and returns both lists of objects. `None` if it cannot be applied.
async fn take_turns(folder: &Path) -> Option<(Vec<String>, Vec<String>)> {
    let lab = Management::start(Fixture::builder()).await;
    lab.fixture.apply(&lab.run("component definition").stdout).await;
    lab.fixture.wait_until_idle().await;
    let mut all = objects(folder, &lab.world().current_dir().join("unpacked"));
    let component = all.pop().unwrap();
    lab.fixture.apply(&manifest::write_stream(&all)).await;
    lab.fixture.apply(&manifest::write_stream(std::slice::from_ref(&component))).await;
    lab.world().write("component.yaml", manifest::write_stream(std::slice::from_ref(&component)));
    let plan = lab.run("component plan component.yaml -o json");
    if plan.status != 0 {
        // The objects of one case have a kind that no server serves.
        assert!(plan.stderr.contains("neither the server nor the set defines kind"), "{plan}");
        return None;
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
    let audit = lab.fixture.sandbox().audit();
    let before = audit.answered();
    let flags = "--metrics-bind-address 0 --health-probe-bind-address 0";
    let controller = Controller(lab.spawn(&format!("controller {flags}")));
    let key = format!("{}/{}", component.namespace(), component.name());
    let started_at = Instant::now();
    loop {
        let found = lab.fixture.get(COMPONENT, &key).await.unwrap_or_default();
        // Some objects are never ready on a sandbox.
        let is_written = found["status"]["state"] == "Processing" && started_at.elapsed() > SETTLED_AFTER;
        if is_written || found["status"]["state"] == "Ready" {
            break;
        }
        assert!(
            started_at.elapsed() < Duration::from_secs(30),
            "{}: {:#}",
            folder.display(),
            found["status"]
        );
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    drop(controller);
    let writes = audit.since(before).into_iter().filter(|one| {
        one.client == "component-operator.cs.sap.com" && one.resource != "events" && one.code < 300
    });
    // The paths of creations do not name the object.
    let mut written: Vec<String> = writes.map(|one| format!("{}/{}", one.namespace, one.resource)).collect();
    written.sort();
    // The same bytes: the commands have nothing to add.
    let diff = lab.run("component diff component.yaml --exit-status");
    assert_eq!(diff.status, 0, "{}: {diff}", folder.display());
    Some((planned, written))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plan_names_what_the_controller_writes_in_every_recorded_case() {
    let Some(corpus) = corpus() else { return };
    let mut cases = 0;
    for entry in fs::read_dir(corpus.join("components/component")).unwrap() {
        let folder = entry.unwrap().path();
        if !folder.file_name().unwrap().to_str().unwrap().starts_with("valid-") {
            continue;
        }
        let Some((planned, written)) = take_turns(&folder).await else { continue };
        assert_eq!(planned, written, "{}", folder.display());
        assert!(!written.is_empty(), "{}", folder.display());
        cases += 1;
    }
    assert!(cases >= 17, "{cases}");
}
