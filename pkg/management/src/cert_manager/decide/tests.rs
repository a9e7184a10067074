use api::output::{CertManagerAction, CertManagerPlan};
use apply::{ApplySet, ApplySetItem, key_of};
use manifest::Object;
use snapbox::{assert_data_eq, str};

use super::{super::record::VERSION_ANNOTATION, *};
use crate::testing::objects;

const WANTED: &str = "v1.21.1";

/// A release with two objects and one image.
fn manifest(version: &str) -> CertManagerManifest {
    let mut objects = objects(
        "apiVersion: v1
kind: Service
metadata: {name: webhook, namespace: cert-manager}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: webhook, namespace: cert-manager}
spec: {template: {spec: {containers: [{name: a, image: 'example.org/webhook:1'}]}}}
",
    );
    for object in &mut objects {
        object.set_annotation(VERSION_ANNOTATION, version);
    }
    CertManagerManifest {
        version: version.to_owned(),
        namespace: "cert-manager".to_owned(),
        objects,
        warnings: Vec::new(),
    }
}

/// A complete cert-manager that answers.
fn found(version: &str) -> CertManagerState {
    CertManagerState { is_served: true, live: manifest(version).objects, ..CertManagerState::default() }
}

fn recorded(objects: &[Object]) -> ApplySet {
    let item = |object| ApplySetItem { key: key_of(object), ..ApplySetItem::default() };
    ApplySet { items: objects.iter().map(item).collect() }
}

fn extra() -> Object {
    let text = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: mine, namespace: cert-manager}\n";
    let mut extra = objects(text).remove(0);
    extra.set_annotation(VERSION_ANNOTATION, WANTED);
    extra
}

/// Returns a short description of a plan, for tables.
fn words(plan: Result<CertManagerPlan, CertManagerError>) -> String {
    let CertManagerPlan { action, from, to, why } = match plan {
        Ok(plan) => plan,
        Err(error) => return error.to_string(),
    };
    let (from, to) = (from.unwrap_or_default(), to.unwrap_or_default());
    match action {
        CertManagerAction::None => "none".to_owned(),
        CertManagerAction::External => "external".to_owned(),
        CertManagerAction::Keep => format!("keep {from}"),
        CertManagerAction::Install => {
            format!("install {to}: {}", why.unwrap_or_else(|| "it is not there".to_owned()))
        }
        CertManagerAction::Upgrade => format!("{from} to {to}"),
    }
}

fn init(found: &CertManagerState) -> String {
    words(decide_for_init(found, WANTED, Some(&manifest(WANTED))))
}

fn upgrade(found: &CertManagerState, wanted: &str) -> String {
    words(decide_for_upgrade(found, &manifest(wanted)))
}

#[test]
fn an_unserved_cert_manager_is_installed() {
    assert_data_eq!(init(&CertManagerState::default()), str!["install v1.21.1: it is not there"]);
}

#[test]
fn a_responding_cert_manager_is_kept() {
    assert_eq!(init(&found(WANTED)), "keep v1.21.1");
    assert_eq!(init(&found("v1.20.3")), "keep v1.20.3");
    let foreign = CertManagerState {
        is_served: true,
        external_version: "v1.16.0".to_owned(),
        ..CertManagerState::default()
    };
    assert_eq!(init(&foreign), "keep v1.16.0");
}

// Row: D-103
#[test]
fn only_managed_cert_manager_that_is_not_newer_is_reinstalled() {
    let silence = Some("failed calling webhook".to_owned());
    let silent = |version| CertManagerState { unavailable_reason: silence.clone(), ..found(version) };
    assert_data_eq!(
        init(&silent(WANTED)),
        str!["install v1.21.1: it is not responding: failed calling webhook"]
    );
    assert_eq!(init(&silent("v1.20.3")), "v1.20.3 to v1.21.1");
    assert_eq!(init(&silent("v1.22.0")), "external");
    let foreign =
        CertManagerState { is_served: true, unavailable_reason: silence, ..CertManagerState::default() };
    assert_eq!(init(&foreign), "external");
}

