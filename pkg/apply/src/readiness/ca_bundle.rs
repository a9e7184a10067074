//! The trust of the API server in the endpoints it calls.

use data_encoding::BASE64;
use manifest::{Object, Value};

use super::client_configs::{Endpoint, client_configs};
use crate::{Health, Status};

/// The prefix of a certificate. Manifests contain a line feed instead if a controller must inject the certificate.
const PEM: &[u8] = b"-----BEGIN ";

/// Returns ready if every service that the object names has a certificate authority. No service of a cluster has a
/// certificate of a public authority.
pub(crate) fn ca_bundle_status(object: &Object) -> Status {
    let lacks =
        |config: &&Value| matches!(Endpoint::of(config), Some(Endpoint::Service { .. })) && !has_ca(config);
    let Some(config) = client_configs(object).find(lacks) else { return Status::of(Health::Current, "") };
    let service = &config["service"];
    let (namespace, name) = (service["namespace"].as_str(), service["name"].as_str());
    let message = format!(
        "has no CA bundle for service {}/{} yet",
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
