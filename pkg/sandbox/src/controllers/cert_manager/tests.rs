use serde_json::json;
use x509_parser::{certificate::X509Certificate, prelude::FromDer as _};

use super::*;
use crate::{Clock, ControllerSwitches, Options, Sandbox};

/// A sandbox with the definitions of cert-manager, a client, and the clock of the sandbox.
async fn sandbox() -> (Sandbox, Client, Clock) {
    let controllers = ControllerSwitches {
        garbage_collection: false,
        workloads: false,
        api_services: false,
        cluster_api: false,
        cert_manager: true,
    };
    let clock = Clock::fixed("2026-01-01T00:00:00Z".parse().unwrap());
    let sandbox = Sandbox::start_with_clock(Options { controllers, ..Options::default() }, clock.clone())
        .await
        .unwrap();
    let client = sandbox.client("test");
    for (kind, scope) in
        [("Issuer", "Namespaced"), ("ClusterIssuer", "Cluster"), ("Certificate", "Namespaced")]
    {
        client.create(definition(GROUP, kind, scope)).await.unwrap();
    }
    (sandbox, client, clock)
}

fn definition(group: &str, kind: &str, scope: &str) -> Value {
    let plural = format!("{}s", kind.to_lowercase());
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("{plural}.{group}")},
        "spec": {
            "group": group, "scope": scope, "names": {"plural": plural, "kind": kind},
            "versions": [{
                "name": "v1", "served": true, "storage": true, "subresources": {"status": {}},
                "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}},
            }],
        },
    })
}

fn issuer(name: &str, spec: &Value) -> Value {
    json!({
        "apiVersion": "cert-manager.io/v1", "kind": "Issuer",
        "metadata": {"name": name, "namespace": "default"}, "spec": spec,
    })
}

/// A Certificate whose Secret has the same name.
fn certificate(name: &str, issuer: &str, spec: &Value) -> Value {
    let mut certificate = json!({
        "apiVersion": "cert-manager.io/v1", "kind": "Certificate",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"secretName": name, "issuerRef": {"name": issuer}},
    });
    for (key, value) in spec.as_object().unwrap() {
        certificate["spec"][key] = value.clone();
    }
    certificate
}

fn get(client: &Client, kind: &str, name: &str) -> Value {
    client.get(&ObjectRef::new(GROUP, kind, "default", name)).unwrap()
}

fn ready(object: &Value) -> (&str, &str) {
    let ready = conditions::find(&object["status"], "Ready").expect("a Ready condition");
    (ready["status"].as_str().unwrap(), ready["reason"].as_str().unwrap())
}

/// The certificate chain and the CA of a Secret.
fn held(client: &Client, name: &str) -> (String, String) {
    let secret = find_secret(client, "default", name).expect("a Secret");
    let text = |key: &str| {
        let bytes = STANDARD.decode(secret["data"][key].as_str().unwrap()).unwrap();
        String::from_utf8(bytes).unwrap()
    };
    (text("tls.crt"), text("ca.crt"))
}

/// True if the first certificate of `certificate` was signed with the key of `authority`.
fn signed_by(certificate: &str, authority: &str) -> bool {
    let (_, certificate) = x509_parser::pem::parse_x509_pem(certificate.as_bytes()).unwrap();
    let (_, authority) = x509_parser::pem::parse_x509_pem(authority.as_bytes()).unwrap();
    let certificate = X509Certificate::from_der(&certificate.contents).unwrap().1;
    let authority = X509Certificate::from_der(&authority.contents).unwrap().1;
    certificate.verify_signature(Some(authority.public_key())).is_ok()
}

