use manifest::Value;
use serde_json::json;
use snapbox::{assert_data_eq, str};

use super::*;
use crate::fields::FieldTables;
use crate::resource::{ObjectOrigin, Resource};
use crate::tests::{build, built, error_text};

const INTO_NN: &str = "resources: [r.yaml]\nnamespace: nn";

fn moved(object: &str) -> Value {
    built(&[("/kustomization.yaml", INTO_NN), ("/r.yaml", object)])
}

#[test]
fn every_namespaced_kind_gets_the_namespace() {
    let cases = [
        ("v1", "ConfigMap", json!({"name": "a", "namespace": "nn"})),
        ("v1", "Node", json!({"name": "a"})),
        ("example.com/v1", "Node", json!({"name": "a", "namespace": "nn"})),
        ("v1", "Namespace", json!({"name": "nn"})),
        ("example.com/v1", "Namespace", json!({"name": "a", "namespace": "nn"})),
        ("rbac.authorization.k8s.io/v1", "ClusterRole", json!({"name": "a"})),
    ];
    for (version, kind, expected) in cases {
        let object = moved(&format!("apiVersion: {version}\nkind: {kind}\nmetadata: {{name: a}}"));
        assert_eq!(object["metadata"], expected, "{version} {kind}");
    }
}

#[test]
fn services_of_webhooks_and_api_services_get_the_namespace() {
    let service = moved("apiVersion: apiregistration.k8s.io/v1\nkind: APIService\nmetadata: {name: v1.x}");
    assert_eq!(service["spec"], json!({"service": {"namespace": "nn"}}));
    let definition =
        "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: a.x}\nspec: ";
    let webhook = "{conversion: {webhook: {clientConfig: {service: {namespace: old}}}}}";
    let with = moved(&format!("{definition}{webhook}"));
    assert_eq!(with["spec"]["conversion"]["webhook"]["clientConfig"]["service"]["namespace"], "nn");
    assert_eq!(moved(&format!("{definition}{{}}"))["spec"], json!({}));
}

const BINDING: &str = "apiVersion: rbac.authorization.k8s.io/v1\nkind: RoleBinding\nmetadata: {name: a, namespace: old}\nsubjects:\n\
                       - {kind: ServiceAccount, name: default}\n- {kind: ServiceAccount, name: a}\n\
                       - {kind: User, name: default, namespace: mine}\n- {kind: ServiceAccount, name: b, namespace: mine}\n";

/// Returns the namespaces of a binding and of its subjects after a move with the given settings.
fn namespaces(overwrite: NamespaceOverwrite, subjects: SubjectSelection) -> Vec<String> {
    let binding =
        build(&[("/kustomization.yaml", "resources: [r.yaml]"), ("/r.yaml", BINDING)]).unwrap().remove(0);
    let mut objects = Accumulator::default();
    let origin = ObjectOrigin::File(crate::TreePath::new("/r.yaml")).into();
    let position = objects.append(Resource::new(binding, origin)).unwrap();
    let tables = FieldTables::built_in();
    let schema = &Schema::default();
    let settings =
        NamespaceSettings { namespace: "nn", fields: &tables.namespace, overwrite, subjects, schema };
    assert!(apply(&settings, &mut objects).is_empty());
    let object = &objects.get(position).unwrap().object;
    let subjects = object.get(&["subjects"]).and_then(Value::as_array).unwrap();
    let of = |subject: &Value| subject["namespace"].as_str().unwrap_or("-").to_owned();
    std::iter::once(object.namespace().to_owned()).chain(subjects.iter().map(of)).collect()
}

#[test]
fn binding_subjects_follow_the_subject_setting() {
    assert_eq!(
        namespaces(NamespaceOverwrite::All, SubjectSelection::DefaultOnly),
        ["nn", "nn", "-", "nn", "mine"]
    );
    assert_eq!(
        namespaces(NamespaceOverwrite::All, SubjectSelection::AllServiceAccounts),
        ["nn", "nn", "nn", "mine", "nn"]
    );
    assert_eq!(namespaces(NamespaceOverwrite::All, SubjectSelection::None), ["nn", "-", "-", "mine", "mine"]);
    assert_eq!(
        namespaces(NamespaceOverwrite::Unset, SubjectSelection::DefaultOnly),
        ["old", "nn", "-", "mine", "mine"]
    );
    assert_eq!(
        namespaces(NamespaceOverwrite::Unset, SubjectSelection::AllServiceAccounts),
        ["old", "nn", "nn", "mine", "mine"]
    );
}

#[test]
fn all_objects_with_the_same_final_id_are_reported() {
    let object = |kind: &str, name: &str, namespace: &str| {
        format!("apiVersion: v1\nkind: {kind}\nmetadata: {{name: {name}, namespace: {namespace}}}\n---\n")
    };
    let one = object("ConfigMap", "a", "x") + &object("Namespace", "x", "''");
    let two = object("ConfigMap", "a", "y") + &object("Namespace", "y", "''");
    let kustomization = INTO_NN.replace("r.yaml", "1.yaml, 2.yaml");
    let reported =
        error_text(&[("/kustomization.yaml", &kustomization), ("/1.yaml", &one), ("/2.yaml", &two)]);
    assert_data_eq!(
        reported,
        str![[r#"
/kustomization.yaml: namespace: duplicate object `ConfigMap.v1.[noGrp]/a.nn` in one namespace: from `/1.yaml` and from `/2.yaml`
/kustomization.yaml: namespace: duplicate object `Namespace.v1.[noGrp]/nn.[noNs]` in one namespace: from `/1.yaml` and from `/2.yaml`
"#]]
    );
}

#[test]
fn objects_rendered_by_helm_keep_their_namespace() {
    let metadata = "{name: a, annotations: {internal.config.kubernetes.io/helm-generated: 'true'}}";
    let object = moved(&format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {metadata}"));
    assert_eq!(object["metadata"].get("namespace"), None);
}
