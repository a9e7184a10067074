use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use api::{ProviderId, ProviderType, output::MovePhase};
use apply::{DeniedPermission, Permission, ServedKinds};
use inventory::{ClusterIdentity, ProviderInventory, known_kind};
use manifest::Object;
use provider::InstalledProvider;
use serde_json::json;
use snapbox::{assert_data_eq, str};
use workload::{ClusterFacts, ContentFacts, ObjectFacts, ReplicaCounts, TypeFacts, facts_of};

use super::*;
use crate::{
    JournalHolder, MoveSide,
    target::{NamespaceState, TargetObject, TargetView},
};

fn key(kind: &str, place: &str) -> ObjectKey {
    let (namespace, name) = place.split_once('/').unwrap_or(("", place));
    ObjectKey {
        group: "cluster.x-k8s.io".to_owned(),
        kind: kind.to_owned(),
        namespace: namespace.to_owned(),
        name: name.to_owned(),
    }
}

/// Returns the facts of an object without problems.
fn facts(kind: &str, place: &str, content: ContentFacts) -> ObjectFacts {
    let plural = format!("{}s", kind.to_lowercase());
    let of = TypeFacts {
        kind: known_kind("cluster.x-k8s.io", "v1beta2", kind, &plural, true),
        is_labelled_to_move: false,
        is_hierarchy: false,
        has_status: true,
        provider: None,
    };
    let key = key(kind, place);
    let metadata = json!({"namespace": key.namespace, "name": key.name, "uid": key.to_string()});
    let object = json!({"apiVersion": "cluster.x-k8s.io/v1beta2", "kind": kind, "metadata": metadata});
    let object = Object::try_from(object).expect("it is a mapping");
    ObjectFacts { content, ..facts_of(&object, &Arc::new(of)) }
}

fn cluster(place: &str) -> ObjectFacts {
    let ready = ClusterFacts {
        infrastructure_provisioned: true,
        control_plane_initialized: true,
        ..ClusterFacts::default()
    };
    facts("Cluster", place, ContentFacts::Cluster(ready))
}

fn journal(phase: MovePhase) -> MoveJournal {
    MoveJournal {
        format: 1,
        run: "run-1".to_owned(),
        begun: "2026-01-02T03:04:05Z".to_owned(),
        source: ClusterIdentity::default(),
        target: ClusterIdentity::default(),
        namespaces: BTreeSet::new(),
        clusters: None,
        selector: None,
        namespace_map: BTreeMap::new(),
        phase,
        paused: Vec::new(),
        existed: Vec::new(),
        made_namespaces: Vec::new(),
        is_recovered: false,
        objects: 0,
        holder: JournalHolder::default(),
    }
}

fn check(objects: &[ObjectFacts], stage: Stage<'_>) -> Findings {
    check_objects(&objects.iter().collect::<Vec<_>>(), stage, Purpose::Move)
}

fn texts(problems: &[PreflightProblem]) -> Vec<&str> {
    problems.iter().map(|problem| problem.text.as_str()).collect()
}

#[test]
fn ready_objects_cause_no_findings() {
    let replicas = ReplicaCounts { desired: 2, current: 2, up_to_date: Some(2), is_observed: true };
    let objects = [
        cluster("a/one"),
        facts("Machine", "a/m", ContentFacts::Machine { has_node: true }),
        facts("MachineSet", "a/s", ContentFacts::Replicas(replicas)),
        facts("MachineSet", "a/t", ContentFacts::Replicas(ReplicaCounts { up_to_date: None, ..replicas })),
    ];
    assert_eq!(check(&objects, Stage::New), Findings::default());
}

/// Returns objects that are not ready, one for each possible reason.
fn unready() -> Vec<ObjectFacts> {
    let bare = |place| facts("Cluster", place, ContentFacts::Cluster(ClusterFacts::default()));
    let initializing = ClusterFacts { infrastructure_provisioned: true, ..ClusterFacts::default() };
    vec![
        bare("a/bare"),
        bare("b/bare"),
        facts("Cluster", "a/initializing", ContentFacts::Cluster(initializing)),
        ObjectFacts {
            cluster_name: Some("initializing".to_owned()),
            ..facts("Machine", "a/new", ContentFacts::Machine { has_node: false })
        },
        ObjectFacts { is_terminating: true, ..facts("Secret", "a/going", ContentFacts::Plain) },
    ]
}