#[test]
fn a_partly_deleted_cert_manager_is_completed() {
    let mut half = found(WANTED);
    half.live.truncate(1);
    assert_eq!(init(&half), "install v1.21.1: Deployment cert-manager/webhook is missing");
    let (mut older, mut newer) = (found("v1.20.3"), found("v1.22.0"));
    for found in [&mut older, &mut newer] {
        found.set = Some(recorded(&found.live));
        found.live.truncate(1);
    }
    assert_eq!(init(&older), "v1.20.3 to v1.21.1", "the record tells, also of another version");
    assert_eq!(init(&newer), "keep v1.22.0", "a step back is none");
    let unrecorded = CertManagerState { set: None, ..older };
    assert_eq!(init(&unrecorded), "keep v1.20.3", "nobody knows what belongs to another version");
}

/// Source: the cases of clusterctl v1.14 client/cluster/cert_manager_test.go (Test_shouldUpgrade).
#[test]
fn the_version_decides_about_an_upgrade() {
    for (there, wanted, expected) in [
        ("v1.21.1", "v1.21.1", "keep v1.21.1"),
        ("v1.5.3", "v1.5.3+h4fd5", "v1.5.3 to v1.5.3+h4fd5"),
        ("v1.5.3+h4fd5", "v1.5.3+h9a8b", "v1.5.3+h4fd5 to v1.5.3+h9a8b"),
        ("v1.5.3+h4fd5", "v1.5.3+h4fd5", "keep v1.5.3+h4fd5"),
        ("v1.5.3+build.2", "v1.5.3+build.1", "keep v1.5.3+build.2"),
        ("v1.5.3+build.2", "v1.5.3+build.3", "v1.5.3+build.2 to v1.5.3+build.3"),
        ("v0.11.0", "v1.21.1", "v0.11.0 to v1.21.1"),
        ("v100.0.0", "v1.21.1", "keep v100.0.0"),
    ] {
        assert_eq!(upgrade(&found(there), wanted), expected, "{there} to {wanted}");
    }
    assert_data_eq!(
        upgrade(&found("soon"), "v1.21.1"),
        str!["cannot read the cert-manager version: Service cert-manager/webhook has invalid version `soon`"]
    );
    assert_data_eq!(
        upgrade(&found("v1.21.1"), "soon"),
        str!["cannot install cert-manager: invalid version `soon`"]
    );
    assert_eq!(upgrade(&CertManagerState::default(), WANTED), "external", "nothing of ours is there");
}

#[test]
fn objects_without_a_version_count_as_the_oldest() {
    let live = objects("apiVersion: v1\nkind: Service\nmetadata: {name: a, namespace: cert-manager}\n");
    assert_eq!(
        upgrade(&CertManagerState { live, ..CertManagerState::default() }, WANTED),
        "v0.11.0 to v1.21.1"
    );
}

#[test]
fn the_same_version_is_installed_again_when_objects_or_images_differ() {
    let mut fewer = found(WANTED);
    fewer.live.truncate(1);
    let mut more = found(WANTED);
    more.live.push(extra());
    let mut image = found(WANTED);
    *image.live[1].get_mut(&["spec", "template", "spec", "containers"]).unwrap() =
        serde_json::json!([{"name": "a", "image": "mirror.lab/webhook:1"}]);
    for found in [fewer, more, image] {
        assert_eq!(upgrade(&found, WANTED), "v1.21.1 to v1.21.1");
    }
}

// Row: D-105
#[test]
fn user_labels_are_ignored_if_a_record_exists() {
    let mut found = found(WANTED);
    found.set = Some(recorded(&found.live));
    found.live.push(extra());
    assert_eq!(upgrade(&found, WANTED), "keep v1.21.1");
    found.live.remove(0);
    assert_eq!(
        upgrade(&found, WANTED),
        "v1.21.1 to v1.21.1",
        "one was deleted and one came: the count is the same"
    );
    let mut leftover = CertManagerState { live: manifest(WANTED).objects, ..CertManagerState::default() };
    leftover.live.push(extra());
    leftover.set = Some(recorded(&leftover.live));
    assert_eq!(upgrade(&leftover, WANTED), "v1.21.1 to v1.21.1", "the release has dropped one");
}
