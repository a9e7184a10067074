//! The kubeconfig of a sandbox.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::{Value, json};

use crate::identity::Identity;

/// Returns a kubeconfig with one context, named like the sandbox. The output is JSON, which every kubeconfig reader
/// accepts as YAML. `server` is the URL, such as `https://127.0.0.1:40000`.
pub fn kubeconfig(name: &str, server: &str, identity: &Identity) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": name,
        "clusters": [{
            "name": name,
            "cluster": {
                "server": server,
                "certificate-authority-data": STANDARD.encode(identity.ca_certificate()),
            },
        }],
        "users": [{"name": name, "user": {"token": identity.token()}}],
        "contexts": [{"name": name, "context": {"cluster": name, "user": name}}],
    })
}
