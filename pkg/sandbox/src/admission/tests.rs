use std::{
    convert::Infallible,
    sync::{Arc, Mutex},
};

use base64::{Engine, prelude::BASE64_STANDARD};
use bytes::Bytes;
use http::StatusCode;
use http_body_util::{BodyExt, Full};
use hyper::{body::Incoming, service::service_fn};
use hyper_util::rt::TokioIo;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use serde_json::json;
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

use super::*;
use crate::schema::{Node, SchemaRoot, Schemas};

/// A webhook server on loopback. The path of a request selects the answer.
struct Server {
    address: String,
    authority: String,
    /// Paths and reviews in the order of arrival.
    reviews: Arc<Mutex<Vec<(String, Value)>>>,
}

impl Server {
    async fn start() -> Self {
        let made = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap();
        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(made.signing_key.serialize_der()));
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config =
            rustls::ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
        let config =
            config.unwrap().with_no_client_auth().with_single_cert(vec![made.cert.der().clone()], key);
        let acceptor = TlsAcceptor::from(Arc::new(config.unwrap()));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let reviews = Arc::new(Mutex::new(Vec::new()));
        let server = Self {
            address: format!("https://{}", listener.local_addr().unwrap()),
            authority: BASE64_STANDARD.encode(made.cert.pem()),
            reviews: Arc::clone(&reviews),
        };
        tokio::spawn(async move {
            while let Ok((tcp, _)) = listener.accept().await {
                let (acceptor, reviews) = (acceptor.clone(), Arc::clone(&reviews));
                tokio::spawn(async move {
                    let Ok(stream) = acceptor.accept(tcp).await else { return };
                    let service = service_fn(move |request| answer(request, Arc::clone(&reviews)));
                    let _ = hyper::server::conn::http1::Builder::new()
                        .serve_connection(TokioIo::new(stream), service)
                        .await;
                });
            }
        });
        server
    }

    /// A webhook configuration for a path of the server, with additional fields.
    fn webhook(&self, path: &str, more: &Value) -> Value {
        let mut webhook = json!({
            "name": "a.b.c",
            "clientConfig": {"url": format!("{}{path}", self.address), "caBundle": self.authority},
            "admissionReviewVersions": ["v1"],
            "sideEffects": "None",
            "timeoutSeconds": 10,
            "rules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["*"], "resources": ["configmaps"]}],
        });
        for (field, value) in more.as_object().unwrap() {
            webhook[field] = value.clone();
        }
        webhook
    }

    fn paths(&self) -> Vec<String> {
        self.reviews.lock().unwrap().iter().map(|(path, _)| path.clone()).collect()
    }
}

async fn answer(
    request: http::Request<Incoming>,
    reviews: Arc<Mutex<Vec<(String, Value)>>>,
) -> Result<http::Response<Full<Bytes>>, Infallible> {
    let path = request.uri().path().to_owned();
    assert_eq!(request.uri().query().map(|query| query.starts_with("timeout=")), Some(true));
    let body = request.into_body().collect().await.unwrap().to_bytes();
    let review: Value = serde_json::from_slice(&body).unwrap();
    let mut response = json!({"uid": review["request"]["uid"], "allowed": true});
    let patch = |operations: Value| json!(BASE64_STANDARD.encode(operations.to_string()));
    let mut code = StatusCode::OK;
    match &*path {
        "/deny" => response["allowed"] = json!(false),
        "/deny-message" => {
            response["allowed"] = json!(false);
            response["status"] = json!({"message": "no way"});
        }
        "/deny-conflict" => {
            response["allowed"] = json!(false);
            response["status"] = json!({"code": 409, "reason": "Conflict", "details": {"name": "x"}});
        }
        "/warn" => response["warnings"] = json!(["careful"]),
        "/uid" => response["uid"] = json!("x"),
        "/broken" => code = StatusCode::INTERNAL_SERVER_ERROR,
        "/missing" => code = StatusCode::NOT_FOUND,
        "/one" => {
            response["patchType"] = json!("JSONPatch");
            response["patch"] = patch(json!([{"op": "add", "path": "/data/one", "value": "1"}]));
        }
        "/two" => {
            response["patchType"] = json!("JSONPatch");
            response["patch"] = patch(json!([{"op": "add", "path": "/data/two", "value": "2"}]));
        }
        "/untyped" => response["patch"] = patch(json!([])),
        "/unreadable" => {
            response["patchType"] = json!("JSONPatch");
            response["patch"] = json!(BASE64_STANDARD.encode("{"));
        }
        "/hang" => std::future::pending().await,
        _ => {}
    }
    let version = review["apiVersion"].clone();
    reviews.lock().unwrap().push((path, review));
    let body = json!({"apiVersion": version, "kind": "AdmissionReview", "response": response}).to_string();
    let response = http::Response::builder().status(code).header("content-type", "application/json");
    Ok(response.body(Full::new(Bytes::from(body))).unwrap())
}

