//! Components in trouble on a real API server: clear errors, and nothing applied that is not in the inventory.

use std::{path::Path, thread, time::Duration};

use kube::{
    Client,
    api::{Api, DeleteParams, DynamicObject},
    core::{ApiResource, GroupVersionKind},
};
use serde_json::Value;
use support::{
    api_server::ApiServer,
    binary::TestEnvironment,
    object_snapshot::{ObjectSnapshot, client_from_kubeconfig},
};

/// Returns a Component with its files. `rest` are further fields of its spec.
fn component(name: &str, files: &[&str], rest: &str) -> String {
    let file = |(at, content): (usize, &&str)| {
        format!("    {at}.yaml: |\n      {}\n", content.trim().replace('\n', "\n      "))
    };
    let files = files.iter().enumerate().map(file).collect::<Vec<_>>().concat();
    format!(
        "---\napiVersion: core.cs.sap.com/v1alpha1\nkind: Component\nmetadata: {{name: {name}, namespace: shop}}\n\
         spec: {{sourceRef: {{blueprint: {{name: {name}}}}}{rest}}}\n---\napiVersion: core.cs.sap.com/v1alpha1\n\
         kind: Blueprint\nmetadata: {{name: {name}, namespace: shop}}\nspec:\n  files:\n{files}"
    )
}

fn map(name: &str) -> String {
    format!("{{apiVersion: v1, kind: ConfigMap, metadata: {{name: {name}}}}}")
}

/// A client and an isolated folder for one server.
struct Lab {
    world: TestEnvironment,
    client: Client,
}

impl Lab {
    async fn new(kubeconfig: &Path) -> Self {
        let world = crate::world().env("KUBECONFIG", kubeconfig.as_os_str());
        Self { world, client: client_from_kubeconfig(kubeconfig).await }
    }

    fn apply(&self, text: &str) {
        self.world.write("components.yaml", text);
        self.world.run_expecting_success("component apply components.yaml");
    }

    /// Returns the error of a run that fails.
    fn refused(&self, text: &str) -> String {
        self.world.write("components.yaml", text);
        self.world.run_expecting_failure("component apply components.yaml")
    }

    fn delete(&self, name: &str) {
        self.world.run_expecting_success(&format!("component delete shop/{name}"));
    }

    /// Returns the state and the number of objects of a Component.
    fn state(&self, name: &str) -> (String, usize) {
        let list = self.world.run_line("component list -n shop -o json").stdout;
        let list: Value = serde_json::from_str(&list).unwrap();
        let found = list["components"].as_array().unwrap().iter().find(|one| one["name"] == name);
        let found = found.unwrap_or_else(|| panic!("{name} in {list:#}"));
        let objects = found["objects"].as_u64().and_then(|count| usize::try_from(count).ok());
        (found["state"].as_str().unwrap_or_default().to_owned(), objects.unwrap())
    }

