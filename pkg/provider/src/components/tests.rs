use api::{ProviderId, ProviderType};
use manifest::{Object, provenance::Trace};
use snapbox::{assert_data_eq, str};

use super::{ComponentsError, ComponentsInput, ProviderComponents, Substitution, build_components};
use crate::{
    config::{Config, ConfigFile, ConfigFormat, Environment, Variables},
    template_text::{RenderTextError, TemplateText},
};

/// A small provider with everything the contract describes.
const COMPONENTS: &str = r#"
apiVersion: apps/v1
kind: Deployment
metadata: {name: controller, namespace: own-system}
spec:
  selector: {matchLabels: {a: b}}
  template:
    metadata: {labels: {a: b}}
    spec:
      containers:
      - {name: manager, image: "registry.example.com/own/manager:v1", args: ["--feature=${FEATURE:=false}"]}
      initContainers:
      - {name: prepare, image: "registry.example.com/own/prepare:v1"}
---
apiVersion: v1
kind: Namespace
metadata: {name: own-system}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: manager}
rules: []
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: manager}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: manager}
subjects: [{kind: ServiceAccount, name: manager, namespace: own-system}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: hooks, annotations: {cert-manager.io/inject-ca-from: own-system/serving}}
webhooks:
- name: v.example.com
  admissionReviewVersions: [v1]
  sideEffects: None
  clientConfig: {service: {name: hooks, namespace: own-system, path: /validate}}
---
apiVersion: cert-manager.io/v1
kind: Certificate
metadata: {name: serving, namespace: own-system}
spec: {dnsNames: [hooks.own-system.svc]}
---
apiVersion: v1
kind: Secret
metadata: {name: credentials, namespace: own-system}
stringData: {token: "${TOKEN}"}
"#;

struct Run<'a> {
    text: &'a str,
    config: &'a str,
    environment: &'a [(&'a str, &'a str)],
    substitution: Substitution,
    target_namespace: Option<&'a str>,
    trace: Trace,
}

impl Default for Run<'_> {
    fn default() -> Self {
        Run {
            text: COMPONENTS,
            config: "",
            environment: &[("TOKEN", "s3cret")],
            substitution: Substitution::Full,
            target_namespace: None,
            trace: Trace::Off,
        }
    }
}

impl Run<'_> {
    fn build(&self) -> Result<ProviderComponents, ComponentsError> {
        let file = ConfigFile {
            origin: "clusterctl.yaml".to_owned(),
            folder: None,
            format: ConfigFormat::Yaml,
            text: self.config.to_owned(),
        };
        let config = Config::new(Some(file), Environment::new(self.environment.iter().copied())).unwrap();
        let provider = ProviderId::new(ProviderType::Infrastructure, "own");
        build_components(&ComponentsInput {
            provider: &provider,
            text: &TemplateText::new("infrastructure-components.yaml", self.text.as_bytes()).unwrap(),
            variables: &Variables::new(&config),
            substitution: self.substitution,
            image_overrides: &config.image_overrides().unwrap(),
            overlay: None,
            customisations: &config.customisations(&provider).unwrap(),
            target_namespace: self.target_namespace,
            trace: self.trace,
        })
    }
}

fn named<'o>(components: &'o ProviderComponents, kind: &str) -> &'o Object {
    components.objects.iter().find(|object| object.kind() == kind).unwrap()
}

fn text_at<'o>(object: &'o Object, path: &str) -> &'o str {
    let path: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
    let value = object.get(&path);
    value.and_then(manifest::Value::as_str).unwrap_or_default()
}

// Row: PRV-21
// Row: PRV-23
// Row: PRV-26
#[test]
fn one_file_holds_all_parts_and_its_namespace_object_names_the_target() {
    let components = Run::default().build().unwrap();
    assert_eq!(components.target_namespace, "own-system");
    let kinds: Vec<&str> = components.objects.iter().map(Object::kind).collect();
    assert_eq!(
        kinds,
        [
            "Namespace",
            "Certificate",
            "Deployment",
            "ClusterRole",
            "ClusterRoleBinding",
            "ValidatingWebhookConfiguration",
            "Secret"
        ],
        "namespace first, then cert-manager, then file order"
    );
    assert_eq!(
        components.images,
        ["registry.example.com/own/manager:v1", "registry.example.com/own/prepare:v1"]
    );
}