fn resource(group: &str, version: &str, plural: &str, kind: &str) -> Arc<ResourceType> {
    let mut schemas = Schemas::default();
    let root = schemas.add(Node::default());
    Arc::new(ResourceType {
        group: group.into(),
        version: version.into(),
        storage_version: version.into(),
        plural: plural.into(),
        singular: "".into(),
        kind: kind.into(),
        list_kind: "".into(),
        short_names: Vec::new(),
        categories: Vec::new(),
        namespaced: plural != "namespaces",
        verbs: Vec::new(),
        subresources: Vec::new(),
        schema: SchemaRoot::new(Arc::new(schemas), root),
        custom: None,
    })
}

/// A request to create an object in the namespace `team`, with the server state that webhook calls need.
struct Case {
    kinds: Kinds,
    resource: Arc<ResourceType>,
    user: User,
    options: Value,
    services: ServiceWebhooks,
    operation: Operation,
    dry_run: bool,
}

impl Case {
    fn new(resource: Arc<ResourceType>) -> Self {
        Self {
            kinds: Kinds::new(vec![Arc::clone(&resource)], 1),
            resource,
            user: User { name: "admin".to_owned(), ..User::default() },
            options: json!({"kind": "CreateOptions", "apiVersion": "meta.k8s.io/v1"}),
            services: ServiceWebhooks::Ignore,
            operation: Operation::Create,
            dry_run: false,
        }
    }

    fn config_map() -> Self {
        Self::new(resource("", "v1", "configmaps", "ConfigMap"))
    }

    fn request(&self) -> WriteRequest<'_> {
        WriteRequest {
            operation: self.operation,
            resource: &self.resource,
            subresource: "",
            namespace: "team",
            name: "x",
            old: None,
            user: &self.user,
            dry_run: self.dry_run,
            options: &self.options,
        }
    }

    fn context(&self) -> AdmissionContext<'_> {
        AdmissionContext {
            kinds: &self.kinds,
            namespace: &|name| (name == "team").then(|| json!({"metadata": {"labels": {"name": "team"}}})),
            set_defaults: &|_| {},
            services: self.services,
        }
    }

    async fn validate(&self, webhooks: Vec<Value>) -> Result<Vec<String>, Status> {
        let webhooks = Webhooks::of(&[], &[json!({"metadata": {"name": "c"}, "webhooks": webhooks})]);
        validate(&webhooks, &self.request(), &self.context(), Some(&object())).await
    }

    async fn mutate(&self, webhooks: Vec<Value>) -> Result<(Value, Vec<String>), Status> {
        let webhooks = Webhooks::of(&[json!({"metadata": {"name": "c"}, "webhooks": webhooks})], &[]);
        let mutated = mutate(&webhooks, &self.request(), &self.context(), Some(object())).await;
        mutated.map(|(object, warnings)| (object.unwrap(), warnings))
    }

    /// True if a webhook with these fields matches the request.
    fn is_called(&self, more: &Value) -> bool {
        let mut webhook = json!({"name": "w", "rules": [rule(&json!({}))]});
        for (field, value) in more.as_object().unwrap() {
            webhook[field] = value.clone();
        }
        let webhooks = Webhooks::of(&[], &[json!({"metadata": {"name": "c"}, "webhooks": [webhook]})]);
        let invocation = matching::invocation(
            &webhooks.validating()[0],
            &self.request(),
            &self.context(),
            Some(&object()),
        );
        invocation.unwrap().is_some()
    }
}

