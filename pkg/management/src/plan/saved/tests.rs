use std::collections::BTreeMap;

use api::{ProviderId, ProviderType, labels::Labels, output::CertManagerPlan, plan::SavedReference};
use apply::{ApplyPlan, DesiredSet, ObjectPolicies, PlanStage, PlannedSet, StepAction, key_of};
use inventory::ProviderInventory;
use serde_json::json;
use snapbox::{assert_data_eq, str};

use super::*;
use crate::LifecycleVerb;

fn object(value: Value) -> Object {
    value.try_into().unwrap()
}

fn config_map(data: &str) -> Object {
    object(
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": "n"}, "data": {"k": data}}),
    )
}

fn secret(value: &str) -> Object {
    object(json!({
        "apiVersion": "v1", "kind": "Secret", "metadata": {"name": "a", "namespace": "n"}, "stringData": {"k": value}
    }))
}

/// Returns the object as a server stores it.
fn live(of: &Object, uid: &str, resource_version: &str) -> Object {
    let mut live = of.clone();
    let metadata = live.get_mut(&["metadata"]).unwrap().as_object_mut().unwrap();
    metadata.insert("uid".to_owned(), uid.into());
    metadata.insert("resourceVersion".to_owned(), resource_version.into());
    metadata.insert("managedFields".to_owned(), json!([{"manager": resource_version}]));
    live.as_map_mut().insert("status".to_owned(), json!({"seen": resource_version}));
    live
}

fn plan(manifest: &Object, observation: Observation) -> LifecyclePlan {
    let key = key_of(manifest);
    let action =
        if matches!(observation, Observation::Present(_)) { StepAction::Update } else { StepAction::Create };
    let step = PlanStep {
        key: key.clone(),
        action,
        wave: 0,
        stage: PlanStage::Regular,
        priority: 0,
        purge_wave: None,
        unowned: false,
        why: None,
    };
    let desired = DesiredObject {
        key: key.clone(),
        version: "v1".to_owned(),
        object: manifest.clone(),
        policies: ObjectPolicies::default(),
        hints: apply::StatusHints::default(),
        digest: digest(&manifest.clone().into_value()),
        managed_types: Vec::new(),
    };
    LifecyclePlan {
        cert_manager: CertManagerPlan::keep("v1.0.0"),
        providers: vec![ProviderPlan {
            id: ProviderId::new(ProviderType::Core, "cluster-api"),
            namespace: "n".to_owned(),
            from: None,
            to: Some("v1.0.0".to_owned()),
            kustomization: None,
            objects: PlannedSet {
                desired: DesiredSet { objects: vec![desired] },
                live: LiveObjects { objects: BTreeMap::from([(key, observation)]) },
                plan: ApplyPlan { steps: vec![step] },
                ..PlannedSet::default()
            },
        }],
        ..LifecyclePlan::empty(LifecycleVerb::Init, &ProviderInventory::default())
    }
}

fn origin(user: &str) -> PlanOrigin {
    PlanOrigin { cluster: "cluster".to_owned(), user: Some(user.to_owned()) }
}

fn save(plan: &LifecyclePlan) -> SavedPlan {
    let provider = SavedReference {
        provider: ProviderId::new(ProviderType::Core, "cluster-api"),
        version: Some("v1.0.0".to_owned()),
    };
    let request = SavedRequest::Init {
        providers: vec![provider],
        declined: Vec::new(),
        target_namespace: None,
        labels: Labels::new(),
        validate: true,
        kustomizations: Vec::new(),
    };
    plan.with_salt(request, origin("me"), Some("salt".to_owned()))
}

fn reported(before: &LifecyclePlan, after: &LifecyclePlan) -> Vec<String> {
    plan_differences(&save(before), &save(after)).iter().map(ToString::to_string).collect()
}

#[test]
fn a_plan_stays_valid_if_only_counters_and_status_change() {
    let manifest = config_map("x");
    let observed = |version| plan(&manifest, Observation::Present(live(&manifest, "u", version)));
    assert_eq!(reported(&observed("1"), &observed("2")), Vec::<String>::new());
}

#[test]
fn changes_on_the_cluster_are_reported() {
    let manifest = config_map("x");
    let present = |object: &Object, uid| plan(&manifest, Observation::Present(live(object, uid, "1")));
    let absent = plan(&manifest, Observation::Absent);
    let before = present(&manifest, "u");
    assert_data_eq!(
        reported(&before, &present(&config_map("y"), "u")).join("\n"),
        str!["ConfigMap n/a was changed on the cluster"]
    );
    assert_data_eq!(
        reported(&before, &present(&manifest, "other")).join("\n"),
        str!["ConfigMap n/a was deleted and created again on the cluster"]
    );
    assert_data_eq!(
        reported(&before, &absent).join("\n"),
        str!["ConfigMap n/a no longer exists on the cluster"]
    );
    assert_data_eq!(reported(&absent, &before).join("\n"), str!["ConfigMap n/a now exists on the cluster"]);
}