// Row: PRV-24
// Row: PRV-25
// Row: PRV-57
// Row: PRV-58
#[test]
fn another_target_namespace_reaches_every_object_and_reference() {
    let components = Run { target_namespace: Some("elsewhere"), ..Run::default() }.build().unwrap();
    for object in &components.objects {
        let expected = match object.kind() {
            "Namespace" | "ClusterRole" | "ClusterRoleBinding" | "ValidatingWebhookConfiguration" => "",
            _ => "elsewhere",
        };
        assert_eq!(object.namespace(), expected, "{}", object.kind());
    }
    assert_eq!(named(&components, "Namespace").name(), "elsewhere");
    let binding = named(&components, "ClusterRoleBinding");
    assert_eq!(binding.as_map()["subjects"][0]["namespace"], "elsewhere");
    let webhook = named(&components, "ValidatingWebhookConfiguration");
    assert_eq!(webhook.as_map()["webhooks"][0]["clientConfig"]["service"]["namespace"], "elsewhere");
    assert_eq!(webhook.annotation("cert-manager.io/inject-ca-from"), Some("elsewhere/serving"));
    let certificate = named(&components, "Certificate");
    assert_eq!(certificate.as_map()["spec"]["dnsNames"][0], "hooks.elsewhere.svc");
}

// Row: PRV-33
// Row: PRV-35
// Row: PRV-59
#[test]
fn every_object_carries_the_provider_labels() {
    let labelled = COMPONENTS.replace(
        "metadata: {name: manager}\nrules",
        "metadata: {name: manager, labels: {mine: kept, cluster.x-k8s.io/provider: by-hand}}\nrules",
    );
    let components = Run { text: &labelled, ..Run::default() }.build().unwrap();
    for object in &components.objects {
        assert_eq!(
            object.label("cluster.x-k8s.io/provider"),
            Some("infrastructure-own"),
            "{}",
            object.kind()
        );
        assert_eq!(object.label("clusterctl.cluster.x-k8s.io"), Some(""), "{}", object.kind());
    }
    assert_eq!(named(&components, "ClusterRole").label("mine"), Some("kept"));
}

// Row: PRV-27
#[test]
fn arguments_of_the_manager_are_unchanged() {
    let components =
        Run { environment: &[("TOKEN", "x"), ("FEATURE", "true")], ..Run::default() }.build().unwrap();
    let deployment = named(&components, "Deployment");
    let args = &deployment.as_map()["spec"]["template"]["spec"]["containers"][0]["args"];
    assert_eq!(args.to_string(), r#"["--feature=true"]"#);
}

#[test]
fn provenance_names_the_variable_or_setting_of_each_field() {
    let config = "images: {all: {repository: mirror.example.com}}\nproviders:\n- {name: own, type: InfrastructureProvider, \
                  url: 'https://x/v1/infrastructure-components.yaml', patches: [{replicas: 2}]}";
    let run = Run { config, target_namespace: Some("elsewhere"), trace: Trace::On, ..Run::default() };
    let components = run.build().unwrap();
    let reported = |kind: &str| -> Vec<String> {
        let fields = named(&components, kind).changed_fields().into_iter();
        fields
            .map(|it| format!("{} {}", it.pointer, it.origin))
            .filter(|it| !it.ends_with(crate::provenance::ROUND_TRIP))
            .collect()
    };
    let file = "infrastructure-components.yaml";
    assert_eq!(named(&components, "Secret").provenance().unwrap().object_origin().to_string(), file);
    let labels = [
        "/metadata/labels/cluster.x-k8s.io~1provider provider label".to_owned(),
        "/metadata/labels/clusterctl.cluster.x-k8s.io provider label".to_owned(),
    ];
    let [first, second] = &labels;
    let expected = [
        first.clone(),
        second.clone(),
        "/metadata/namespace target namespace".to_owned(),
        format!("/stringData/token {file}: ${{TOKEN}}"),
    ];
    assert_eq!(reported("Secret"), expected);
    let expected = [
        first.clone(),
        second.clone(),
        "/metadata/namespace target namespace".to_owned(),
        "/spec/replicas configuration: providers[0].patches[0]".to_owned(),
        format!("/spec/template/spec/containers/0/args/0 {file}: ${{FEATURE}}"),
        "/spec/template/spec/containers/0/image configuration: images".to_owned(),
        "/spec/template/spec/initContainers/0/image configuration: images".to_owned(),
    ];
    assert_eq!(reported("Deployment"), expected);
    let plain = Run { trace: Trace::Off, ..run }.build().unwrap();
    assert_eq!(plain.objects, components.objects);
}

// Row: PRV-28
// Row: PRV-56
#[test]
fn values_come_from_the_environment_and_the_configuration() {
    let secret = |run: Run<'_>| {
        let components = run.build().unwrap();
        named(&components, "Secret").as_map()["stringData"]["token"].as_str().unwrap().to_owned()
    };
    assert_eq!(secret(Run::default()), "s3cret");
    assert_eq!(secret(Run { environment: &[], config: "TOKEN: from-file\n", ..Run::default() }), "from-file");
}