fn object() -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x", "labels": {"a": "b"}}, "data": {}})
}

fn rule(more: &Value) -> Value {
    let mut rule = json!({"apiGroups": ["*"], "apiVersions": ["*"], "operations": ["*"], "resources": ["*"]});
    for (field, value) in more.as_object().unwrap() {
        rule[field] = value.clone();
    }
    rule
}

#[test]
fn rules_and_selectors_decide_which_webhooks_are_called() {
    let case = Case::config_map();
    let rules = |more: Value| json!({"rules": [rule(&more)]});
    for (webhook, expected) in [
        (json!({}), true),
        (json!({"rules": []}), false),
        (rules(json!({"operations": ["CREATE"]})), true),
        (rules(json!({"operations": ["UPDATE", "DELETE"]})), false),
        (rules(json!({"apiGroups": ["apps"]})), false),
        (rules(json!({"apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods", "configmaps"]})), true),
        (rules(json!({"resources": ["*/*"]})), true),
        (rules(json!({"resources": ["configmaps/*"]})), true),
        (rules(json!({"resources": ["configmaps/status"]})), false),
        (rules(json!({"scope": "Namespaced"})), true),
        (rules(json!({"scope": "Cluster"})), false),
        (json!({"objectSelector": {"matchLabels": {"a": "b"}}}), true),
        (json!({"objectSelector": {"matchLabels": {"a": "c"}}}), false),
        (json!({"namespaceSelector": {"matchLabels": {"name": "team"}}}), true),
        (json!({"namespaceSelector": {"matchLabels": {"name": "other"}}}), false),
        (json!({"matchConditions": [{"name": "c", "expression": "object.metadata.name == 'x'"}]}), true),
        (json!({"matchConditions": [{"name": "c", "expression": "request.operation == 'DELETE'"}]}), false),
        (
            json!({"failurePolicy": "Ignore", "matchConditions": [{"name": "c", "expression": "object.nope == 'x'"}]}),
            false,
        ),
    ] {
        assert_eq!(case.is_called(&webhook), expected, "{webhook}");
    }
    let configuration =
        Case::new(resource("admissionregistration.k8s.io", "v1", "x", "MutatingWebhookConfiguration"));
    assert!(matching::is_exempt(&configuration.request()));
}

#[test]
fn a_namespace_selector_matches_the_labels_being_written() {
    let mut case = Case::new(resource("", "v1", "namespaces", "Namespace"));
    assert!(case.is_called(&json!({"namespaceSelector": {"matchLabels": {"a": "b"}}})));
    assert!(case.is_called(&json!({"rules": [rule(&json!({"scope": "Cluster"}))]})));
    case.operation = Operation::Delete;
    let request = WriteRequest { name: "team", ..case.request() };
    let webhook = json!({
        "name": "w", "rules": [rule(&json!({}))], "namespaceSelector": {"matchLabels": {"name": "team"}},
    });
    let webhooks = Webhooks::of(&[], &[json!({"metadata": {"name": "c"}, "webhooks": [webhook]})]);
    let invocation = matching::invocation(&webhooks.validating()[0], &request, &case.context(), None);
    assert!(invocation.unwrap().is_some());
}

