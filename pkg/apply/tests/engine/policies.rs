//! Policies for existing objects.

use std::time::Duration;

use apply::{Engine, Event, LiveObjects, ReadByName, ReconcilePolicy, UpdatePolicy, WriteMode, Written};
use serde_json::{Value, json};
use support::kind::{CONFIG_MAP, CUSTOM_RESOURCE_DEFINITION, NAMESPACE};

use crate::testing::*;

async fn updated(lab: &mut Lab, annotations: &[(&str, &str)]) -> Vec<String> {
    lab.applied(&config_map("a", annotations, "1")).await;
    let counter = lab.count();
    lab.applied(&config_map("a", annotations, "2")).await;
    let live = lab.fixture.get(CONFIG_MAP, "default/a").await.unwrap();
    assert_eq!(live["data"]["key"], "2");
    writes(&counter)
}

// Row: ENG-28
// Row: ENG-56
// Row: ENG-57
#[tokio::test]
async fn an_object_is_updated_by_its_policy() {
    for (default, annotation, expected) in [
        (UpdatePolicy::default(), None, "update configmaps a"),
        (UpdatePolicy::default(), Some("default"), "update configmaps a"),
        (UpdatePolicy::SsaOverride, None, "patch configmaps a"),
        (UpdatePolicy::SsaOverride, Some("replace"), "update configmaps a"),
        (UpdatePolicy::Replace, Some("ssa-merge"), "patch configmaps a"),
    ] {
        let mut lab = Lab::start().await;
        lab.options.defaults.update = default;
        let annotations: Vec<_> = annotation.into_iter().map(|policy| ("update-policy", policy)).collect();
        assert_eq!(updated(&mut lab, &annotations).await, [expected], "{default:?} {annotation:?}");
    }
}

#[tokio::test]
async fn a_replaced_object_loses_unwritten_fields_except_finalizers() {
    let mut lab = Lab::start().await;
    lab.applied(&config_map("a", &[], "1")).await;
    let foreign = json!({"metadata": {"finalizers": ["example.org/held"]}, "data": {"more": "1"}});
    lab.fixture.merge(CONFIG_MAP, "default/a", &foreign).await;
    lab.applied(&config_map("a", &[], "2")).await;
    let live = lab.fixture.get(CONFIG_MAP, "default/a").await.unwrap();
    assert_eq!(live["data"], json!({"key": "2"}));
    assert_eq!(live["metadata"]["finalizers"], json!(["example.org/held"]));
}

/// Creates an object as client-side apply of `kubectl` does.
async fn written_by_kubectl(lab: &Lab) {
    let kind = lab.server.kind(&apply::GroupKind::new("", "ConfigMap")).await.unwrap();
    let object = json!({
        "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": "default"},
        "data": {"key": "0", "stale": "1"},
    });
    lab.server.create(&kind, &object.try_into().unwrap(), "kubectl-create", WriteMode::Real).await.unwrap();
    lab.fixture.merge(CONFIG_MAP, "default/a", &json!({"data": {"foreign": "1"}})).await;
}

// Row: ENG-58
#[tokio::test]
async fn a_merged_object_keeps_fields_of_others() {
    let mut lab = Lab::start().await;
    lab.options.defaults.update = UpdatePolicy::SsaMerge;
    written_by_kubectl(&lab).await;
    lab.applied(&config_map("a", &[], "1")).await;
    let live = lab.fixture.get(CONFIG_MAP, "default/a").await.unwrap();
    assert_eq!(live["data"], json!({"key": "1", "stale": "1", "foreign": "1"}));
}

// Row: ENG-59, D-96
#[tokio::test]
async fn an_adopted_object_loses_stale_fields_of_its_former_manager() {
    let mut lab = Lab::start().await;
    lab.options.defaults.update = UpdatePolicy::SsaOverride;
    written_by_kubectl(&lab).await;
    lab.applied(&config_map("a", &[], "1")).await;
    let live = lab.fixture.get(CONFIG_MAP, "default/a").await.unwrap();
    assert_eq!(live["data"], json!({"key": "1", "foreign": "1"}));
    let managers: Vec<_> =
        live["metadata"]["managedFields"].as_array().unwrap().iter().map(|entry| &entry["manager"]).collect();
    assert!(
        managers.contains(&&json!("engine")) && !managers.contains(&&json!("kubectl-create")),
        "{managers:?}"
    );
}

#[tokio::test]
async fn a_dropped_field_is_removed_even_after_a_replace() {
    let mut lab = Lab::start().await;
    let two = object("v1", "ConfigMap", "a", &[], "data: {key: \"1\", dropped: \"1\"}\n");
    lab.applied(&two).await;
    lab.options.defaults.update = UpdatePolicy::SsaMerge;
    lab.applied(&config_map("a", &[], "2")).await;
    let live = lab.fixture.get(CONFIG_MAP, "default/a").await.unwrap();
    assert_eq!(live["data"], json!({"key": "2"}));
}

