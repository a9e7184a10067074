//! The Secrets of a Cluster: its certificate authorities and the kubeconfig.
//!
//! Source: Cluster API v1.14 `util/secret` and `util/kubeconfig`.

use base64::{Engine as _, prelude::BASE64_STANDARD};
use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose,
};
use serde_json::{Value, json};

use super::{
    object::{CLUSTER_NAME, ObjectRef, name, namespace, non_null, owner_reference, text},
    plan::{ObjectReader, WritePlan},
};

/// Certificate authorities, by the suffix of the name of their Secret.
const AUTHORITIES: [&str; 3] = ["ca", "etcd", "proxy"];

/// Creates missing Secrets and keeps user-provided Secrets.
pub(super) fn ensure(reader: &ObjectReader<'_>, cluster: &Value, owner: &Value, plan: &mut WritePlan) {
    for purpose in AUTHORITIES {
        if get(reader, cluster, purpose).is_none()
            && let Ok((certificate, key)) = authority()
        {
            plan.create(certificate_secret(cluster, owner, purpose, &certificate, &key));
        }
    }
    if get(reader, cluster, "sa").is_none()
        && let Ok(key) = KeyPair::generate()
    {
        plan.create(certificate_secret(cluster, owner, "sa", &key.public_key_pem(), &key.serialize_pem()));
    }
    ensure_kubeconfig(reader, cluster, owner, plan);
}

/// Creates the kubeconfig once an endpoint and, for kubeadm, a certificate authority exist.
pub(super) fn ensure_kubeconfig(
    reader: &ObjectReader<'_>,
    cluster: &Value,
    owner: &Value,
    plan: &mut WritePlan,
) {
    let endpoint = non_null(cluster, "/spec/controlPlaneEndpoint/host").is_some_and(|host| host != "");
    if !endpoint || get(reader, cluster, "kubeconfig").is_some() {
        return;
    }
    let found = get(reader, cluster, "ca")
        .and_then(|secret| Some((data(&secret, "tls.crt")?, data(&secret, "tls.key")?)));
    // Control planes without Machines keep their certificate authority elsewhere.
    let is_kubeadm = owner["kind"] == "KubeadmControlPlane";
    let authority = match found {
        Some(found) => Ok(found),
        None if is_kubeadm => return,
        None => authority(),
    };
    let Ok((certificate, key)) = authority else { return };
    let user = client_certificate(&key).unwrap_or_default();
    let config = kubeconfig(cluster, &certificate, &user);
    plan.create(secret(cluster, owner, "kubeconfig", &json!({"value": BASE64_STANDARD.encode(config)})));
}

fn get(reader: &ObjectReader<'_>, cluster: &Value, purpose: &str) -> Option<Value> {
    reader.get(&ObjectRef::new("", "Secret", namespace(cluster), &format!("{}-{purpose}", name(cluster))))
}

fn data(secret: &Value, key: &str) -> Option<String> {
    let bytes = BASE64_STANDARD.decode(secret["data"][key].as_str()?).ok()?;
    String::from_utf8(bytes).ok()
}

fn secret(cluster: &Value, owner: &Value, purpose: &str, data: &Value) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Secret", "type": "cluster.x-k8s.io/secret",
        "metadata": {
            "name": format!("{}-{purpose}", name(cluster)), "namespace": namespace(cluster),
            "labels": {CLUSTER_NAME: name(cluster)}, "ownerReferences": [owner_reference(owner, true)],
        },
        "data": data,
    })
}

fn certificate_secret(cluster: &Value, owner: &Value, purpose: &str, certificate: &str, key: &str) -> Value {
    let data =
        json!({"tls.crt": BASE64_STANDARD.encode(certificate), "tls.key": BASE64_STANDARD.encode(key)});
    secret(cluster, owner, purpose, &data)
}

fn authority_params() -> CertificateParams {
    let mut params = CertificateParams::default();
    params.distinguished_name.push(DnType::CommonName, "kubernetes");
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.key_usages = vec![KeyUsagePurpose::DigitalSignature, KeyUsagePurpose::KeyCertSign];
    params
}

/// Creates a certificate authority: certificate and key in PEM.
fn authority() -> Result<(String, String), rcgen::Error> {
    let key = KeyPair::generate()?;
    let certificate = authority_params().self_signed(&key)?;
    Ok((certificate.pem(), key.serialize_pem()))
}

/// Creates the client certificate of the administrator and its key, in PEM. `None` if the authority key is invalid.
fn client_certificate(authority_key: &str) -> Option<(String, String)> {
    let issuer = Issuer::new(authority_params(), KeyPair::from_pem(authority_key).ok()?);
    let key = KeyPair::generate().ok()?;
    let mut params = CertificateParams::default();
    params.distinguished_name.push(DnType::CommonName, "kubernetes-admin");
    params.distinguished_name.push(DnType::OrganizationName, "system:masters");
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
    let certificate = params.signed_by(&key, &issuer).ok()?;
    Some((certificate.pem(), key.serialize_pem()))
}

/// Formats a kubeconfig like `client-go`.
fn kubeconfig(cluster: &Value, authority: &str, (certificate, key): &(String, String)) -> String {
    let name = name(cluster);
    let host = text(cluster, "/spec/controlPlaneEndpoint/host");
    let port = &cluster["spec"]["controlPlaneEndpoint"]["port"];
    let encode = |text: &str| BASE64_STANDARD.encode(text);
    format!(
        "apiVersion: v1\n\
         clusters:\n- cluster:\n    certificate-authority-data: {}\n    server: https://{host}:{port}\n  name: {name}\n\
         contexts:\n- context:\n    cluster: {name}\n    user: {name}-admin\n  name: {name}-admin@{name}\n\
         current-context: {name}-admin@{name}\n\
         kind: Config\n\
         preferences: {{}}\n\
         users:\n- name: {name}-admin\n  user:\n    client-certificate-data: {}\n    client-key-data: {}\n",
        encode(authority),
        encode(certificate),
        encode(key),
    )
}
