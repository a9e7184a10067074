//! Tests of `component apply`, `component plan` and `component diff` on a sandbox.
#![cfg(unix)]

use std::{
    fs,
    io::{BufRead as _, BufReader, Read as _},
    process::{Child, ChildStderr},
};

use serde_json::Value;
use snapbox::{assert_data_eq, str};
use support::{fixture::Fixture, kind, request_counter::RequestCounter};

use crate::testing::{Management, blueprint_component, signal};

/// Starts a sandbox with simulated controllers for workloads, and copies the example of the guide.
async fn lab() -> Management {
    let controllers = sandbox::ControllerSwitches {
        garbage_collection: true,
        workloads: true,
        ..sandbox::ControllerSwitches::none()
    };
    let lab = Management::start(Fixture::builder().controllers(controllers)).await;
    let example = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/examples/component");
    for file in ["db.yaml", "web.yaml", "files.yaml"] {
        lab.world().write(format!("shop/{file}"), fs::read(format!("{example}/{file}")).unwrap());
    }
    lab
}

/// Changes a file of the example.
fn edit(lab: &Management, file: &str, from: &str, to: &str) {
    let path = lab.world().current_dir().join("shop").join(file);
    let text = lab.world().read(&path);
    assert!(text.contains(from), "{text}");
    lab.world().write(format!("shop/{file}"), text.replacen(from, to, 1));
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| panic!("{text}"))
}

