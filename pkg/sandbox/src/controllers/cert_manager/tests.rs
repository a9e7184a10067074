use jiff::SignedDuration;
use serde::Deserialize as _;
use serde_json::json;
use x509_parser::{certificate::X509Certificate, prelude::FromDer as _};

use super::{
    request::Request,
    x509::{Certificate, Issued},
    *,
};
use crate::{Clock, Options, Sandbox, Switches, client::Propagation};

/// A sandbox with cert-manager's definitions, and its clock.
async fn sandbox() -> (Sandbox, Client, Clock) {
    let controllers = Switches {
        garbage: false,
        workloads: false,
        api_services: false,
        cluster_api: false,
        cert_manager: true,
    };
    let clock = Clock::fixed("2026-01-01T00:00:00Z".parse().unwrap());
    let sandbox =
        Sandbox::start_at(Options { controllers, ..Options::default() }, clock.clone()).await.unwrap();
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

/// A Certificate whose Secret has its name.
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

/// What a Secret holds: the certificate chain and the CA.
fn held(client: &Client, name: &str) -> (String, String) {
    let secret = secret(client, "default", name).expect("a Secret");
    (data(&secret, "tls.crt").unwrap(), data(&secret, "ca.crt").unwrap())
}

/// Whether the first certificate of a text was signed by that of another.
fn signed_by(certificate: &str, authority: &str) -> bool {
    let (_, certificate) = x509_parser::pem::parse_x509_pem(certificate.as_bytes()).unwrap();
    let (_, authority) = x509_parser::pem::parse_x509_pem(authority.as_bytes()).unwrap();
    let certificate = X509Certificate::from_der(&certificate.contents).unwrap().1;
    let authority = X509Certificate::from_der(&authority.contents).unwrap().1;
    certificate.verify_signature(Some(authority.public_key())).is_ok()
}

#[tokio::test]
async fn what_a_provider_brings_ends_in_a_secret_and_its_ca_where_it_is_trusted() {
    let (sandbox, client, _) = sandbox().await;
    // The order in which clients apply: what trusts it may come first.
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
    let asked = json!({
        "dnsNames": ["webhook.default.svc"], "ipAddresses": ["::1"], "subject": {"organizations": ["capstan"]},
    });
    client.create(certificate("serving", "self", &asked)).await.unwrap();
    client.create(issuer("self", &json!({"selfSigned": {}}))).await.unwrap();
    sandbox.settle().await;

    assert_eq!(ready(&get(&client, "Issuer", "self")), ("True", "IsReady"));
    let live = get(&client, "Certificate", "serving");
    assert_eq!(ready(&live), ("True", "Ready"));
    assert!(conditions::find(&live["status"], "Issuing").is_none());
    let times = [&live["status"]["notBefore"], &live["status"]["renewalTime"], &live["status"]["notAfter"]];
    assert_eq!(times, ["2026-01-01T00:00:00Z", "2026-03-02T00:00:00Z", "2026-04-01T00:00:00Z"]);
    let (chain, ca) = held(&client, "serving");
    assert_eq!(chain, ca);
    assert!(signed_by(&chain, &ca));
    let secret = secret(&client, "default", "serving").unwrap();
    assert_eq!(secret["type"], "kubernetes.io/tls");
    assert_eq!(secret["metadata"]["labels"], json!({"controller.cert-manager.io/fao": "true"}));
    let details = json!({
        "cert-manager.io/alt-names": "webhook.default.svc",
        "cert-manager.io/certificate-name": "serving",
        "cert-manager.io/common-name": "",
        "cert-manager.io/ip-sans": "::1",
        "cert-manager.io/issuer-group": "",
        "cert-manager.io/issuer-kind": "",
        "cert-manager.io/issuer-name": "self",
        "cert-manager.io/subject-organizations": "capstan",
        "cert-manager.io/uri-sans": "",
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
async fn a_certificate_waits_for_its_issuer_and_that_for_its_ca() {
    let (sandbox, client, _) = sandbox().await;
    client.create(certificate("leaf", "ca", &json!({"dnsNames": ["leaf"]}))).await.unwrap();
    sandbox.settle().await;
    let live = get(&client, "Certificate", "leaf");
    assert_eq!(ready(&live), ("False", "DoesNotExist"));
    assert_eq!(conditions::find(&live["status"], "Issuing").unwrap()["status"], "True");

    client.create(issuer("ca", &json!({"ca": {"secretName": "root"}}))).await.unwrap();
    sandbox.settle().await;
    let live = get(&client, "Issuer", "ca");
    assert_eq!(ready(&live), ("False", "ErrGetKeyPair"));
    let message = &conditions::find(&live["status"], "Ready").unwrap()["message"];
    assert_eq!(message, "Error getting keypair for CA issuer: secrets \"root\" not found");
    assert_eq!(ready(&get(&client, "Certificate", "leaf")), ("False", "DoesNotExist"));

    client.create(issuer("self", &json!({"selfSigned": {}}))).await.unwrap();
    let root = json!({"isCA": true, "commonName": "root"});
    client.create(certificate("root", "self", &root)).await.unwrap();
    sandbox.settle().await;
    assert_eq!(ready(&get(&client, "Issuer", "ca")), ("True", "KeyPairVerified"));
    assert_eq!(ready(&get(&client, "Certificate", "leaf")), ("True", "Ready"));
    let (chain, ca) = held(&client, "leaf");
    assert_eq!(ca, held(&client, "root").0);
    assert!(signed_by(&chain, &ca));
}

#[tokio::test]
async fn a_chain_leads_up_to_the_root_and_leaves_it_out() {
    let (sandbox, client, _) = sandbox().await;
    let authority = |name: &str| json!({"isCA": true, "commonName": name});
    for object in [
        issuer("self", &json!({"selfSigned": {}})),
        certificate("root", "self", &authority("root")),
        issuer("by-root", &json!({"ca": {"secretName": "root"}})),
        certificate("middle", "by-root", &authority("middle")),
        issuer("by-middle", &json!({"ca": {"secretName": "middle"}})),
        certificate("leaf", "by-middle", &json!({"dnsNames": ["leaf"]})),
    ] {
        client.create(object).await.unwrap();
    }
    sandbox.settle().await;
    let (root, (middle, _), (leaf, ca)) =
        (held(&client, "root").0, held(&client, "middle"), held(&client, "leaf"));
    assert_eq!(ca, root);
    assert!(leaf.ends_with(&middle) && !leaf.contains(&root));
    assert!(signed_by(&leaf, &middle) && signed_by(&middle, &root) && !signed_by(&leaf, &root));
}

#[tokio::test]
async fn a_cluster_issuer_signs_in_all_namespaces_but_not_with_what_is_no_ca() {
    let (sandbox, client, _) = sandbox().await;
    let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": CLUSTER_RESOURCES}});
    client.create(namespace).await.unwrap();
    let mut cluster_issuer = issuer("everywhere", &json!({"ca": {"secretName": "root"}}));
    cluster_issuer["kind"] = json!("ClusterIssuer");
    meta::remove(&mut cluster_issuer, "namespace");
    client.create(cluster_issuer).await.unwrap();
    let by_cluster = json!({"issuerRef": {"name": "everywhere", "kind": "ClusterIssuer"}});
    client.create(certificate("leaf", "", &by_cluster)).await.unwrap();

    let now = timestamp(&client);
    for (is_ca, expected) in [(false, ("False", "ErrInvalidKeyPair")), (true, ("True", "KeyPairVerified"))] {
        let request = Request { is_ca, common_name: "root".to_owned(), ..Request::default() };
        let Issued { certificate, key, .. } = Issued::self_signed(&request, now).unwrap();
        let place = ObjectRef::new("", "Secret", CLUSTER_RESOURCES, "root");
        client.delete(&place, Propagation::Background).await.unwrap();
        let secret = json!({
            "apiVersion": "v1", "kind": "Secret", "type": "kubernetes.io/tls",
            "metadata": {"name": "root", "namespace": CLUSTER_RESOURCES},
            "stringData": {"tls.crt": certificate, "tls.key": key},
        });
        client.create(secret).await.unwrap();
        sandbox.settle().await;
        let live = client.get(&ObjectRef::new(GROUP, "ClusterIssuer", "", "everywhere")).unwrap();
        assert_eq!(ready(&live), expected);
        assert_eq!(ready(&get(&client, "Certificate", "leaf")).0, expected.0);
    }
}

#[tokio::test]
async fn a_certificate_is_issued_anew_when_its_spec_its_secret_or_the_time_asks_for_it() {
    let (sandbox, client, clock) = sandbox().await;
    client.create(issuer("self", &json!({"selfSigned": {}}))).await.unwrap();
    client.create(certificate("c", "self", &json!({"dnsNames": ["one"]}))).await.unwrap();
    sandbox.settle().await;
    let revision = || get(&client, "Certificate", "c")["status"]["revision"].as_i64().unwrap();
    assert_eq!(revision(), 1);

    let mut live = get(&client, "Certificate", "c");
    live["spec"]["dnsNames"] = json!(["one", "two"]);
    client.update(live).await.unwrap();
    sandbox.settle().await;
    assert_eq!(revision(), 2);

    let mut broken = secret(&client, "default", "c").unwrap();
    broken["data"]["tls.key"] = json!("");
    broken["data"]["mine"] = json!("bWluZQ==");
    client.update(broken).await.unwrap();
    sandbox.settle().await;
    assert_eq!(revision(), 3);
    assert_eq!(secret(&client, "default", "c").unwrap()["data"]["mine"], "bWluZQ==");

    for (days, expected) in [(59, 3), (1, 4)] {
        clock.advance(SignedDuration::from_hours(days * 24));
        let mut live = get(&client, "Certificate", "c");
        meta::set(&mut live, "labels", json!({"touched": days.to_string()}));
        let before = sandbox.revision();
        client.update(live).await.unwrap();
        sandbox.settle().await;
        assert_eq!(revision(), expected);
        assert!(expected == 4 || sandbox.revision() == before + 1, "what is good is left alone");
    }
}

#[tokio::test]
async fn what_cannot_be_signed_fails_once() {
    let (sandbox, client, clock) = sandbox().await;
    client.create(issuer("self", &json!({"selfSigned": {}}))).await.unwrap();
    client.create(certificate("c", "self", &json!({"dnsNames": ["no-\u{fc}-here"]}))).await.unwrap();
    sandbox.settle().await;
    let live = get(&client, "Certificate", "c");
    assert_eq!(ready(&live), ("False", "DoesNotExist"));
    assert_eq!(conditions::find(&live["status"], "Issuing").unwrap()["reason"], "Failed");

    clock.advance(SignedDuration::from_hours(1));
    let mut touched = live.clone();
    meta::set(&mut touched, "labels", json!({"touched": "yes"}));
    client.update(touched).await.unwrap();
    sandbox.settle().await;
    assert_eq!(get(&client, "Certificate", "c")["status"], live["status"]);
}

#[tokio::test]
async fn two_certificates_do_not_fight_over_one_secret() {
    let (sandbox, client, _) = sandbox().await;
    client.create(issuer("self", &json!({"selfSigned": {}}))).await.unwrap();
    client.create(certificate("first", "self", &json!({"secretName": "shared"}))).await.unwrap();
    sandbox.settle().await;
    client.create(certificate("second", "self", &json!({"secretName": "shared"}))).await.unwrap();
    sandbox.settle().await;
    assert_eq!(ready(&get(&client, "Certificate", "first")), ("True", "Ready"));
    assert_eq!(ready(&get(&client, "Certificate", "second")), ("False", "IncorrectCertificate"));

    let first = ObjectRef::new(GROUP, "Certificate", "default", "first");
    client.delete(&first, Propagation::Background).await.unwrap();
    sandbox.settle().await;
    assert_eq!(ready(&get(&client, "Certificate", "second")), ("True", "Ready"));
}

#[tokio::test]
async fn the_webhook_of_cert_manager_has_a_ca_of_its_own() {
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
    sandbox.settle().await;
    let (chain, ca) = held(&client, "webhook-ca");
    assert_eq!(chain, ca);
    assert!(Certificate::read(&ca).unwrap().is_ca);
    let hook = ObjectRef::new("admissionregistration.k8s.io", "MutatingWebhookConfiguration", "", "hook");
    let bundle = &client.get(&hook).unwrap()["webhooks"][0]["clientConfig"]["caBundle"];
    assert_eq!(bundle, &secret(&client, "default", "webhook-ca").unwrap()["data"]["ca.crt"]);
}

#[test]
fn what_was_signed_says_what_was_asked_for() {
    let now = "2026-01-01T00:00:00Z".parse().unwrap();
    for (spec, life) in [
        (json!({"dnsNames": ["b", "a", "a"], "duration": "2160h0m0s"}), 90 * 24),
        (json!({"commonName": "ca", "isCA": true, "duration": "24h"}), 24),
        (json!({"ipAddresses": ["2001:DB8::0001", "10.0.0.1"], "duration": "5m"}), 1),
        (
            json!({"uris": ["spiffe://a/b"], "emailAddresses": ["a@b"], "privateKey": {"algorithm": "Ed25519"}}),
            90 * 24,
        ),
        (json!({"subject": {"organizations": ["one", "two"], "countries": ["DE"]}, "duration": "1h30m"}), 1),
    ] {
        let request = Request::deserialize(&spec).unwrap();
        let issued = Issued::self_signed(&request, now).unwrap();
        let read = Certificate::read(&issued.certificate).unwrap();
        assert!(read.answers(&request), "{spec}");
        assert_eq!(read.not_after.duration_since(now).as_hours(), life, "{spec}");
        let mut other = request.clone();
        other.dns_names.push("other".to_owned());
        assert!(!read.answers(&other), "{spec}");
    }
}

#[test]
fn a_certificate_is_renewed_as_long_before_its_end_as_asked_or_at_two_thirds() {
    let at = |hour: i64| Timestamp::from_second(hour * 3600).unwrap();
    for (asked, expected) in [(None, 60), (Some("10h"), 80), (Some("90h"), 60), (Some("soon"), 60)] {
        let request = Request { renew_before: asked.map(str::to_owned), ..Request::default() };
        assert_eq!(request.renewal(at(0), at(90)), at(expected), "{asked:?}");
    }
}

#[test]
fn what_is_no_certificate_is_not_read() {
    for text in ["", "nonsense", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"] {
        assert!(Certificate::read(text).is_none(), "{text:?}");
    }
}