#[tokio::test]
async fn a_certificate_gets_a_secret_and_its_ca_is_injected() {
    let (sandbox, client, _) = sandbox().await;
    // Clients may create consumers of a CA before its Certificate.
    let mut widgets = definition("example.com", "Widget", "Namespaced");
    widgets["metadata"]["annotations"] = json!({"cert-manager.io/inject-ca-from": "default/serving"});
    let service = json!({"service": {"name": "webhook", "namespace": "default", "path": "/"}});
    widgets["spec"]["conversion"] = json!({
        "strategy": "Webhook", "webhook": {"conversionReviewVersions": ["v1"], "clientConfig": service},
    });
    client.create(widgets).await.unwrap();
    let webhook = |name: &str| {
        json!({
            "name": name, "admissionReviewVersions": ["v1"], "sideEffects": "None", "clientConfig": service,
            "rules": [{
                "apiGroups": ["example.com"], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["widgets"],
            }],
        })
    };
    let configuration = json!({
        "apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration",
        "metadata": {"name": "hooks", "annotations": {"cert-manager.io/inject-ca-from": "default/serving"}},
        "webhooks": [webhook("one.example.com"), webhook("two.example.com")],
    });
    client.create(configuration).await.unwrap();
    let spec = json!({
        "dnsNames": ["webhook.default.svc"],
    });
    client.create(certificate("serving", "self", &spec)).await.unwrap();
    client.create(issuer("self", &json!({"selfSigned": {}}))).await.unwrap();
    sandbox.wait_until_idle().await;

    assert_eq!(ready(&get(&client, "Issuer", "self")), ("True", "IsReady"));
    let live = get(&client, "Certificate", "serving");
    assert_eq!(ready(&live), ("True", "Ready"));
    assert!(conditions::find(&live["status"], "Issuing").is_none());
    let times = [&live["status"]["notBefore"], &live["status"]["renewalTime"], &live["status"]["notAfter"]];
    assert_eq!(times, ["2026-01-01T00:00:00Z", "2026-03-02T00:00:00Z", "2026-04-01T00:00:00Z"]);
    let (chain, ca) = held(&client, "serving");
    assert_eq!(chain, ca);
    assert!(signed_by(&chain, &ca));
    let secret = find_secret(&client, "default", "serving").unwrap();
    assert_eq!(secret["type"], "kubernetes.io/tls");
    assert_eq!(secret["metadata"]["labels"], json!({"controller.cert-manager.io/fao": "true"}));
    let details = json!({
        "cert-manager.io/alt-names": "webhook.default.svc",
        "cert-manager.io/certificate-name": "serving",
        "cert-manager.io/issuer-group": "",
        "cert-manager.io/issuer-kind": "",
        "cert-manager.io/issuer-name": "self",
    });
    assert_eq!(secret["metadata"]["annotations"], details);

    let bundle = &secret["data"]["ca.crt"];
    let hooks = ObjectRef::new("admissionregistration.k8s.io", "ValidatingWebhookConfiguration", "", "hooks");
    for webhook in client.get(&hooks).unwrap()["webhooks"].as_array().unwrap() {
        assert_eq!(&webhook["clientConfig"]["caBundle"], bundle);
    }
    let widgets =
        ObjectRef::new("apiextensions.k8s.io", "CustomResourceDefinition", "", "widgets.example.com");
    let conversion = &client.get(&widgets).unwrap()["spec"]["conversion"];
    assert_eq!(&conversion["webhook"]["clientConfig"]["caBundle"], bundle);
}

#[tokio::test]
async fn a_certificate_waits_for_its_issuer() {
    let (sandbox, client, _) = sandbox().await;
    client.create(certificate("leaf", "ca", &json!({"dnsNames": ["leaf"]}))).await.unwrap();
    sandbox.wait_until_idle().await;
    let live = get(&client, "Certificate", "leaf");
    assert_eq!(ready(&live), ("False", "DoesNotExist"));
    assert_eq!(conditions::find(&live["status"], "Issuing").unwrap()["status"], "True");

    client.create(issuer("ca", &json!({"selfSigned": {}}))).await.unwrap();
    sandbox.wait_until_idle().await;
    assert_eq!(ready(&get(&client, "Certificate", "leaf")), ("True", "Ready"));
}