// Row: PRV-29, D-42
#[test]
fn all_missing_variables_are_reported_with_positions_and_suggestions() {
    let text = format!(
        "{COMPONENTS}---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: \"${{OTHER}}\"}}\ndata: {{a: \"${{TOKEN}}\"}}\n"
    );
    let error = Run { text: &text, environment: &[("TOKENS", "x")], ..Run::default() }.build().unwrap_err();
    let ComponentsError::Text(RenderTextError::Missing(missing)) = error else { panic!("{error}") };
    let names: Vec<&str> = missing.values.iter().map(|value| value.name.as_str()).collect();
    assert_eq!(names, ["OTHER", "TOKEN"]);
    assert_eq!(missing.values[1].places.len(), 2);
    assert_eq!(missing.values[1].suggestions, ["TOKENS"]);
    assert_data_eq!(
        missing.to_string(),
        str![[r#"
`OTHER` at infrastructure-components.yaml:51
`TOKEN` at infrastructure-components.yaml:47 and 1 more place
"#]]
    );
}

// Row: D-49
#[test]
fn errors_of_a_broken_document_do_not_leak_secrets() {
    let text = "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: {token: ${TOKEN}}\n";
    let error =
        Run { text, environment: &[("TOKEN", "\"hunter2: [\n")], ..Run::default() }.build().unwrap_err();
    let mut reported = error.to_string();
    let mut source = std::error::Error::source(&error);
    while let Some(error) = source {
        reported.push_str(&error.to_string());
        source = error.source();
    }
    assert!(!reported.contains("hunter2"), "{reported}");
}

#[test]
fn image_overrides_reach_containers_and_init_containers() {
    let config = "images:\n  all: {repository: mirror.local}\n  infrastructure-own/prepare: {tag: v2}\n";
    let components = Run { config, ..Run::default() }.build().unwrap();
    assert_eq!(components.images, ["mirror.local/manager:v1", "mirror.local/prepare:v2"]);
}

#[test]
fn invalid_components_are_refused_with_object_and_reason() {
    let message = |text: &str| {
        let text = format!("apiVersion: v1\nkind: Namespace\nmetadata: {{name: a}}\n---\n{text}");
        let error = Run { text: &text, ..Run::default() }.build().unwrap_err();
        match std::error::Error::source(&error) {
            Some(source) => format!("{error}: {source}"),
            None => error.to_string(),
        }
    };
    let deployment = |image: &str, replicas: &str| {
        message(&format!(
            "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: d}}\nspec:\n  replicas: {replicas}\n  template: {{spec: {{containers: [{{name: manager, image: \"{image}\"}}]}}}}\n"
        ))
    };
    let reported = [
        deployment("nginx", "1"),
        message(
            "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d}\nspec: {template: {spec: {containers: [{image: 5}]}}}\n",
        ),
        deployment("a.b/c:1", "many"),
        message("apiVersion: v1\nkind: Namespace\nmetadata: {name: b}\n"),
        message("- a list\n"),
    ];
    assert_data_eq!(
        reported.join("\n"),
        str![[r#"
invalid images in `infrastructure-components.yaml`: image `nginx` of container `manager` in `Deployment d` is not valid: the name is not fully qualified; use `docker.io/library/nginx`
invalid objects in `infrastructure-components.yaml`: `spec.template.spec.containers[0].image` of `Deployment d` must be a string, not a number
invalid objects in `infrastructure-components.yaml`: `spec.replicas` of `Deployment d` must be a 32-bit integer, not a string
cannot determine the namespace of `infrastructure-components.yaml`: found 2 objects of kind `Namespace`; provider components must have at most one
cannot read documents in `infrastructure-components.yaml`: document 2, line 5, column 1: expected a mapping, found a list
"#]]
    );
}

#[test]
fn without_a_namespace_object_the_target_must_be_given_and_is_created() {
    let text = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n";
    let error = Run { text, ..Run::default() }.build().unwrap_err();
    assert!(matches!(error, ComponentsError::MissingTargetNamespace { .. }));
    let components = Run { text, target_namespace: Some("given"), ..Run::default() }.build().unwrap();
    assert_eq!(named(&components, "Namespace").name(), "given");
}

// Row: PRV-61
#[test]
fn references_to_objects_outside_the_file_pass_through() {
    let text = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, namespace: x, ownerReferences: [{kind: Foreign, name: f, uid: u, apiVersion: v1}]}\ndata: {ref: other/object}\n";
    let components = Run { text, target_namespace: Some("given"), ..Run::default() }.build().unwrap();
    let map = named(&components, "ConfigMap");
    assert_eq!(map.as_map()["metadata"]["ownerReferences"][0]["name"], "f");
    assert_eq!(text_at(map, "/data/ref"), "other/object");
}

// Row: D-63
#[test]
fn raw_keeps_variables_and_partial_substitution_fills_set_ones() {
    let raw = Run { substitution: Substitution::None, environment: &[], ..Run::default() }.build().unwrap();
    assert_eq!(named(&raw, "Secret").as_map()["stringData"]["token"], "${TOKEN}");
    let partly =
        Run { substitution: Substitution::OnlySet, environment: &[], ..Run::default() }.build().unwrap();
    assert_eq!(named(&partly, "Secret").as_map()["stringData"]["token"], "${TOKEN}");
    let args = &named(&partly, "Deployment").as_map()["spec"]["template"]["spec"]["containers"][0]["args"];
    assert_eq!(args[0], "--feature=false");
}

// Row: D-52
#[test]
fn invalid_documents_give_warnings_with_lines() {
    let text = "apiVersion: v1\nkind: ConfigMap\nmetadata: {labels: {a: 1}}\n---\na: 1\n";
    let components = Run { text, target_namespace: Some("x"), ..Run::default() }.build().unwrap();
    assert_data_eq!(
        components.warnings.join("\n"),
        str![[r#"
infrastructure-components.yaml:1: the object has no `metadata.name`
infrastructure-components.yaml:5: the object has no `kind`
infrastructure-components.yaml: label `a` of `ConfigMap x/without name` is a number and was dropped: quote the value
"#]]
    );
}

#[test]
fn patches_run_after_namespaces_and_before_labels() {
    let config = "providers:\n- name: own\n  type: InfrastructureProvider\n  url: https://example.com/own/v1/c.yaml\n  patches:\n  \
        - target: {kind: Deployment, namespace: elsewhere}\n    patch:\n      metadata: {labels: {cluster.x-k8s.io/provider: mine}}\n      \
        spec: {template: {spec: {containers: [{name: manager, image: \"mirror.example.com/manager:v1\"}]}}}\n";
    let components = Run { config, target_namespace: Some("elsewhere"), ..Run::default() }.build().unwrap();
    assert!(components.images.contains(&"mirror.example.com/manager:v1".to_owned()));
    let deployment = named(&components, "Deployment");
    assert_eq!(deployment.label("cluster.x-k8s.io/provider"), Some("infrastructure-own"));
}

#[test]
fn a_role_binding_moves_before_it_is_decoded() {
    let components =
        Run { text: crate::testing::ROLE_BINDINGS, target_namespace: Some("n"), ..Run::default() }.build();
    let objects = components.unwrap().objects;
    let bindings: Vec<_> = objects.iter().filter(|object| object.kind() == "RoleBinding").collect();
    let names: Vec<_> = bindings.iter().map(|binding| (binding.name(), binding.namespace())).collect();
    assert_eq!(names, [("a", "n"), ("", "")]);
}