#[test]
fn a_condition_that_cannot_be_evaluated_forbids_the_request() {
    let case = Case::config_map();
    let webhook = json!({
        "name": "w", "rules": [rule(&json!({}))],
        "matchConditions": [{"name": "c", "expression": "object.metadata.nope == 'zz'"}],
    });
    let webhooks = Webhooks::of(&[], &[json!({"metadata": {"name": "c"}, "webhooks": [webhook]})]);
    let result =
        matching::invocation(&webhooks.validating()[0], &case.request(), &case.context(), Some(&object()));
    let status = result.unwrap_err();
    assert_eq!((status.code, &*status.reason), (403, "Forbidden"));
    let words =
        "configmaps \"x\" is forbidden: expression 'object.metadata.nope == 'zz'' resulted in error: ";
    assert!(status.message.starts_with(words), "{}", status.message);
}

#[tokio::test]
async fn a_webhook_denial_has_the_text_of_the_real_server() {
    let server = Server::start().await;
    let case = Case::config_map();
    for (path, code, reason, words) in [
        ("/deny", 400, "", "admission webhook \"a.b.c\" denied the request without explanation"),
        ("/deny-message", 400, "", "admission webhook \"a.b.c\" denied the request: no way"),
        ("/deny-conflict", 409, "Conflict", "admission webhook \"a.b.c\" denied the request: Conflict"),
    ] {
        let webhook = server.webhook(path, &json!({}));
        let status = case.validate(vec![webhook.clone()]).await.unwrap_err();
        assert_eq!((status.code, &*status.reason, &*status.message), (code, reason, words));
        assert_eq!(case.mutate(vec![webhook]).await.unwrap_err(), status);
    }
}

#[tokio::test]
async fn a_webhook_receives_the_request_details() {
    let server = Server::start().await;
    let warnings = Case::config_map().validate(vec![server.webhook("/warn", &json!({}))]).await.unwrap();
    assert_eq!(warnings, ["careful"]);
    let (_, mut review) = server.reviews.lock().unwrap().remove(0);
    assert!(review["request"]["uid"].take().is_string());
    let kind = json!({"group": "", "version": "v1", "kind": "ConfigMap"});
    let address = json!({"group": "", "version": "v1", "resource": "configmaps"});
    let expected = json!({
        "kind": "AdmissionReview", "apiVersion": "admission.k8s.io/v1",
        "request": {
            "uid": null, "kind": kind, "resource": address, "requestKind": kind, "requestResource": address,
            "name": "x", "namespace": "team", "operation": "CREATE", "userInfo": {"username": "admin"},
            "object": object(), "oldObject": null, "dryRun": false,
            "options": {"kind": "CreateOptions", "apiVersion": "meta.k8s.io/v1"},
        },
    });
    assert_eq!(review, expected);
}

#[tokio::test]
async fn an_old_webhook_receives_its_review_version() {
    let server = Server::start().await;
    let webhook = server.webhook("/one", &json!({"admissionReviewVersions": ["v9", "v1beta1", "v1"]}));
    let (object, _) = Case::config_map().mutate(vec![webhook]).await.unwrap();
    assert_eq!(object["data"], json!({"one": "1"}));
    assert_eq!(server.reviews.lock().unwrap()[0].1["apiVersion"], "admission.k8s.io/v1beta1");
    let webhook = server.webhook("/one", &json!({"admissionReviewVersions": ["v9"]}));
    let status = Case::config_map().mutate(vec![webhook]).await.unwrap_err();
    assert_eq!(status.code, 500);
}

#[tokio::test]
async fn a_webhook_can_be_reinvoked_after_another_changed_the_object() {
    let server = Server::start().await;
    let again = json!({"reinvocationPolicy": "IfNeeded"});
    let webhooks = vec![server.webhook("/one", &again), server.webhook("/two", &again)];
    let (object, _) = Case::config_map().mutate(webhooks).await.unwrap();
    assert_eq!(object["data"], json!({"one": "1", "two": "2"}));
    assert_eq!(server.paths(), ["/one", "/two", "/one"]);
}