    async fn has(&self, object: &str) -> bool {
        ObjectSnapshot::read_namespace(&self.client, "shop").await.get(object).is_some()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn components_in_trouble_on_a_real_api_server() {
    let Some(server) = ApiServer::start_or_skip() else { return };
    let lab = Lab::new(server.kubeconfig()).await;
    killed_and_resumed(&lab).await;
    two_owners(&lab).await;
    cycle(&lab).await;
    secret_deleted(&lab).await;
    foreign_instances(&lab).await;
    refusing_webhook(&lab);
    namespace_being_deleted(&lab).await;
}

/// A run that is killed while it waits is completed by the next one.
async fn killed_and_resumed(lab: &Lab) {
    // Nothing makes a Deployment ready on this server.
    let deployment = "{apiVersion: apps/v1, kind: Deployment, metadata: {name: slow}, spec: {selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: i}]}}}}";
    let slow = component("killed", &[&map("first"), deployment], "");
    lab.world.write("components.yaml", &slow);
    let mut run = lab.world.command(["component", "apply", "components.yaml"]).spawn().unwrap();
    while !lab.has("Deployment shop/slow").await {
        thread::sleep(Duration::from_millis(20));
    }
    run.kill().unwrap();
    run.wait().unwrap();
    assert_eq!(lab.state("killed"), ("Processing".to_owned(), 2));
    lab.apply(&component("killed", &[&map("first"), &map("second")], ""));
    assert_eq!(lab.state("killed"), ("Ready".to_owned(), 2));
    assert!(!lab.has("Deployment shop/slow").await);
    lab.delete("killed");
    assert!(!lab.has("ConfigMap shop/first").await);
}

/// An object belongs to one Component.
async fn two_owners(lab: &Lab) {
    lab.apply(&component("owner", &[&map("shared")], ""));
    let error = lab.refused(&component("thief", &[&map("shared"), &map("other")], ""));
    assert!(error.contains("ConfigMap shop/shared belongs to"), "{error}");
    assert!(!lab.has("ConfigMap shop/other").await, "nothing is written");
    assert!(lab.has("ConfigMap shop/shared").await);
    lab.delete("owner");
}

async fn cycle(lab: &Lab) {
    let one = component("one", &[&map("one")], ", dependencies: [{name: two}]");
    let two = component("two", &[&map("two")], ", dependencies: [{name: one}]");
    let error = lab.refused(&[one, two].concat());
    assert!(error.contains("shop/one -> shop/two -> shop/one"), "{error}");
    assert!(!lab.has("ConfigMap shop/one").await);
}

/// Objects stay as they are if a Secret is missing, and the next run continues once it is back.
async fn secret_deleted(lab: &Lab) {
    let secret =
        "{apiVersion: v1, kind: Secret, metadata: {name: values}, stringData: {values: 'color: blue'}}";
    let templates =
        "{apiVersion: v1, kind: ConfigMap, metadata: {name: paint}, data: {color: '{{ .color }}'}}";
    let secrets = component("secrets", &[secret], "");
    let paint = component("paint", &[templates], ", valuesFrom: [{name: values}]");
    lab.apply(&secrets);
    lab.apply(&paint);
    lab.delete("secrets");
    let error = lab.refused(&paint);
    assert!(error.contains("secrets \"values\" not found"), "{error}");
    assert_eq!(lab.state("paint"), ("Ready".to_owned(), 1));
    assert!(lab.has("ConfigMap shop/paint").await);
    lab.apply(&secrets);
    lab.apply(&paint);
    lab.delete("paint");
    lab.delete("secrets");
}

/// A definition is not deleted while objects of others use it.
async fn foreign_instances(lab: &Lab) {
    let definition = "{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: toys.x.io}, spec: {group: x.io, names: {kind: Toy, plural: toys, singular: toy, listKind: ToyList}, scope: Namespaced, versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]}}";
    let toy = "{apiVersion: x.io/v1, kind: Toy, metadata: {name: bear}}";
    lab.apply(&component("definition", &[definition], ""));
    lab.apply(&component("toys", &[toy], ""));
    let error = lab.world.run_expecting_failure("component delete shop/definition");
    assert!(error.contains("toys.x.io") || error.contains("Toy"), "{error}");
    assert!(lab.has("Toy shop/bear").await);
    lab.delete("toys");
    lab.delete("definition");
}

/// The error of a webhook is shown, and the inventory has what was applied.
fn refusing_webhook(lab: &Lab) {
    let webhook = "{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingWebhookConfiguration, metadata: {name: refuse}, webhooks: [{name: refuse.x.io, admissionReviewVersions: [v1], sideEffects: None, failurePolicy: Fail, timeoutSeconds: 1, clientConfig: {url: 'https://127.0.0.1:1/refuse'}, objectSelector: {matchLabels: {refuse: 'true'}}, rules: [{apiGroups: [''], apiVersions: [v1], operations: [CREATE], resources: [configmaps]}]}]}";
    lab.apply(&component("webhook", &[webhook], ""));
    let refused = "{apiVersion: v1, kind: ConfigMap, metadata: {name: refused, labels: {refuse: 'true'}}}";
    let files = [&*map("accepted"), refused];
    let error = lab.refused(&component("web", &files, ", timeout: 5s"));
    assert!(error.contains("ConfigMap shop/refused") && error.contains("refuse.x.io"), "{error}");
    assert_eq!(lab.state("web").0, "Error");
    lab.delete("webhook");
    lab.apply(&component("web", &files, ", timeout: 1m"));
    assert_eq!(lab.state("web"), ("Ready".to_owned(), 2));
    lab.delete("web");
}

/// A run waits for the end of a namespace that is being deleted, and names the finalizer that holds it.
async fn namespace_being_deleted(lab: &Lab) {
    let namespace = "{apiVersion: v1, kind: Namespace, metadata: {name: leaving, finalizers: [x.io/stay]}}";
    lab.apply(&component("namespace", &[namespace], ""));
    let resource = ApiResource::from_gvk(&GroupVersionKind::gvk("", "v1", "Namespace"));
    let namespaces: Api<DynamicObject> = Api::all_with(lab.client.clone(), &resource);
    namespaces.delete("leaving", &DeleteParams::default()).await.unwrap();
    let web = "{apiVersion: v1, kind: ConfigMap, metadata: {name: web, namespace: leaving}}";
    let error = lab.refused(&component("late", &[web, &map("here")], ", timeout: 5s"));
    assert!(error.contains("Namespace leaving: held by finalizer `x.io/stay`"), "{error}");
    let inside = ObjectSnapshot::read_namespace(&lab.client, "leaving").await;
    assert!(inside.get("ConfigMap leaving/web").is_none());
}