#[tokio::test]
async fn a_certificate_is_reissued_if_its_spec_or_secret_changes() {
    let (sandbox, client, _) = sandbox().await;
    client.create(issuer("self", &json!({"selfSigned": {}}))).await.unwrap();
    client.create(certificate("c", "self", &json!({"dnsNames": ["one"]}))).await.unwrap();
    sandbox.wait_until_idle().await;
    let revision = || get(&client, "Certificate", "c")["status"]["revision"].as_i64().unwrap();
    assert_eq!(revision(), 1);

    let mut live = get(&client, "Certificate", "c");
    live["spec"]["dnsNames"] = json!(["one", "two"]);
    client.update(live).await.unwrap();
    sandbox.wait_until_idle().await;
    assert_eq!(revision(), 2);

    let mut broken = find_secret(&client, "default", "c").unwrap();
    broken["data"]["tls.key"] = json!("");
    broken["data"]["mine"] = json!("bWluZQ==");
    client.update(broken).await.unwrap();
    sandbox.wait_until_idle().await;
    assert_eq!(revision(), 3);
    assert_eq!(find_secret(&client, "default", "c").unwrap()["data"]["mine"], "bWluZQ==");

    let before = sandbox.revision();
    let mut live = get(&client, "Certificate", "c");
    meta::set(&mut live, "labels", json!({"touched": "yes"}));
    client.update(live).await.unwrap();
    sandbox.wait_until_idle().await;
    assert_eq!((revision(), sandbox.revision()), (3, before + 1), "a good certificate stays");
}

#[tokio::test]
async fn an_unsignable_certificate_fails_once() {
    let (sandbox, client, _) = sandbox().await;
    client.create(issuer("self", &json!({"selfSigned": {}}))).await.unwrap();
    client.create(certificate("c", "self", &json!({"dnsNames": ["no-\u{fc}-here"]}))).await.unwrap();
    sandbox.wait_until_idle().await;
    let live = get(&client, "Certificate", "c");
    assert_eq!(ready(&live), ("False", "DoesNotExist"));
    assert_eq!(conditions::find(&live["status"], "Issuing").unwrap()["reason"], "Failed");

    let mut touched = live.clone();
    meta::set(&mut touched, "labels", json!({"touched": "yes"}));
    client.update(touched).await.unwrap();
    sandbox.wait_until_idle().await;
    assert_eq!(get(&client, "Certificate", "c")["status"], live["status"]);
}

#[tokio::test]
async fn two_certificates_do_not_overwrite_one_secret() {
    let (sandbox, client, _) = sandbox().await;
    client.create(issuer("self", &json!({"selfSigned": {}}))).await.unwrap();
    client.create(certificate("first", "self", &json!({"secretName": "shared"}))).await.unwrap();
    sandbox.wait_until_idle().await;
    client.create(certificate("second", "self", &json!({"secretName": "shared"}))).await.unwrap();
    sandbox.wait_until_idle().await;
    assert_eq!(ready(&get(&client, "Certificate", "first")), ("True", "Ready"));
    assert_eq!(ready(&get(&client, "Certificate", "second")), ("False", "IncorrectCertificate"));
}

#[tokio::test]
async fn the_cert_manager_webhook_has_its_own_ca() {
    let (sandbox, client, _) = sandbox().await;
    let configuration = json!({
        "apiVersion": "admissionregistration.k8s.io/v1", "kind": "MutatingWebhookConfiguration",
        "metadata": {"name": "hook", "annotations": {"cert-manager.io/inject-ca-from-secret": "default/webhook-ca"}},
        "webhooks": [{
            "name": "hook.example.com", "admissionReviewVersions": ["v1"], "sideEffects": "None", "rules": [],
            "clientConfig": {"service": {"name": "hook", "namespace": "default"}},
        }],
    });
    client.create(configuration).await.unwrap();
    let container = json!({
        "name": "webhook", "image": "webhook",
        "args": ["--v=2", "--dynamic-serving-ca-secret-name=webhook-ca"],
    });
    let deployment = json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "webhook", "namespace": "default"},
        "spec": {
            "selector": {"matchLabels": {"app": "webhook"}},
            "template": {"metadata": {"labels": {"app": "webhook"}}, "spec": {"containers": [container]}},
        },
    });
    client.create(deployment).await.unwrap();
    sandbox.wait_until_idle().await;
    let (chain, ca) = held(&client, "webhook-ca");
    assert_eq!(chain, ca);
    let (_, pem) = x509_parser::pem::parse_x509_pem(ca.as_bytes()).unwrap();
    assert!(X509Certificate::from_der(&pem.contents).unwrap().1.is_ca());
    let hook = ObjectRef::new("admissionregistration.k8s.io", "MutatingWebhookConfiguration", "", "hook");
    let bundle = &client.get(&hook).unwrap()["webhooks"][0]["clientConfig"]["caBundle"];
    assert_eq!(bundle, &find_secret(&client, "default", "webhook-ca").unwrap()["data"]["ca.crt"]);
}
