use serde_json::json;
use snapbox::{assert_data_eq, str};

use crate::tests::{build, built, error_text};

fn object(version: &str, kind: &str, metadata: &str, rest: &str) -> String {
    format!("apiVersion: {version}\nkind: {kind}\nmetadata: {{{metadata}}}\n{rest}\n---\n")
}

fn config_map(name: &str) -> String {
    object("v1", "ConfigMap", &format!("name: {name}"), "")
}

fn account(metadata: &str) -> String {
    object("v1", "ServiceAccount", metadata, "")
}

fn pod(config_map: &str) -> String {
    object("v1", "Pod", "name: p", &format!("spec: {{volumes: [{{configMap: {{name: {config_map}}}}}]}}"))
}

fn binding(kind: &str, rest: &str) -> String {
    object("rbac.authorization.k8s.io/v1", kind, "name: rb", rest)
}

/// Returns the names of the ConfigMaps that the Pods of a build refer to.
fn named(files: &[(&str, &str)]) -> Vec<String> {
    let objects = build(files).unwrap();
    let name = |spec: &serde_json::Value| spec["volumes"][0]["configMap"]["name"].as_str().map(str::to_owned);
    objects.iter().filter_map(|object| name(object.get(&["spec"])?)).collect()
}

// Row: KUS-22, KUS-30
#[test]
fn a_reference_may_hold_any_name_the_object_had() {
    let resources = config_map("c")
        + &pod("c")
        + &pod("mid-c").replace("name: p}", "name: q}")
        + &pod("top-mid-c").replace("name: p}", "name: r}");
    let files = [
        ("/kustomization.yaml", "resources: [base]\nnamePrefix: top-"),
        ("/base/kustomization.yaml", "resources: [r.yaml]\nnamePrefix: mid-"),
        ("/base/r.yaml", &*resources),
    ];
    assert_eq!(named(&files), ["top-mid-c"; 3]);
}

#[test]
fn references_to_unknown_names_stay() {
    let resources = pod("c") + &object("v1", "Secret", "name: c", "");
    assert_eq!(
        named(&[("/kustomization.yaml", "resources: [r.yaml]\nnamePrefix: p-"), ("/r.yaml", &resources)]),
        ["c"]
    );
}

// Row: KUS-12
#[test]
fn among_several_candidates_the_same_prefix_and_suffix_wins() {
    let base = config_map("c") + &pod("c");
    let top = pod("c").replace("name: p}", "name: top}");
    let mut files = vec![
        ("/kustomization.yaml", "resources: [a, b, r.yaml]\nnameSuffix: -t"),
        ("/a/kustomization.yaml", "resources: [../base]\nnamePrefix: a-"),
        ("/b/kustomization.yaml", "resources: [../base]\nnamePrefix: b-"),
        ("/base/kustomization.yaml", "resources: [r.yaml]"),
        ("/base/r.yaml", &*base),
        ("/r.yaml", &*top),
    ];
    // The Pod at the top has no prefix, so both objects match and the reference stays.
    assert_eq!(named(&files), ["a-c-t", "b-c-t", "c"]);
    files[2].1 = "resources: [../base]\nnameSuffix: -b";
    files[0].1 = "resources: [a, b]\nnameSuffix: -t";
    assert_eq!(named(&files), ["a-c-t", "c-b-t"]);
}

#[test]
fn an_object_in_another_namespace_does_not_match() {
    let files = [
        ("/kustomization.yaml", "resources: [a, b]"),
        ("/a/kustomization.yaml", "resources: [r.yaml]\nnamePrefix: a-\nnamespace: na"),
        ("/a/r.yaml", &*config_map("c")),
        ("/b/kustomization.yaml", "resources: [r.yaml]\nnamePrefix: b-\nnamespace: nb"),
        ("/b/r.yaml", &*pod("c")),
    ];
    assert_eq!(named(&files), ["c"]);
}

