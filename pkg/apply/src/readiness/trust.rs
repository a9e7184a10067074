//! Whether the API server can trust whom it calls.

use data_encoding::BASE64;
use manifest::{Object, Value};

use super::clients::{Endpoint, client_configs};
use crate::{Health, Status};

/// How a certificate begins. Manifests hold a line feed instead, where one is to be filled in.
const PEM: &[u8] = b"-----BEGIN ";

/// Ready when every service the object makes the API server call has a certificate authority: no service of a cluster
/// has a certificate of a public one.
pub(crate) fn trust_of(object: &Object) -> Status {
    let lacks =
        |config: &&Value| matches!(Endpoint::of(config), Some(Endpoint::Service { .. })) && !has_ca(config);
    let Some(config) = client_configs(object).find(lacks) else { return Status::of(Health::Current, "") };
    let service = &config["service"];
    let (namespace, name) = (service["namespace"].as_str(), service["name"].as_str());
    let message = format!(
        "has no certificate authority for service {}/{} yet",
        namespace.unwrap_or_default(),
        name.unwrap_or_default()
    );
    Status::of(Health::InProgress, message)
}

fn has_ca(client_config: &Value) -> bool {
    let bundle = client_config["caBundle"].as_str().unwrap_or_default();
    let decoded = BASE64.decode(bundle.as_bytes()).unwrap_or_default();
    decoded.windows(PEM.len()).any(|window| window == PEM)
}
