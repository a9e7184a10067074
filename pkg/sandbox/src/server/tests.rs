//! Tests of the server through in-process requests.

mod controllers;
mod custom;
mod faults;
mod fidelity;
mod limits;
mod restart;
mod tls;

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt as _, Full};
use serde_json::{Value, json};
use tower_service::Service as _;

use super::Sandbox;
use crate::{
    ControllerSwitches, Fault, Options,
    respond::{Body, ConnectionCut},
};

const CONFIG_MAPS: &str = "/api/v1/namespaces/default/configmaps";
const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

/// A sandbox without controllers.
async fn sandbox() -> Sandbox {
    start(Options::default()).await
}

async fn start(options: Options) -> Sandbox {
    Sandbox::start(Options { controllers: ControllerSwitches::none(), ..options }).await.unwrap()
}

async fn with_faults(faults: &[&str]) -> Sandbox {
    let faults = faults.iter().map(|fault| Fault::parse(fault).unwrap()).collect();
    start(Options { faults, ..Options::default() }).await
}

async fn send(
    sandbox: &Sandbox,
    method: &str,
    path: &str,
    body: impl Into<Bytes>,
) -> Result<Response<Body>, ConnectionCut> {
    let patch = if method == "PATCH" { "application/merge-patch+json" } else { "application/json" };
    let request = Request::builder().method(method).uri(path).header("content-type", patch);
    sandbox.clone().call(request.body(Full::new(body.into())).unwrap()).await
}

/// Sends a request. Returns the status code and the body.
async fn ask(sandbox: &Sandbox, method: &str, path: &str, body: &Value) -> (u16, Value) {
    let body = if body.is_null() { String::new() } else { body.to_string() };
    let response = send(sandbox, method, path, body).await.unwrap();
    let code = response.status().as_u16();
    let body = response.into_body().collect().await.unwrap().to_bytes();
    (code, serde_json::from_slice(&body).unwrap_or_default())
}

async fn get(sandbox: &Sandbox, path: &str) -> (u16, Value) {
    ask(sandbox, "GET", path, &Value::Null).await
}

fn config_map(name: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}})
}

/// The definition of a namespaced kind `Widget` whose spec has these properties.
fn definition(properties: &Value) -> Value {
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.example.com"},
        "spec": {
            "group": "example.com", "scope": "Namespaced", "names": {"plural": "widgets", "kind": "Widget"},
            "versions": [{
                "name": "v1", "served": true, "storage": true,
                "schema": {"openAPIV3Schema": {
                    "type": "object",
                    "properties": {"spec": {"type": "object", "properties": properties}},
                }},
            }],
        },
    })
}

fn widget(name: &str, spec: &Value) -> Value {
    json!({"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": name}, "spec": spec})
}

const WIDGETS: &str = "/apis/example.com/v1/namespaces/default/widgets";

/// An open watch, read by event.
struct Watch {
    body: Body,
    read: Vec<u8>,
}

impl Watch {
    async fn open(sandbox: &Sandbox, path: &str) -> Self {
        let response = send(sandbox, "GET", path, "").await.unwrap();
        assert_eq!(response.status(), 200);
        Self { body: response.into_body(), read: Vec::new() }
    }

    /// Returns the next event. `None` after a regular end.
    async fn next(&mut self) -> Option<Result<Value, ConnectionCut>> {
        loop {
            if let Some(end) = self.read.iter().position(|byte| *byte == b'\n') {
                let rest = self.read.split_off(end + 1);
                let line = std::mem::replace(&mut self.read, rest);
                return Some(Ok(serde_json::from_slice(&line).unwrap()));
            }
            match self.body.frame().await? {
                Ok(frame) => self.read.extend_from_slice(&frame.into_data().unwrap()),
                Err(cut) => return Some(Err(cut)),
            }
        }
    }
}