#[test]
fn changed_manifests_are_reported() {
    let (before, after) = (config_map("x"), config_map("y"));
    assert_data_eq!(
        reported(&plan(&before, Observation::Absent), &plan(&after, Observation::Absent)).join("\n"),
        str!["ConfigMap n/a has a different manifest"]
    );
}

#[test]
fn another_cluster_is_the_only_reported_difference() {
    let saved = save(&plan(&config_map("x"), Observation::Absent));
    let other = SavedPlan { cluster: "other".to_owned(), providers: Vec::new(), ..saved.clone() };
    assert_eq!(plan_differences(&saved, &other), [PlanDifference::Cluster]);
}

#[test]
fn a_provider_in_two_namespaces_is_compared_with_itself() {
    let mut twice = plan(&config_map("x"), Observation::Absent);
    let other = ProviderPlan { namespace: "other".to_owned(), ..twice.providers[0].clone() };
    twice.providers.push(other);
    assert_eq!(reported(&twice, &twice), Vec::<String>::new());
    let mut once = twice.clone();
    once.providers.pop();
    assert_data_eq!(
        reported(&twice, &once).join("\n"),
        str!["`cluster-api`: planned nothing to v1.0.0 in `other`, now nothing"]
    );
}

#[test]
fn differently_planned_providers_and_cert_manager_are_named() {
    let before = plan(&config_map("x"), Observation::Absent);
    let mut after = before.clone();
    after.cert_manager = CertManagerPlan::install("v1.1.0", None);
    after.providers[0].to = Some("v1.1.0".to_owned());
    assert_data_eq!(
        reported(&before, &after).join("\n"),
        str![[r#"
cert-manager: planned `stays at v1.0.0`, now `install v1.1.0`
`cluster-api`: planned nothing to v1.0.0 in `n`, now nothing to v1.1.0 in `n`
"#]]
    );
    after.providers.clear();
    assert_data_eq!(
        reported(&before, &after)[1].as_str(),
        str!["`cluster-api`: planned nothing to v1.0.0 in `n`, now nothing"]
    );
}

#[test]
fn objects_of_only_one_plan_are_named() {
    let before = plan(&config_map("x"), Observation::Absent);
    let mut after = before.clone();
    after.providers[0].objects.plan.steps[0].key.name = "b".to_owned();
    assert_data_eq!(
        reported(&before, &after).join("\n"),
        str![[r#"
ConfigMap n/a is in the plan but needs no change now
ConfigMap n/b is not in the plan
"#]]
    );
}

fn of_secret(value: &str) -> LifecyclePlan {
    let manifest = secret(value);
    let mut there = live(&manifest, "u", "1");
    there.set_annotation(LAST_APPLIED_ANNOTATION, value);
    plan(&manifest, Observation::Present(there))
}

// Row: D-263
#[test]
fn a_changed_value_of_equal_length_is_detected() {
    let (before, after) = (of_secret("hunter2"), of_secret("letmein"));
    assert_eq!(reported(&before, &before), Vec::<String>::new());
    assert_ne!(save(&before), save(&after));
}

// Row: D-263
#[test]
fn digests_of_a_secret_differ_from_plan_to_plan() {
    let plan = of_secret("hunter2");
    let request = save(&plan).request;
    let saved = || plan.save(request.clone(), origin("me")).unwrap();
    let (one, other) = (saved(), saved());
    assert_ne!(one.providers, other.providers);
    assert_eq!(plan.save_with_salt_of(&one, request.clone(), origin("me")), one);
    let text = serde_json::to_string(&one).unwrap();
    assert!(!text.contains("hunter2"), "{text}");
}

// Row: D-263
#[test]
fn a_plan_without_salt_is_still_valid() {
    let plan = of_secret("hunter2");
    let request = save(&plan).request;
    let saved = plan.with_salt(request.clone(), origin("me"), None);
    assert_eq!(plan_differences(&saved, &plan.save_with_salt_of(&saved, request.clone(), origin("me"))), []);
    let longer = of_secret("hunter22").save_with_salt_of(&saved, request, origin("me"));
    assert_ne!(plan_differences(&saved, &longer), []);
}

// Row: D-263
#[test]
fn a_plan_of_another_user_is_a_difference() {
    let saved = save(&plan(&config_map("x"), Observation::Absent));
    let other = SavedPlan { user: Some("other".to_owned()), ..saved.clone() };
    let difference = PlanDifference::User { saved: "me".to_owned(), now: "other".to_owned() };
    assert_eq!(plan_differences(&saved, &other), [difference]);
    let unknown = SavedPlan { user: None, ..saved.clone() };
    assert_eq!(plan_differences(&saved, &unknown), []);
    assert_eq!(plan_differences(&unknown, &saved), []);
}