// Row: ENG-60
#[tokio::test]
async fn a_recreated_object_has_a_new_uid() {
    let mut lab = Lab::start().await;
    lab.until = Some(Duration::from_mins(1));
    let uid = |live: &Value| live["metadata"]["uid"].as_str().unwrap().to_owned();
    lab.applied(&config_map("a", &[("update-policy", "recreate")], "1")).await;
    let before = lab.fixture.get(CONFIG_MAP, "default/a").await.unwrap();
    let counter = lab.count();
    lab.applied(&config_map("a", &[("update-policy", "recreate")], "2")).await;
    let after = lab.fixture.get(CONFIG_MAP, "default/a").await.unwrap();
    assert_ne!(uid(&before), uid(&after));
    assert_eq!(writes(&counter), ["delete configmaps a", "create configmaps"]);
}

#[tokio::test]
async fn recreate_never_deletes_an_object_taken_by_another_owner() {
    let mut lab = Lab::start().await;
    let recreate = [("update-policy", "recreate")];
    lab.applied(&config_map("a", &recreate, "1")).await;
    let mut planned = lab.planned(&config_map("a", &recreate, "2"), ReadByName::All).await.unwrap();
    let theirs = json!({"metadata": {"labels": {"engine.test/owner-id": "theirs"}}});
    lab.fixture.merge(CONFIG_MAP, "default/a", &theirs).await;
    let before = lab.fixture.get(CONFIG_MAP, "default/a").await;
    let record = InConfigMap::of(&lab.server);
    let outcome = lab.engine().apply(&mut planned, apply::RunOptions::new(&record)).await;
    assert!(outcome.is_err(), "{outcome:?}");
    assert_eq!(lab.fixture.get(CONFIG_MAP, "default/a").await, before);
}

#[tokio::test]
async fn recreation_waits_for_finalizers() {
    let mut lab = Lab::start().await;
    let recreate = [("update-policy", "recreate")];
    lab.applied(&config_map("a", &recreate, "1")).await;
    lab.fixture
        .merge(CONFIG_MAP, "default/a", &json!({"metadata": {"finalizers": ["example.org/held"]}}))
        .await;
    let held = waiting(lab.apply(&config_map("a", &recreate, "2")).await);
    assert_held(&held, &["ConfigMap default/a"]);
    lab.fixture.merge(CONFIG_MAP, "default/a", &json!({"metadata": {"finalizers": null}})).await;
    lab.applied(&config_map("a", &recreate, "2")).await;
    let live = lab.fixture.get(CONFIG_MAP, "default/a").await.unwrap();
    assert_eq!(live["data"]["key"], "2");
}

// Row: ENG-55
#[tokio::test]
async fn a_once_object_is_not_written_again() {
    let mut lab = Lab::start().await;
    let once = [("reconcile-policy", "once")];
    lab.applied(&config_map("a", &once, "1")).await;
    let counter = lab.count();
    lab.applied(&config_map("a", &once, "2")).await;
    assert_eq!(writes(&counter), Vec::<String>::new());
    lab.fixture.delete(CONFIG_MAP, "default/a").await;
    lab.applied(&config_map("a", &once, "2")).await;
    assert_eq!(lab.fixture.get(CONFIG_MAP, "default/a").await.unwrap()["data"]["key"], "2");
}

// Row: ENG-54
#[tokio::test]
async fn an_object_can_follow_changes_of_its_component() {
    let mut lab = Lab::start().await;
    lab.options.defaults.reconcile = ReconcilePolicy::OnObjectOrComponentChange;
    lab.options.component_digest = Some("1".to_owned());
    lab.applied(&config_map("a", &[], "1")).await;
    let counter = lab.count();
    lab.applied(&config_map("a", &[], "1")).await;
    assert_eq!(writes(&counter), Vec::<String>::new());
    lab.options.component_digest = Some("2".to_owned());
    lab.applied(&config_map("a", &[], "1")).await;
    assert_eq!(writes(&counter), ["update configmaps a"]);
}

#[tokio::test]
async fn an_immutable_change_recreates_the_object_with_events() {
    let mut lab = Lab::start().await;
    lab.until = Some(Duration::from_mins(1));
    lab.options.defaults.update = UpdatePolicy::SsaOverride;
    let binding = |role: &str| {
        let rest = format!("roleRef: {{apiGroup: rbac.authorization.k8s.io, kind: Role, name: {role}}}\n");
        object("rbac.authorization.k8s.io/v1", "RoleBinding", "a", &[], &rest)
    };
    lab.applied(&binding("one")).await;
    lab.applied(&binding("two")).await;
    let events = lab.events();
    let reported: Vec<_> = events
        .iter()
        .filter_map(|event| match event {
            Event::Deleted { object } => Some(format!("deleted {object}")),
            Event::Wrote { object, how: Written::Created } => Some(format!("created {object}")),
            _ => None,
        })
        .collect();
    assert_eq!(
        reported,
        ["created RoleBinding default/a", "deleted RoleBinding default/a", "created RoleBinding default/a"]
    );
}