#[tokio::test]
async fn webhook_configurations_are_called_in_name_order() {
    let server = Server::start().await;
    let configuration = |name: &str, path: &str| json!({"metadata": {"name": name}, "webhooks": [server.webhook(path, &json!({}))]});
    let webhooks = Webhooks::of(&[configuration("b", "/two"), configuration("a", "/one")], &[]);
    let case = Case::config_map();
    mutate(&webhooks, &case.request(), &case.context(), Some(object())).await.unwrap();
    assert_eq!(server.paths(), ["/one", "/two"]);
}

#[tokio::test]
async fn a_webhook_receives_other_versions_converted() {
    let server = Server::start().await;
    let (old, new) = (resource("e.com", "v1", "things", "Thing"), resource("e.com", "v2", "things", "Thing"));
    let mut case = Case::new(Arc::clone(&new));
    case.kinds = Kinds::new(vec![new, old], 1);
    let rules = json!({"rules": [rule(&json!({"apiVersions": ["v1"]}))]});
    let (object, _) = case.mutate(vec![server.webhook("/one", &rules)]).await.unwrap();
    assert_eq!(object["apiVersion"], "v1", "the version it came with is given back");
    assert_eq!(object["data"], json!({"one": "1"}));
    let review = server.reviews.lock().unwrap()[0].1.clone();
    assert_eq!(review["request"]["object"]["apiVersion"], "e.com/v1");
    assert_eq!(review["request"]["kind"]["version"], "v1");
    assert_eq!(review["request"]["requestKind"]["version"], "v2");
    let exact = server.webhook("/deny", &json!({"matchPolicy": "Exact", "rules": rules["rules"]}));
    case.mutate(vec![exact]).await.unwrap();
}

#[tokio::test]
async fn an_unreachable_webhook_fails_the_request_unless_ignored() {
    let server = Server::start().await;
    let case = Case::config_map();
    let url = &server.address;
    for (more, words) in [
        (json!({}), "received invalid webhook response: expected response.uid=".to_owned()),
        (
            json!({"clientConfig": {"url": format!("{url}/broken"), "caBundle": server.authority}}),
            "failed to call webhook: an error on the server (\"unknown\") has prevented the request from succeeding"
                .to_owned(),
        ),
        (
            json!({"clientConfig": {"url": format!("{url}/missing"), "caBundle": server.authority}}),
            "failed to call webhook: the server could not find the requested resource".to_owned(),
        ),
        (
            json!({"clientConfig": {"url": format!("{url}/x")}}),
            format!(
                "failed to call webhook: Post \"{url}/x?timeout=10s\": tls: failed to verify certificate: x509: \
                 certificate signed by unknown authority"
            ),
        ),
        (
            json!({"clientConfig": {"url": format!("{url}/untyped"), "caBundle": server.authority}}),
            "received invalid webhook response: validating webhook may not return response.patch".to_owned(),
        ),
    ] {
        let status = case.validate(vec![server.webhook("/uid", &more)]).await.unwrap_err();
        assert_eq!((status.code, &*status.reason), (500, "InternalError"));
        let start = format!("Internal error occurred: failed calling webhook \"a.b.c\": {words}");
        assert!(status.message.starts_with(&start), "{}", status.message);
        let mut ignored = more.clone();
        ignored["failurePolicy"] = json!("Ignore");
        case.validate(vec![server.webhook("/uid", &ignored)]).await.unwrap();
    }
    for (path, words) in [
        (
            "/untyped",
            "received invalid webhook response: webhook returned response.patch but not response.patchType",
        ),
        ("/unreadable", "received undecodable patch in webhook response: "),
    ] {
        let status = case.mutate(vec![server.webhook(path, &json!({}))]).await.unwrap_err();
        assert!(status.message.contains(words), "{}", status.message);
    }
}