#[test]
fn each_name_of_a_list_is_rewritten_by_the_first_matching_kind() {
    let resources = config_map("c")
        + &object("v1", "Secret", "name: c", "")
        + &object("v1", "Secret", "name: s", "")
        + &object(
            "rbac.authorization.k8s.io/v1",
            "Role",
            "name: r",
            "rules: [{resourceNames: [c, other, s]}]",
        );
    let kustomization = "resources: [r.yaml]\nnamePrefix: p-";
    let role = built(&[("/kustomization.yaml", kustomization), ("/r.yaml", &resources)]);
    assert_eq!(role["rules"][0]["resourceNames"], json!(["p-c", "other", "p-s"]));
}

#[test]
fn a_role_reference_matches_the_written_kind() {
    let role = |kind: &str| object("rbac.authorization.k8s.io/v1", kind, "name: r", "");
    let files = |rest: &str| {
        let resources = role("ClusterRole") + &binding("RoleBinding", rest);
        built(&[("/kustomization.yaml", "resources: [r.yaml]\nnamePrefix: p-"), ("/r.yaml", &resources)])["roleRef"]["name"].clone()
    };
    let group = "apiGroup: rbac.authorization.k8s.io, ";
    assert_eq!(files(&format!("roleRef: {{{group}kind: ClusterRole, name: r}}")), "p-r");
    assert_eq!(files(&format!("roleRef: {{{group}kind: Role, name: r}}")), "r");
    assert_eq!(files("roleRef: {name: r}"), "p-r");
}

// Expected: kubectl v1.36.3.
#[test]
fn subjects_follow_service_accounts_into_other_namespaces() {
    let subjects = "subjects: [{name: sa}, {name: sa, namespace: na}, {name: sa, namespace: nb}, {name: sa, namespace: default}]"
        .replace("{name", "{kind: ServiceAccount, name");
    let resources = account("name: sa") + &binding("RoleBinding", &subjects);
    let binding = built(&[
        ("/kustomization.yaml", "resources: [a, b]"),
        ("/a/kustomization.yaml", "resources: [r.yaml]\nnamespace: na\nnamePrefix: a-"),
        ("/a/r.yaml", &account("name: sa")),
        ("/b/kustomization.yaml", "resources: [r.yaml]\nnamespace: nb\nnamePrefix: b-"),
        ("/b/r.yaml", &resources),
    ]);
    let subjects = binding["subjects"].as_array().unwrap().iter();
    let pairs: Vec<_> =
        subjects.map(|subject| [subject["name"].as_str(), subject["namespace"].as_str()]).collect();
    let pair = |name, namespace| [Some(name), Some(namespace)];
    assert_eq!(pairs, [pair("b-sa", "nb"), pair("a-sa", "na"), pair("b-sa", "nb"), pair("b-sa", "nb")]);
}

#[test]
fn a_reference_namespace_matches_original_or_current_ones() {
    let subject = |namespace: &str| {
        let subjects = format!("subjects: [{{kind: ServiceAccount, name: sa, {namespace}}}]");
        let resources = account("name: sa, namespace: one") + &binding("ClusterRoleBinding", &subjects);
        let files = [("/kustomization.yaml", "resources: [r.yaml]\nnamespace: nn"), ("/r.yaml", &*resources)];
        built(&files)["subjects"][0]["namespace"].clone()
    };
    assert_eq!(subject(""), "nn");
    assert_eq!(subject("namespace: one"), "nn");
    assert_eq!(subject("namespace: nn"), "nn");
    assert_eq!(subject("namespace: two"), "two");
    assert_eq!(subject("namespace: null"), json!(null));
}

#[test]
fn references_to_objects_already_in_the_namespace_follow() {
    let subject = |kustomization: &str| {
        let subjects = "subjects: [{kind: ServiceAccount, name: sa}]";
        let resources = account("name: sa, namespace: one") + &binding("ClusterRoleBinding", subjects);
        built(&[("/kustomization.yaml", kustomization), ("/r.yaml", &resources)])["subjects"][0]
            .get("namespace")
            .cloned()
    };
    assert_eq!(subject("resources: [r.yaml]\nnamespace: one"), Some(json!("one")));
    assert_eq!(subject("resources: [r.yaml]"), None);
}