#[tokio::test]
async fn missing_namespaces_are_created_unowned_and_kept() {
    let mut lab = Lab::start().await;
    lab.applied(&config_map("new/a", &[], "1")).await;
    let made = lab.fixture.get(NAMESPACE, "new").await.unwrap();
    assert!(made["metadata"]["labels"]["engine.test/owner-id"].is_null(), "{made:#}");
    lab.deleted().await;
    assert!(lab.fixture.get(NAMESPACE, "new").await.is_some());
    assert!(lab.fixture.get(CONFIG_MAP, "new/a").await.is_none());
}

#[tokio::test]
async fn a_dry_run_reports_all_errors_and_writes_nothing() {
    let mut lab = Lab::start().await;
    lab.applied(&config_map("kept", &[], "1")).await;
    let bad = config_map("bad", &[], "1").replace("\ndata:", "\nimmutable: nonsense\ndata:");
    let worse = object("v1", "Service", "worse", &[], "spec: {ports: [{port: 99999}]}\n");
    // The server cannot check these objects.
    let unjudged =
        namespace("new") + &config_map("new/inside", &[], "1") + &widgets(&[]) + &widget("one", &[]);
    let set = config_map("kept", &[], "2") + &unjudged;
    let revision = lab.count();
    let mut planned = lab.planned(&(bad + &worse + &set), ReadByName::All).await.unwrap();
    let engine: Engine<'_> = lab.engine();
    let error = engine.dry_run(&mut planned, |_| true).await.unwrap_err();
    let mut failed = failed_objects(&error);
    failed.sort();
    assert_eq!(failed, ["ConfigMap default/bad", "Service default/worse"]);

    let mut planned = lab.planned(&set, ReadByName::All).await.unwrap();
    engine.dry_run(&mut planned, |_| true).await.unwrap();
    let would_be: LiveObjects = planned.dry_run;
    let kept = would_be.present(&key("", "ConfigMap", "default/kept")).unwrap();
    assert_eq!(kept.get(&["data", "key"]), Some(&json!("2")));
    assert!(would_be.present(&key("example.org", "Widget", "default/one")).is_none());
    assert!(revision.requests().iter().all(|request| request.dry_run || !request.verb.contains("patch")));
    assert_eq!(lab.fixture.get(CONFIG_MAP, "default/kept").await.unwrap()["data"]["key"], "1");
}

/// Returns a definition with or without a conversion.
fn converted(conversion: &str) -> String {
    widgets(&[]).replace("  versions:", &format!("{conversion}  versions:"))
}

const BY_WEBHOOK: &str = "  conversion:
    strategy: Webhook
    webhook: {conversionReviewVersions: [v1], clientConfig: {service: {namespace: default, name: w}}}
";

#[tokio::test]
async fn a_dropped_conversion_webhook_is_removed_with_its_ca_bundle() {
    for (next, installed_by) in
        [("", "engine"), ("  conversion: {strategy: None}\n", "engine"), ("", "kubectl-create")]
    {
        let mut lab = Lab::start().await;
        lab.options.defaults.update = UpdatePolicy::SsaOverride;
        if installed_by == "engine" {
            lab.applied(&converted(BY_WEBHOOK)).await;
        } else {
            let object = lab
                .planned(&converted(BY_WEBHOOK), ReadByName::Applied)
                .await
                .unwrap()
                .desired
                .objects
                .remove(0)
                .object;
            let kind = apply::GroupKind::new(object.group(), object.kind());
            let kind = lab.server.kind(&kind).await.unwrap();
            lab.server.create(&kind, &object, installed_by, WriteMode::Real).await.unwrap();
        }
        let bundle = json!({"spec": {"conversion": {"webhook": {"clientConfig": {"caBundle": "YQ=="}}}}});
        lab.fixture.merge(CUSTOM_RESOURCE_DEFINITION, "widgets.example.org", &bundle).await;

        let mut planned = lab.planned(&converted(next), ReadByName::All).await.unwrap();
        lab.engine().dry_run(&mut planned, |_| true).await.unwrap();
        lab.applied(&converted(next)).await;
        let live = lab.fixture.get(CUSTOM_RESOURCE_DEFINITION, "widgets.example.org").await.unwrap();
        assert_eq!(live["spec"]["conversion"], json!({"strategy": "None"}), "{installed_by}: {next}");
        lab.applied(&converted(BY_WEBHOOK)).await;
        let live = lab.fixture.get(CUSTOM_RESOURCE_DEFINITION, "widgets.example.org").await.unwrap();
        assert_eq!(live["spec"]["conversion"]["strategy"], "Webhook");
    }
}