#[tokio::test]
async fn an_unreachable_webhook_is_named_with_its_address() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let webhook = json!({
        "name": "a.b.c", "rules": [rule(&json!({}))], "sideEffects": "None", "admissionReviewVersions": ["v1"],
        "clientConfig": {"url": format!("https://{address}")}, "timeoutSeconds": 3,
    });
    let status = Case::config_map().validate(vec![webhook]).await.unwrap_err();
    let words = format!(
        "Internal error occurred: failed calling webhook \"a.b.c\": failed to call webhook: Post \
         \"https://{address}/?timeout=3s\": dial tcp {address}: connect: connection refused"
    );
    assert_eq!(status.message, words);
}

#[tokio::test]
async fn a_webhook_timeout_is_a_failure() {
    let server = Server::start().await;
    let webhook = server.webhook("/hang", &json!({}));
    let webhooks = Webhooks::of(&[], &[json!({"metadata": {"name": "c"}, "webhooks": [webhook]})]);
    let target = webhooks.validating()[0].url(ServiceWebhooks::Ignore).unwrap().unwrap();
    let authorities = BASE64_STANDARD.decode(&server.authority).unwrap();
    let answered = call::post(&target, &authorities, std::time::Duration::ZERO, b"{}".to_vec()).await;
    assert_eq!(answered.unwrap_err(), format!("Post \"{target}\": context deadline exceeded"));
}

#[tokio::test]
async fn a_dry_run_refuses_webhooks_with_side_effects() {
    let server = Server::start().await;
    let mut case = Case::config_map();
    case.dry_run = true;
    let status =
        case.validate(vec![server.webhook("/ok", &json!({"sideEffects": "Some"}))]).await.unwrap_err();
    assert_eq!(
        (status.code, &*status.message),
        (400, "admission webhook \"a.b.c\" does not support dry run")
    );
    case.validate(vec![server.webhook("/ok", &json!({"sideEffects": "NoneOnDryRun"}))]).await.unwrap();
    assert_eq!(server.reviews.lock().unwrap()[0].1["request"]["dryRun"], true);
}

#[tokio::test]
async fn a_webhook_behind_a_service_is_skipped_or_fails_by_setting() {
    let mut case = Case::config_map();
    let service = json!({"namespace": "ns", "name": "svc", "path": "/path"});
    let mut webhook = json!({
        "name": "x", "rules": [rule(&json!({}))], "sideEffects": "None", "timeoutSeconds": 10,
        "clientConfig": {"service": service}, "admissionReviewVersions": ["v1"],
    });
    case.validate(vec![webhook.clone()]).await.unwrap();
    case.services = ServiceWebhooks::Refuse;
    let status = case.validate(vec![webhook.clone()]).await.unwrap_err();
    let words = "Internal error occurred: failed calling webhook \"x\": failed to call webhook: Post \
                 \"https://svc.ns.svc:443/path?timeout=10s\": no endpoints available for service \"svc\"";
    assert_eq!(status.message, words);
    webhook["failurePolicy"] = json!("Ignore");
    case.validate(vec![webhook]).await.unwrap();
}

#[tokio::test]
async fn a_deletion_cannot_be_changed() {
    let server = Server::start().await;
    let mut case = Case::config_map();
    case.operation = Operation::Delete;
    let webhooks = json!({"metadata": {"name": "c"}, "webhooks": [server.webhook("/one", &json!({}))]});
    let webhooks = Webhooks::of(&[webhooks], &[]);
    let old = object();
    let request = WriteRequest { old: Some(&old), ..case.request() };
    let status = mutate(&webhooks, &request, &case.context(), None).await.unwrap_err();
    let words = "Internal error occurred: admission webhook \"a.b.c\" attempted to modify the object, which is not \
                 supported for this operation";
    assert_eq!(status.message, words);
}