// Row: D-146
#[test]
fn unready_objects_are_reported_at_once() {
    let found = check(&unready(), Stage::New);
    assert_data_eq!(
        texts(&found.problems).join("\n"),
        str![[r#"
the infrastructure is not provisioned yet: Cluster a/bare, Cluster b/bare
the control plane is not initialized yet: Cluster a/bare, Cluster b/bare, Cluster a/initializing
Machines have no node yet: Machine a/new
objects are being deleted: Secret a/going
"#]]
    );
    let hints: Vec<&str> = found.problems.iter().filter_map(|problem| problem.hint.as_deref()).collect();
    assert_data_eq!(
        hints.join("\n"),
        str![[r#"
check its progress with `capstan describe cluster bare -n a`, and move when it is ready
check its progress with `capstan describe cluster bare -n a`, and move when it is ready
check its progress with `capstan describe cluster initializing -n a`, and move when it is ready
wait until they are deleted, or remove the blocking finalizers; the move would create them again on the target
"#]]
    );
    assert!(found.warnings.is_empty());
}

#[test]
fn a_backup_warns_about_unready_objects_and_includes_them() {
    let objects = unready();
    let (refused, kept) = (
        check(&objects, Stage::New),
        check_objects(&objects.iter().collect::<Vec<_>>(), Stage::New, Purpose::Backup),
    );
    assert_eq!(texts(&kept.warnings), texts(&refused.problems)[..3]);
    assert_data_eq!(texts(&kept.problems).join("\n"), str!["objects are being deleted: Secret a/going"]);
}

#[test]
fn after_the_first_deletion_source_problems_stop_nothing() {
    let (begun, deleting) = (journal(MovePhase::Verifying), journal(MovePhase::Deleting));
    assert_eq!(check(&unready(), Stage::of(Some(&begun))).problems.len(), 4);
    assert_eq!(check(&unready(), Stage::of(Some(&deleting))), Findings::default());
}

// Row: D-144, D-152
#[test]
fn unusual_states_are_warnings() {
    let rolling = |place, replicas| facts("MachineDeployment", place, ContentFacts::Replicas(replicas));
    let settled = ReplicaCounts { desired: 2, current: 2, up_to_date: Some(2), is_observed: true };
    let objects = [
        rolling("a/scaling", ReplicaCounts { current: 1, ..settled }),
        rolling("a/rolling", ReplicaCounts { up_to_date: Some(1), ..settled }),
        rolling("a/unseen", ReplicaCounts { is_observed: false, ..settled }),
        ObjectFacts { blocks_move: true, ..facts("BareMetalHost", "a/host", ContentFacts::Plain) },
        ObjectFacts { is_paused: true, ..cluster("a/resting") },
        ObjectFacts { is_paused: true, paused_by: Some("old".to_owned()), ..cluster("a/orphaned") },
        ObjectFacts { gitops_tool: Some("Flux"), ..facts("ConfigMap", "a/f", ContentFacts::Plain) },
        ObjectFacts { gitops_tool: Some("Argo CD"), ..cluster("a/argo") },
        ObjectFacts { gitops_tool: Some("Argo CD"), ..cluster("a/argo-too") },
    ];
    let found = check(&objects, Stage::New);
    assert_eq!(found.problems, []);
    assert_data_eq!(
        texts(&found.warnings).join("\n"),
        str![[r#"
a rollout is in progress and continues on the target: MachineDeployment a/scaling, MachineDeployment a/rolling, MachineDeployment a/unseen
the move waits until the provider stops blocking it: BareMetalHost a/host
already paused, and stays paused on the target: Cluster a/resting
paused by an earlier move without a journal; this move resumes them at the end: Cluster a/orphaned
Argo CD would create moved objects again on the source: Cluster a/argo, Cluster a/argo-too
Flux would create moved objects again on the source: ConfigMap a/f
"#]]
    );
    let backup = check_objects(&objects.iter().collect::<Vec<_>>(), Stage::New, Purpose::Backup);
    assert_data_eq!(
        texts(&backup.warnings).join("\n"),
        str![[r#"
a rollout is in progress: MachineDeployment a/scaling, MachineDeployment a/rolling, MachineDeployment a/unseen
paused, and stays paused after a restore: Cluster a/resting
paused by an earlier move; a restore resumes them: Cluster a/orphaned
"#]]
    );
}

#[test]
fn a_resumed_move_does_not_warn_about_its_own_pause() {
    let journal = journal(MovePhase::Creating);
    let paused = ObjectFacts { is_paused: true, paused_by: Some("run-1".to_owned()), ..cluster("a/one") };
    assert_eq!(check(&[paused], Stage::of(Some(&journal))), Findings::default());
}

// Row: D-151
#[test]
fn objects_marked_for_deletion_must_exist_on_the_target() {
    let left = |place| ObjectFacts {
        is_deleted_for_move: true,
        is_terminating: true,
        ..facts("Machine", place, ContentFacts::Machine { has_node: true })
    };
    let (lost, copied, unknown) = (left("a/lost"), left("a/copied"), left("a/unknown"));
    let found = check_marked_for_deletion(&[(&lost, Some(false)), (&copied, Some(true)), (&unknown, None)]);
    assert_data_eq!(
        texts(&found.problems).join("\n"),
        str![
            "an earlier move marked objects for deletion, and they do not exist on this target: Machine a/lost"
        ]
    );
    assert_data_eq!(
        texts(&found.warnings).join("\n"),
        str!["an earlier move marked objects for deletion: Machine a/copied, Machine a/unknown"]
    );
    assert_eq!(check(&[lost], Stage::New).problems, []);
}

#[test]
fn many_objects_with_one_problem_are_summarized() {
    let keys: Vec<ObjectKey> = (0..14).map(|number| key("Machine", &format!("a/m{number:02}"))).collect();
    let text = listed(&keys);
    assert!(text.starts_with("Machine a/m00, ") && text.ends_with("Machine a/m09 and 4 more"), "{text}");
}

fn inventory(providers: &[(&str, &str)]) -> ProviderInventory {
    let one = |(name, version): &(&str, &str)| InstalledProvider {
        id: ProviderId::new(ProviderType::Infrastructure, *name),
        version: (*version).to_owned(),
        namespace: format!("{name}-system"),
    };
    ProviderInventory {
        providers: providers.iter().map(one).collect(),
        is_defined: true,
        ..ProviderInventory::default()
    }
}

#[test]
fn missing_or_older_target_providers_are_reported_with_both_versions() {
    let source = [("aws", "v2.11.0"), ("docker", "v1.14.0"), ("own", "v1.2.0"), ("same", "v1.0.0")];
    let target = [("own", "v1.1.0"), ("own", "v1.0.9"), ("same", "v1.0.0"), ("docker", "v1.15.0-rc.0")];
    let problems = check_providers(&inventory(&source), &inventory(&target));
    assert_data_eq!(
        texts(&problems).join("\n"),
        str![[r#"
`infrastructure-aws` v2.11.0 is missing on the target
`infrastructure-own` is v1.2.0 on the source and v1.1.0, v1.0.9 on the target
"#]]
    );
    assert_data_eq!(
        problems[0].hint.as_deref().unwrap_or_default(),
        str!["install it with `capstan init --infrastructure aws:v2.11.0 --kubeconfig TARGET`"]
    );
}

#[test]
fn a_target_without_an_inventory_must_be_initialized() {
    let source = inventory(&[("aws", "v2.11.0")]);
    let mut bare = ProviderInventory::default();
    assert_data_eq!(
        texts(&check_providers(&source, &bare)).join("\n"),
        str!["the target has no providers; the source has `infrastructure-aws`"]
    );
    bare = inventory(&[("aws", "v2.11.0")]);
    bare.unfinished = Some(Vec::new());
    assert_data_eq!(
        texts(&check_providers(&source, &bare)).join("\n"),
        str!["the installation on the target was interrupted"]
    );
}

#[test]
fn kinds_that_the_target_does_not_serve_are_reported_once_each() {
    let mut target = ServedKinds::default();
    target.add(known_kind("cluster.x-k8s.io", "v1beta1", "Machine", "machines", true));
    target.add(known_kind("cluster.x-k8s.io", "v1beta2", "Cluster", "clusters", true));
    let moving = [
        facts("Machine", "a/1", ContentFacts::Plain),
        facts("Machine", "a/2", ContentFacts::Plain),
        facts("Cluster", "a/c", ContentFacts::Plain),
        facts("Odd", "a/o", ContentFacts::Plain),
    ];
    let problems = check_kinds(moving.iter().map(|facts| &*facts.object_type), &target);
    assert_data_eq!(
        texts(&problems).join("\n"),
        str![[r#"
the target does not serve `Machine.cluster.x-k8s.io` in v1beta2; it serves v1beta1
the target does not serve kind `Odd.cluster.x-k8s.io`
"#]]
    );
}

// Row: D-149
#[test]
fn mapped_namespaces_must_be_distinct_and_not_empty() {
    let (one, two) = (key("Secret", "a/s"), key("Secret", "b/s"));
    let places = [(&one, key("Secret", "c/s")), (&two, key("Secret", "c/s"))];
    let map = |pairs: &[(&str, &str)]| -> BTreeMap<String, String> {
        pairs.iter().map(|(from, to)| ((*from).to_owned(), (*to).to_owned())).collect()
    };
    let both = map(&[("a", "c"), ("b", "c")]);
    assert_data_eq!(
        texts(&check_target_keys(&places, &both, Stage::New)).join("\n"),
        str!["Secret a/s and Secret b/s would both become Secret c/s"]
    );
    let slip = map(&[("a", "c"), ("d", "e")]);
    assert_data_eq!(
        texts(&check_target_keys(&places[..1], &slip, Stage::New)).join("\n"),
        str!["cannot map namespace `d` to `e`: no object moves from `d`"]
    );
    let journal = journal(MovePhase::Deleting);
    assert_eq!(check_target_keys(&places[..1], &slip, Stage::of(Some(&journal))), []);
}

#[test]
fn terminating_target_objects_block_and_overwritten_ones_are_reported() {
    let namespaces =
        [("a", NamespaceState::Terminating), ("b", NamespaceState::Missing), ("c", NamespaceState::Exists)];
    let namespaces = namespaces.map(|(name, state)| (name.to_owned(), state)).into();
    assert_data_eq!(
        texts(&check_namespaces(&namespaces)).join("\n"),
        str!["namespace `a` is being deleted on the target"]
    );
    let going = TargetObject { is_terminating: true, ..TargetObject::default() };
    let (there, gone) = (key("Secret", "a/there"), key("Secret", "a/going"));
    let view = TargetView { objects: [(there.clone(), TargetObject::default()), (gone, going)].into() };
    let found = check_existing(std::slice::from_ref(&there), &view, Stage::New);
    assert_data_eq!(
        texts(&found.problems).join("\n"),
        str!["objects are being deleted on the target: Secret a/going"]
    );
    assert_data_eq!(
        texts(&found.warnings).join("\n"),
        str!["objects exist on the target and are overwritten: Secret a/there"]
    );
    let journal = journal(MovePhase::Creating);
    assert_eq!(check_existing(&[there], &view, Stage::of(Some(&journal))).warnings, []);
}

#[test]
fn permissions_are_checked_per_kind_and_namespace() {
    let among = |resource: &str, namespace: &str| ResourceScope {
        group: "g".to_owned(),
        resource: resource.to_owned(),
        namespace: namespace.to_owned(),
    };
    let moving = BTreeSet::from([among("as", "n"), among("bs", "n"), among("cs", "")]);
    let source = needed_permissions(MoveSide::Source, &moving, Some("capi-system"), &[]);
    assert_eq!(source.len(), 3 * 4 + 4 + 4, "of the objects, the journal and the lease");
    let target = needed_permissions(MoveSide::Target, &moving, None, &["new".to_owned()]);
    assert_eq!(target.len(), 3 * 6 + 1 + 4);
    let refuse = |verb: &str, resource: &str, namespace: &str| DeniedPermission {
        permission: Permission {
            verb: verb.to_owned(),
            group: "g".to_owned(),
            resource: resource.to_owned(),
            namespace: namespace.to_owned(),
        },
        reason: String::new(),
    };
    let refused = [
        refuse("delete", "as", "n"),
        refuse("patch", "as", "n"),
        refuse("delete", "bs", "n"),
        refuse("patch", "bs", "n"),
        refuse("get", "cs", ""),
    ];
    assert_data_eq!(
        texts(&permission_problems(MoveSide::Source, &refused)).join("\n"),
        str![[r#"
missing permission on the source cluster: get `cs.g` cluster-wide
missing permission on the source cluster: delete, patch `as.g`, `bs.g` in namespace `n`
"#]]
    );
}