// Row: CMP-03, CMP-05, CMP-46, CMP-48, CMP-51, CMP-72
#[tokio::test(flavor = "multi_thread")]
async fn the_example_is_applied_compared_changed_and_deleted() {
    let lab = lab().await;
    let steps = |line: &str| json(&lab.run(line).stdout)["components"].clone();
    let planned = steps("component plan shop -o json");
    assert_eq!(planned[0]["steps"].as_array().unwrap().len(), 3, "the namespace is missing: {planned}");
    let applied = lab.run("component apply shop -o json");
    assert_eq!(json(&applied.stdout)["components"], planned);
    assert_eq!(applied.status, 0);
    assert_data_eq!(
        applied.stderr,
        str![[r#"
done in [..]: applied 2 Components; 4 objects created

"#]]
    );
    let secret = lab.fixture.get(kind::SECRET, "shop/db").await.unwrap();
    assert_eq!(secret["data"]["password"], "Y29ycmVjdCBob3JzZQ==");
    assert_data_eq!(
        lab.run("component list").to_string(),
        str![[r#"
exit 0
--- stdout
NAMESPACE   NAME      STATE     REASON    OBJECTS   REVISION
shop        db        Ready     Ready     2         dd775195537c37b7508d4e656ff7b07735740aaf3f2169b7318106626fc1a3f5
shop        web       Ready     Ready     1         dd775195537c37b7508d4e656ff7b07735740aaf3f2169b7318106626fc1a3f5

"#]]
    );
    assert_data_eq!(
        lab.run("component apply shop").to_string(),
        str![[r#"
exit 0
--- stderr
done in [..]: 2 Components unchanged

"#]]
    );
    assert_eq!(lab.run("component diff shop --exit-status").status, 0);
    edit(&lab, "web.yaml", "replicas: 2", "replicas: 3");
    edit(&lab, "files.yaml", "db/config.yaml", "db/other.yaml");
    edit(&lab, "files.yaml", "name: {{ name }}", "name: renamed");
    assert_data_eq!(
        lab.run("component diff shop --exit-status").to_string(),
        str![[r#"
exit 3
--- stdout
shop/db at 57d11913ba9657c1fc28021ec401eef73d153d3816809fcb6e0b7154282cd9b7
  create ConfigMap shop/renamed
  delete ConfigMap shop/db
  1 unchanged

shop/web at 57d11913ba9657c1fc28021ec401eef73d153d3816809fcb6e0b7154282cd9b7
  update Deployment shop/web
       progressDeadlineSeconds: 600
    -  replicas: 2
    +  replicas: 3
       revisionHistoryLimit: 10
  ~ annotation component-operator.cs.sap.com/digest: c06d0b1131d9b8dc29c80d26797d032be842ba1d1c1f8ee556e626c9b163… to 3bf1953af3acdc6f8e22618a665307f8d7a1b160196835142ebc2e572989… (one object)

--- stderr
error: Components differ from the cluster

"#]]
    );
    let applied = json(&lab.run("component apply shop -o json").stdout);
    assert_eq!((&applied["carriedOut"], &applied["changes"]), (&true.into(), &true.into()));
    assert!(lab.fixture.get(kind::CONFIG_MAP, "shop/db").await.is_none());
    assert_eq!(lab.run("component delete -f shop").status, 0);
    assert!(lab.fixture.get(kind::SECRET, "shop/db").await.is_none());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_saved_plan_is_executed_as_it_was_shown_or_not_at_all() {
    let lab = lab().await;
    let shown = lab.run("component plan shop --diff --out plan.json");
    assert_data_eq!(
        shown.to_string(),
        str![[r#"
exit 0
--- stdout
shop/db at dd775195537c37b7508d4e656ff7b07735740aaf3f2169b7318106626fc1a3f5
  create Namespace shop (required by objects of the set)
  create ConfigMap shop/db
  create Secret shop/db

shop/web at dd775195537c37b7508d4e656ff7b07735740aaf3f2169b7318106626fc1a3f5
  create Deployment shop/web
    + image of web: registry.k8s.io/pause:3.10
    + environment DB_PORT of web: {"configMapKeyRef":{"key":"port","name":"db"}}

--- stderr
saved the plan; execute it with `capstan component apply --plan plan.json`

"#]]
    );
    let plan = lab.world().read(lab.world().current_dir().join("plan.json"));
    assert!(!format!("{plan}{shown}").contains("horse"), "{plan}");
    assert!(!plan.contains("Y29ycmVjdCBob3JzZQ"), "{plan}");
    assert_eq!(lab.run("component apply --plan plan.json shop").status, 1);
    edit(&lab, "db.yaml", "port: 5432", "port: 5433");
    assert_data_eq!(
        lab.run("component apply --plan plan.json").to_string(),
        str![[r#"
exit 1
--- stderr
error: the plan is outdated; nothing was written
  cause: Component `shop/db` has a different manifest
hint: create a new plan with `--out FILE`, and review it before you execute it

"#]]
    );
    edit(&lab, "db.yaml", "port: 5433", "port: 5432");
    lab.fixture.apply("{apiVersion: v1, kind: Namespace, metadata: {name: shop}}").await;
    lab.fixture.apply("{apiVersion: v1, kind: ConfigMap, metadata: {name: db, namespace: shop}}").await;
    assert_data_eq!(
        lab.run("component apply --plan plan.json").to_string(),
        str![[r#"
exit 1
--- stderr
error: the plan is outdated; nothing was written
  cause: Namespace shop is in the plan but needs no change now
  cause: ConfigMap shop/db now exists on the cluster
hint: create a new plan with `--out FILE`, and review it before you execute it

"#]]
    );
    assert_eq!(lab.run("component apply shop --out plan.json").status, 0);
    let applied = lab.run("component apply --plan plan.json");
    assert_eq!(applied.status, 0, "{applied}");
    assert_data_eq!(
        lab.run("init --plan plan.json").to_string(),
        str![[r#"
exit 1
--- stderr
error: cannot execute the plan `plan.json`
  cause: the plan is for `component apply`
hint: execute it with `capstan component apply --plan plan.json`

"#]]
    );
}

// Row: D-420
#[tokio::test(flavor = "multi_thread")]
async fn problems_of_components_are_reported_before_anything_is_written() {
    let lab = lab().await;
    edit(&lab, "web.yaml", "name: db", "name: cache");
    edit(&lab, "db.yaml", "name: example-keys\n  values", "name: gone\n  values");
    assert_data_eq!(
        lab.run("component apply shop").to_string(),
        str![[r#"
exit 1
--- stderr
error: cannot apply 2 Components
  cause: cannot resolve the references of Component `shop/db`: spec.decryption.secretRef: error loading secret shop/gone: secrets "gone" not found
  cause: Component `shop/web` waits for other Components: dependent component cache not found: Component.core.cs.sap.com "cache" not found
hint: apply the dependencies with the same command, or wait with `capstan component wait`

"#]]
    );
    edit(&lab, "db.yaml", "  values:", "  dependencies: [{name: web}]\n  values:");
    edit(&lab, "web.yaml", "name: cache", "name: db");
    assert_data_eq!(
        lab.run("component apply shop").to_string(),
        str![[r#"
exit 1
--- stderr
error: Components depend on each other: shop/db -> shop/web -> shop/db
hint: remove one of these from `spec.dependencies`

"#]]
    );
    assert_data_eq!(
        lab.run("component apply").to_string(),
        str![[r#"
exit 1
--- stderr
error: no Components are given
hint: name files or folders with Components, such as `web.yaml` or `components/`

"#]]
    );
    assert!(lab.fixture.get(kind::NAMESPACE, "shop").await.is_none());
}

#[tokio::test(flavor = "multi_thread")]
async fn objects_of_other_owners_are_not_changed() {
    let lab = lab().await;
    lab.fixture.apply("{apiVersion: v1, kind: Namespace, metadata: {name: shop}}").await;
    lab.fixture.apply("{apiVersion: v1, kind: ConfigMap, metadata: {name: db, namespace: shop, labels: {component-operator.cs.sap.com/owner-id: x}, annotations: {component-operator.cs.sap.com/owner-id: other}}, data: {a: b}}").await;
    assert_data_eq!(
        lab.run("component apply shop --dry-run").to_string(),
        str![[r#"
exit 1
--- stderr
error: cannot apply 1 Component
  cause: cannot apply the objects of Component `shop/db`
  cause: ConfigMap shop/db belongs to `other`
hint: adopt existing objects with `spec.adoptionPolicy`, or change their names

"#]]
    );
    let applied = lab.run("component apply shop");
    assert_eq!(applied.status, 1, "{applied}");
    assert!(applied.stderr.contains("belongs to `other`"), "{applied}");
    let map = lab.fixture.get(kind::CONFIG_MAP, "shop/db").await.unwrap();
    assert_eq!(map["data"], serde_json::json!({"a": "b"}));
    assert!(lab.fixture.get(kind::DEPLOYMENT, "shop/web").await.is_none());
}

#[tokio::test(flavor = "multi_thread")]
async fn an_object_of_another_owner_stops_an_apply_before_the_first_write() {
    let lab = Management::start(Fixture::builder()).await;
    let map = |name: &str| format!("{{apiVersion: v1, kind: ConfigMap, metadata: {{name: {name}}}}}");
    lab.world().write("owner.yaml", blueprint_component("owner", "", &map("taken")));
    assert_eq!(lab.run("component apply owner.yaml").status, 0);
    let files = blueprint_component("a", "", &map("free")) + &blueprint_component("b", "", &map("taken"));
    lab.world().write("both.yaml", files);
    let counter = RequestCounter::start(lab.fixture.sandbox());
    assert_data_eq!(
        lab.run("component apply both.yaml").to_string(),
        str![[r#"
exit 1
--- stderr
error: cannot apply 1 Component
  cause: cannot apply the objects of Component `default/b`
  cause: ConfigMap default/taken belongs to `[..]/default/owner`
hint: adopt existing objects with `spec.adoptionPolicy`, or change their names

"#]]
    );
    assert_data_eq!(counter.writes().to_string(), str!["1 create leases, 1 delete leases"]);
}

// Row: D-540
#[tokio::test(flavor = "multi_thread")]
async fn components_with_the_same_object_are_refused() {
    let lab = Management::start(Fixture::builder()).await;
    let map = |name: &str| format!("{{apiVersion: v1, kind: ConfigMap, metadata: {{name: {name}}}}}");
    let maps = map("shared") + "\n---\n" + &map("{{ name }}");
    let files = |spec: &str| blueprint_component("a", spec, &maps) + &blueprint_component("b", spec, &maps);
    lab.world().write("both.yaml", files(""));
    let counter = RequestCounter::start(lab.fixture.sandbox());
    assert_data_eq!(
        lab.run("component apply both.yaml").to_string(),
        str![[r#"
exit 1
--- stderr
error: cannot apply 1 Component
  cause: Component `default/b` has the same objects as Component `default/a`
  cause: ConfigMap default/shared
hint: keep each object in one Component, or set `spec.adoptionPolicy: Always` in both

"#]]
    );
    assert_data_eq!(counter.writes().to_string(), str!["1 create leases, 1 delete leases"]);
    assert_eq!(lab.run("component plan both.yaml").status, 1);
    lab.world().write("both.yaml", files(", adoptionPolicy: Always"));
    assert_eq!(lab.run("component apply both.yaml").status, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn names_are_valid_or_refused_before_the_first_write() {
    let lab = Management::start(Fixture::builder()).await;
    let map = "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}";
    let long = format!("{}-{}", "a".repeat(62), "b".repeat(20));
    lab.world().write("long.yaml", blueprint_component(&long, "", map));
    let applied = lab.run("component apply long.yaml");
    assert_eq!(applied.status, 0, "{applied}");
    assert!(lab.run("component apply long.yaml").stderr.contains("1 Component unchanged"));
    assert_eq!(lab.run(&format!("component delete {long}")).status, 0);
    let invalid = blueprint_component("x", "", map)
        .replace("name: x, namespace: default", "name: ../x, namespace: new");
    lab.world().write("invalid.yaml", invalid);
    assert_data_eq!(
        lab.run("component apply invalid.yaml").to_string(),
        str![[r#"
exit 1
--- stderr
error: invalid Components: 1 problem
  cause: [CWD]/invalid.yaml:9: ../x: metadata.name: Invalid value: `../x` is not a valid DNS-1123 subdomain: lower case letters, digits, `-` and `.`, with a letter or digit at both ends of each part

"#]]
    );
    assert!(lab.fixture.get(kind::NAMESPACE, "new").await.is_none());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_changed_selector_recreates_the_deployment() {
    let lab = lab().await;
    assert_eq!(lab.run("component apply shop").status, 0);
    let uid =
        async || lab.fixture.get(kind::DEPLOYMENT, "shop/web").await.unwrap()["metadata"]["uid"].clone();
    let before = uid().await;
    let path = lab.world().current_dir().join("shop/files.yaml");
    let text = lab.world().read(&path).replace("app: {{ .Release.Name }}", "app: other");
    lab.world().write("shop/files.yaml", text);
    edit(&lab, "web.yaml", "spec:", "spec:\n  updatePolicy: Recreate");
    let applied = lab.run("component apply shop");
    assert_eq!(applied.status, 0, "{applied}");
    assert_ne!(uid().await, before);
}

/// Starts an apply that waits for the database, and returns once it does.
fn waiting(lab: &Management) -> (Child, BufReader<ChildStderr>) {
    edit(
        lab,
        "files.yaml",
        "        name: {{ name }}",
        "        name: {{ name }}\n        annotations: {component-operator.cs.sap.com/status-hint: conditions=Done}",
    );
    let mut child = lab.spawn("component apply shop");
    let mut stderr = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    while !line.contains("db") || !line.contains("ait") {
        line.clear();
        assert!(stderr.read_line(&mut line).unwrap() > 0, "the run ended");
    }
    (child, stderr)
}

fn let_the_database_become_ready(lab: &Management) {
    edit(
        lab,
        "files.yaml",
        "\n        annotations: {component-operator.cs.sap.com/status-hint: conditions=Done}",
        "",
    );
    let applied = lab.run("component apply shop");
    assert_eq!(applied.status, 0, "{applied}");
    let list = json(&lab.run("component list -o json").stdout);
    let ready: Vec<&Value> = list["components"].as_array().unwrap().iter().map(|one| &one["ready"]).collect();
    assert_eq!(ready, [&Value::from(true), &Value::from(true)]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_run_is_resumed_by_the_same_command() {
    let lab = lab().await;
    let (mut child, _stderr) = waiting(&lab);
    // Everything that exists is in the inventory.
    let status = json(&lab.run("component status shop/db -o json").stdout);
    assert_eq!(status["components"][0]["inventory"].as_array().unwrap().len(), 2, "{status}");
    let beside = lab.run("component apply shop --no-wait-lock");
    assert_eq!(beside.status, 1, "{beside}");
    assert!(beside.stderr.contains("component apply"), "{beside}");
    child.kill().unwrap();
    child.wait().unwrap();
    let_the_database_become_ready(&lab);
}

#[tokio::test(flavor = "multi_thread")]
async fn ctrl_c_names_the_command_to_resume() {
    let lab = lab().await;
    let (mut child, mut stderr) = waiting(&lab);
    signal("INT", child.id().into());
    let mut rest = String::new();
    stderr.read_to_string(&mut rest).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130), "{rest}");
    assert!(rest.contains("re-run the same command to resume"), "{rest}");
    let_the_database_become_ready(&lab);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_applied_component_is_an_object_of_its_definition() {
    let lab = lab().await;
    lab.fixture.apply(&lab.run("component definition").stdout).await;
    lab.fixture.wait_until_idle().await;
    assert_eq!(lab.run("component apply shop").status, 0);
    let list = json(&lab.run("component list -o json").stdout);
    assert_eq!(list["components"].as_array().unwrap().len(), 2);
    assert!(lab.fixture.get(kind::SECRET, "shop/capstan.component.db").await.is_none());
    let counter = RequestCounter::start(lab.fixture.sandbox());
    assert_eq!(lab.run("component apply shop").status, 0);
    let written = counter.writes();
    assert_data_eq!(written.to_string(), str!["1 create leases, 1 delete leases"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_of_many_components_stay_few() {
    let lab = lab().await;
    let mut components = String::new();
    for at in 0..20 {
        let component = format!(
            "apiVersion: core.cs.sap.com/v1alpha1\nkind: Component\nmetadata: {{name: c{at}, namespace: many}}\nspec: {{sourceRef: {{fluxBucket: {{name: b}}}}}}\n---\n"
        );
        components.push_str(&component);
    }
    lab.world().write("many.yaml", components);
    let kinds = ["ConfigMap", "Secret", "ServiceAccount"];
    for at in 0..5 {
        let kind = kinds[at % kinds.len()];
        let object = format!("apiVersion: v1\nkind: {kind}\nmetadata:\n  name: '{{{{ name }}}}-{at}'\n");
        lab.world().write(format!("files/{at}.yaml"), object);
    }
    let mut counter = RequestCounter::start(lab.fixture.sandbox());
    let first = lab.run("component apply many.yaml --source files");
    assert_eq!(first.status, 0, "{first}");
    // At most 2.2 for each object.
    let requests = counter.requests().len();
    assert!(requests <= 220, "{requests} requests\n{}", counter.all());
    counter.restart();
    assert_eq!(lab.run("component apply many.yaml --source files").status, 0);
    // At most 2 for each Component.
    let requests = counter.requests().len();
    assert!(requests <= 40, "{requests} requests\n{}", counter.all());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plan_with_a_password_in_its_source_is_not_saved() {
    let lab = lab().await;
    let run =
        lab.run("component plan shop --source https://me:pa55@files.example.org/web.tgz --out plan.json");
    assert_data_eq!(
        run.to_string(),
        str![[r#"
exit 1
--- stderr
error: a plan cannot be saved with a password in the URL of `--source`
hint: remove the password from the URL, and configure credentials of the host

"#]]
    );
}
