use crate::PatchTarget;
use snapbox::{assert_data_eq, str};
use std::time::{Duration, Instant};

use data_encoding::BASE64;
use manifest::Value;
use sandbox::ServiceWebhooks;
use serde_json::json;
use support::{fixture::Fixture, request_counter::RequestCounter};

use super::*;
use crate::testing::{Lab, object};

fn authority() -> Value {
    BASE64.encode(b"-----BEGIN CERTIFICATE-----\n").into()
}

fn service(name: &str) -> Value {
    json!({"namespace": "default", "name": name})
}

/// Returns a webhook configuration with one webhook, which is called when a ConfigMap is created.
fn configuration(kind: &str, name: &str, client_config: &Value) -> Value {
    json!({
        "apiVersion": "admissionregistration.k8s.io/v1", "kind": kind,
        "metadata": {"name": name, "labels": {"set": "one", "name": name}},
        "webhooks": [{
            "name": "a.example.com", "admissionReviewVersions": ["v1"], "sideEffects": "None",
            "clientConfig": client_config,
            "rules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["configmaps"]}]
        }]
    })
}

fn mutating(name: &str, client_config: &Value) -> Value {
    configuration("MutatingWebhookConfiguration", name, client_config)
}

fn validating(name: &str, client_config: &Value) -> Value {
    configuration("ValidatingWebhookConfiguration", name, client_config)
}

/// Returns a definition with a conversion webhook.
fn converted(client_config: &Value) -> Value {
    let schema = json!({"openAPIV3Schema": {"type": "object"}});
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.example.com", "labels": {"set": "one"}},
        "spec": {
            "group": "example.com", "scope": "Namespaced",
            "names": {"plural": "widgets", "singular": "widget", "kind": "Widget", "listKind": "WidgetList"},
            "versions": [
                {"name": "v1", "served": true, "storage": true, "schema": schema},
                {"name": "v1beta1", "served": true, "storage": false, "schema": schema}
            ],
            "conversion": {
                "strategy": "Webhook",
                "webhook": {"conversionReviewVersions": ["v1"], "clientConfig": client_config}
            }
        }
    })
}

async fn lab(services: ServiceWebhooks) -> Lab {
    Lab::with_fixture(Fixture::builder().options(|options| options.service_webhooks = services).start().await)
        .await
}

fn objects(values: &[&Value]) -> Vec<Object> {
    values.iter().map(|value| object((*value).clone())).collect()
}

fn lines(blockers: &[Blocker]) -> Vec<String> {
    blockers.iter().map(|blocker| format!("{}: {}", blocker.object, blocker.status.message)).collect()
}

#[tokio::test]
async fn a_webhook_without_a_ca_bundle_is_not_ready() {
    let lab = lab(ServiceWebhooks::Ignore).await;
    let first = mutating("first", &json!({"service": service("a"), "caBundle": authority()}));
    let second = validating("second", &json!({"service": service("b"), "caBundle": "Cg=="}));
    let elsewhere = validating("elsewhere", &json!({"url": "https://127.0.0.1:1/x"}));
    let definition = converted(&json!({"service": service("c")}));
    for value in [&first, &second, &elsewhere, &definition] {
        lab.create(value).await;
    }
    let missing = mutating("missing", &json!({"service": service("a")}));
    let plain = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}});
    let all = objects(&[&definition, &plain, &first, &missing, &second, &elsewhere]);
    assert_data_eq!(
        lines(&check_webhooks(&lab.server, &all).await.unwrap()).join(
            "
"
        ),
        str![[r#"
CustomResourceDefinition widgets.example.com: has no CA bundle for service default/c yet
MutatingWebhookConfiguration missing: does not exist
ValidatingWebhookConfiguration second: has no CA bundle for service default/b yet
"#]]
    );
}

#[tokio::test]
async fn each_service_is_probed_once_and_errors_of_the_server_are_shown() {
    let trusted = |name: &str| json!({"service": service(name), "caBundle": authority()});
    let (first, second) = (mutating("first", &trusted("a")), validating("second", &trusted("a")));
    let third = validating("third", &trusted("b"));
    let all = objects(&[&second, &first, &third]);
    for (services, writes, expected) in [
        (ServiceWebhooks::Ignore, "2 create configmaps (dry run)", [].as_slice()),
        (
            ServiceWebhooks::Refuse,
            "2 create configmaps (dry run) (500)",
            [
                "MutatingWebhookConfiguration first: Internal error occurred: failed calling webhook",
                "ValidatingWebhookConfiguration third: Internal error occurred: failed calling webhook",
            ]
            .as_slice(),
        ),
    ] {
        let lab = lab(services).await;
        for value in [&first, &second, &third] {
            lab.create(value).await;
        }
        let counter = RequestCounter::start(lab.fixture.sandbox());
        let blockers = lines(&check_webhooks(&lab.server, &all).await.unwrap());
        assert_eq!(blockers.len(), expected.len(), "{blockers:?}");
        assert!(blockers.iter().zip(expected).all(|(line, start)| line.starts_with(start)), "{blockers:?}");
        assert_eq!(counter.writes().to_string(), writes);
    }
}

#[tokio::test(start_paused = true)]
async fn the_wait_ends_when_webhooks_have_a_ca_bundle_and_answer() {
    let lab = lab(ServiceWebhooks::Ignore).await;
    let hook = mutating("hook", &json!({"service": service("a")}));
    let created = lab.create(&hook).await;
    let (server, all) = (lab.server.clone(), objects(&[&hook]));
    let wait = tokio::spawn(async move { wait_for_webhooks(&server, &all, None).await });
    loop {
        if let Event::Waiting { blockers } = lab.events.next().await {
            assert_eq!(blockers.len(), 1, "{blockers:?}");
            break;
        }
    }
    let patch = json!([{"op": "add", "path": "/webhooks/0/clientConfig/caBundle", "value": authority()}]);
    lab.server
        .patch(&lab.kind(&created).await, "", "hook", &patch, "test", PatchTarget::Object)
        .await
        .unwrap();
    assert_eq!(wait.await.unwrap().unwrap(), []);
}

#[tokio::test(start_paused = true)]
async fn silent_webhooks_are_probed_until_the_deadline() {
    let lab = lab(ServiceWebhooks::Refuse).await;
    let hook = mutating("hook", &json!({"service": service("a"), "caBundle": authority()}));
    lab.create(&hook).await;
    let until = Some(Instant::now() + Duration::from_mins(1));
    let counter = RequestCounter::start(lab.fixture.sandbox());
    let blockers = wait_for_webhooks(&lab.server, &objects(&[&hook]), until).await.unwrap();
    assert_eq!(blockers.len(), 1);
    assert_eq!(blockers[0].since.as_secs(), 60);
    assert!((10..=40).contains(&counter.writes().total()), "{}", counter.writes());
    let reported = lab.events.take().iter().filter(|event| matches!(event, Event::Waiting { .. })).count();
    assert_eq!(reported, 1);
}

#[test]
fn common_labels_select_all_objects() {
    let of = |names: &[&str]| names.iter().map(|name| object(mutating(name, &json!({})))).collect::<Vec<_>>();
    assert_eq!(common_labels(of(&["a"]).iter()), "name=a,set=one");
    assert_eq!(common_labels(of(&["a", "b"]).iter()), "set=one");
    assert_eq!(common_labels(of(&[]).iter()), "");
}