#[test]
fn an_ambiguous_reference_is_refused_with_all_candidates() {
    let subjects = "subjects: [{kind: ServiceAccount, name: sa}]";
    let reported = error_text(&[
        ("/kustomization.yaml", "resources: [a, b, r.yaml]"),
        ("/a/kustomization.yaml", "resources: [r.yaml]\nnamespace: na"),
        ("/a/r.yaml", &account("name: sa")),
        ("/b/kustomization.yaml", "resources: [r.yaml]\nnamespace: nb"),
        ("/b/r.yaml", &account("name: sa")),
        ("/r.yaml", &binding("ClusterRoleBinding", subjects)),
    ]);
    assert_data_eq!(
        reported,
        str![
            "/kustomization.yaml: `subjects` of `ClusterRoleBinding.v1.rbac.authorization.k8s.io/rb.[noNs]` refers to `sa`, the name of several objects: `ServiceAccount.v1.[noGrp]/sa.na` and `ServiceAccount.v1.[noGrp]/sa.nb`; rename all but one"
        ]
    );
}

#[test]
fn invalid_subjects_are_refused() {
    let kustomization = "resources: [r.yaml]\nnamePrefix: p-";
    let with = |subjects: &str| {
        let resources = account("name: sa") + &binding("RoleBinding", &format!("subjects: [{subjects}]"));
        error_text(&[("/kustomization.yaml", kustomization), ("/r.yaml", &resources)])
    };
    let mut reported = vec![with("{kind: ServiceAccount}")];
    for namespace in ["5", "null", "[a]"] {
        let subject = format!("{{kind: ServiceAccount, name: sa, namespace: {namespace}}}");
        reported.push(with(&subject));
        let binding = binding("RoleBinding", &format!("subjects: [{subject}]"));
        let unnamed = [("/kustomization.yaml", "resources: [r.yaml]"), ("/r.yaml", &*binding)];
        reported.push(error_text(&unnamed));
    }
    assert_data_eq!(
        reported.join("\n"),
        str![[r#"
/kustomization.yaml: `subjects` of `RoleBinding.v1.rbac.authorization.k8s.io/p-rb.[noNs]` refers to a mapping without `name`
/kustomization.yaml: `namespace` of a service account in `subjects` of `RoleBinding.v1.rbac.authorization.k8s.io/p-rb.[noNs]` must be a string
/kustomization.yaml: `namespace` of a service account in `subjects` of `RoleBinding.v1.rbac.authorization.k8s.io/rb.[noNs]` must be a string
/kustomization.yaml: `namespace` of a service account in `subjects` of `RoleBinding.v1.rbac.authorization.k8s.io/p-rb.[noNs]` must be a string
/kustomization.yaml: `namespace` of a service account in `subjects` of `RoleBinding.v1.rbac.authorization.k8s.io/rb.[noNs]` must be a string
/kustomization.yaml: `namespace` of a service account in `subjects` of `RoleBinding.v1.rbac.authorization.k8s.io/p-rb.[noNs]` must be a string
/kustomization.yaml: `namespace` of a service account in `subjects` of `RoleBinding.v1.rbac.authorization.k8s.io/rb.[noNs]` must be a string
"#]]
    );
}

#[test]
fn webhook_configurations_follow_the_name_of_their_service() {
    for kind in ["ValidatingWebhookConfiguration", "MutatingWebhookConfiguration"] {
        let hook = "webhooks: [{clientConfig: {service: {name: s, namespace: n}}}]";
        let resources = object("v1", "Service", "name: s, namespace: n", "")
            + &object("admissionregistration.k8s.io/v1", kind, "name: w", hook);
        let files =
            [("/kustomization.yaml", "resources: [r.yaml]\nnamePrefix: p-"), ("/r.yaml", &*resources)];
        let objects = build(&files).unwrap();
        let object = objects.iter().find(|object| object.kind() == kind).unwrap();
        let service = &object.as_map()["webhooks"][0]["clientConfig"]["service"];
        assert_eq!(*service, json!({"name": "p-s", "namespace": "n"}), "{kind}");
    }
}
