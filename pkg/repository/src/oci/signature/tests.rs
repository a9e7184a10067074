use std::path::{Path, PathBuf};

use ring::{
    rand::SystemRandom,
    signature::{ECDSA_P256_SHA256_ASN1_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair as _},
};
use serde_json::{Value, json};
use support::host::{FakeHost, Reply};
use tempfile::TempDir;
use transport::registry::{INDEX_MEDIA_TYPE, MANIFEST_MEDIA_TYPE};

use super::*;
use crate::{
    Error,
    oci::tests::{HOST, at, blob, manifest, put},
    open,
    testing::{settings, with_key},
};

/// The bytes before the raw key in a `PUBLIC KEY`. Source: RFC 5480 and RFC 8410.
const P256: &[u8] = b"\x30\x59\x30\x13\x06\x07\x2a\x86\x48\xce\x3d\x02\x01\x06\x08\x2a\x86\x48\xce\x3d\x03\x01\x07\x03\x42\x00";
const ED25519: &[u8] = b"\x30\x2a\x30\x05\x06\x03\x2b\x65\x70\x03\x21\x00";

/// A signing key.
enum Signer {
    Ecdsa(EcdsaKeyPair),
    Ed25519(Ed25519KeyPair),
}

impl Signer {
    fn ecdsa() -> Self {
        let (random, of) = (SystemRandom::new(), &ECDSA_P256_SHA256_ASN1_SIGNING);
        let key = EcdsaKeyPair::generate_pkcs8(of, &random).unwrap();
        Self::Ecdsa(EcdsaKeyPair::from_pkcs8(of, key.as_ref(), &random).unwrap())
    }

    fn ed25519() -> Self {
        let key = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).unwrap();
        Self::Ed25519(Ed25519KeyPair::from_pkcs8(key.as_ref()).unwrap())
    }

    fn sign(&self, text: &[u8]) -> String {
        STANDARD.encode(match self {
            Self::Ecdsa(key) => key.sign(&SystemRandom::new(), text).unwrap().as_ref().to_vec(),
            Self::Ed25519(key) => key.sign(text).as_ref().to_vec(),
        })
    }

    fn public_key(&self, folder: &Path) -> PathBuf {
        let (start, key) = match self {
            Self::Ecdsa(key) => (P256, key.public_key().as_ref()),
            Self::Ed25519(key) => (ED25519, key.public_key().as_ref()),
        };
        let path = folder.join("cosign.pub");
        let body = STANDARD.encode([start, key].concat());
        std::fs::write(&path, format!("-----BEGIN PUBLIC KEY-----\n{body}\n-----END PUBLIC KEY-----\n"))
            .unwrap();
        path
    }
}

/// A registry with one release.
struct Lab {
    host: FakeHost,
    digest: Digest,
    folder: TempDir,
}

impl Lab {
    fn new() -> Self {
        let host = FakeHost::internet();
        let metadata = blob(&host, Some("metadata.yaml"), "application/vnd.test.file", b"kind: Metadata\n");
        let digest = put(&host, "v2.9.0", &manifest(&[metadata], &json!({})));
        Self { host, digest, folder: tempfile::tempdir().unwrap() }
    }

    /// Reads a file that must be signed by this key.
    async fn read(&self, wanted: &Signer) -> Result<(), OciError> {
        self.read_at(&format!("oci://{HOST}/lab/aws:v2.9.0"), wanted).await
    }

    async fn read_at(&self, url: &str, wanted: &Signer) -> Result<(), OciError> {
        let key = wanted.public_key(self.folder.path());
        let context = with_key(settings(&self.host), "infrastructure-aws", key);
        let lab = open(url, "infrastructure-aws", None, &context).unwrap();
        match lab.read("v2.9.0", "metadata.yaml").await {
            Ok(_) => Ok(()),
            Err(Error::Oci(error)) => Err(*error),
            Err(other) => panic!("{other:?}"),
        }
    }

    fn asked_for_files(&self) -> bool {
        let metadata = Digest::of(b"kind: Metadata\n").to_string();
        self.host.addresses().iter().any(|address| address.ends_with(&metadata))
    }

    /// Adds a cosign 2 signature to the release.
    fn sign(&self, signer: &Signer, of: &str) {
        self.sign_as(signer, of, PAYLOAD_TYPE);
    }

    /// Adds a cosign 2 signature with another payload type to the release.
    fn sign_as(&self, signer: &Signer, of: &str, purpose: &str) {
        let payload = json!({"critical": {"identity": {"docker-reference": "lab/aws"},
            "image": {"docker-manifest-digest": of}, "type": purpose}, "optional": null});
        let payload = payload.to_string();
        let mut layer = blob(&self.host, None, SIMPLE_SIGNING, payload.as_bytes());
        layer["annotations"] = json!({SIGNATURE_ANNOTATION: signer.sign(payload.as_bytes())});
        put(&self.host, &format!("sha256-{}.sig", self.digest.hex()), &manifest(&[layer], &json!({})));
    }

    /// Adds a cosign 3 signature to the release. Returns the referrers index that lists the signature.
    fn sign_in_bundle(&self, signer: &Signer, predicate: &str, of: &Digest) -> Value {
        let statement = json!({"_type": "https://in-toto.io/Statement/v1",
            "subject": [{"digest": {"sha256": of.hex()}}],
            "predicateType": predicate});
        let statement = statement.to_string();
        let sig = signer.sign(&pre_authentication(IN_TOTO, statement.as_bytes()));
        let bundle = json!({"mediaType": BUNDLE, "dsseEnvelope": {"payload": STANDARD.encode(&statement),
            "payloadType": IN_TOTO, "signatures": [{"sig": sig}]}});
        let media_type = "application/vnd.dev.sigstore.bundle.v0.3+json";
        let layer = blob(&self.host, None, media_type, bundle.to_string().as_bytes());
        let digest = put(&self.host, "bundle", &manifest(&[layer], &json!({})));
        json!({"schemaVersion": 2, "mediaType": INDEX_MEDIA_TYPE, "manifests": [
            {"mediaType": MANIFEST_MEDIA_TYPE, "digest": digest, "size": 1, "artifactType": "application/vnd.oci.empty.v1+json"}]})
    }
}

#[tokio::test]
async fn a_signature_by_the_key_is_valid_for_every_kind_of_key() {
    for signer in [Signer::ecdsa(), Signer::ed25519()] {
        let lab = Lab::new();
        lab.sign(&signer, &lab.digest.to_string());
        assert_eq!(lab.read(&signer).await, Ok(()));
    }
}

// Row: D-200
#[tokio::test]
async fn without_a_signature_no_file_is_read() {
    let lab = Lab::new();
    let refused = lab.read(&Signer::ecdsa()).await;
    assert!(matches!(refused, Err(OciError::Unsigned { digest, .. }) if digest == lab.digest));
    assert!(!lab.asked_for_files());
}

#[tokio::test]
async fn a_pinned_digest_does_not_replace_a_signature() {
    let lab = Lab::new();
    let pinned = format!("oci://{HOST}/lab/aws:v2.9.0@{}", lab.digest);
    assert!(matches!(lab.read_at(&pinned, &Signer::ecdsa()).await, Err(OciError::Unsigned { .. })));
}

#[tokio::test]
async fn a_signature_by_another_key_is_refused() {
    let lab = Lab::new();
    lab.sign(&Signer::ecdsa(), &lab.digest.to_string());
    for wanted in [Signer::ecdsa(), Signer::ed25519()] {
        assert!(matches!(lab.read(&wanted).await, Err(OciError::SignedByOthers { found: 1, .. })));
    }
    assert!(!lab.asked_for_files());
}

#[tokio::test]
async fn a_valid_signature_of_another_artifact_is_refused() {
    let (lab, signer) = (Lab::new(), Signer::ecdsa());
    let other = Digest::of(b"other");
    lab.sign(&signer, &other.to_string());
    let refused = lab.read(&signer).await;
    assert!(
        matches!(refused, Err(OciError::SignatureMismatch { signed, .. }) if signed == other.to_string())
    );
    assert!(!lab.asked_for_files());
}

#[tokio::test]
async fn a_signature_for_another_purpose_is_refused() {
    let (lab, signer) = (Lab::new(), Signer::ecdsa());
    lab.sign_as(&signer, &lab.digest.to_string(), "something else");
    assert!(matches!(lab.read(&signer).await, Err(OciError::SignatureMismatch { .. })));
}

#[tokio::test]
async fn a_bundle_is_found_by_the_referrers_api_or_its_tag() {
    let signer = Signer::ecdsa();
    for by_tag in [false, true] {
        let lab = Lab::new();
        let list = lab.sign_in_bundle(&signer, SIGN_PREDICATE, &lab.digest);
        if by_tag {
            put(&lab.host, &format!("sha256-{}", lab.digest.hex()), &list);
        } else {
            let reply = Reply::status(200).header("content-type", INDEX_MEDIA_TYPE).body(list.to_string());
            lab.host.on(at(&format!("referrers/{}", lab.digest)), reply);
        }
        assert_eq!(lab.read(&signer).await, Ok(()));
        assert!(matches!(lab.read(&Signer::ecdsa()).await, Err(OciError::SignedByOthers { .. })));
    }
}

#[tokio::test]
async fn a_bundle_of_another_artifact_is_refused() {
    let (lab, signer) = (Lab::new(), Signer::ecdsa());
    let list = lab.sign_in_bundle(&signer, SIGN_PREDICATE, &Digest::of(b"other"));
    put(&lab.host, &format!("sha256-{}", lab.digest.hex()), &list);
    assert!(matches!(lab.read(&signer).await, Err(OciError::SignatureMismatch { .. })));
}

#[tokio::test]
async fn a_bundle_with_another_statement_is_refused() {
    let (lab, signer) = (Lab::new(), Signer::ecdsa());
    let list = lab.sign_in_bundle(&signer, "https://spdx.dev/Document", &lab.digest);
    put(&lab.host, &format!("sha256-{}", lab.digest.hex()), &list);
    assert!(matches!(lab.read(&signer).await, Err(OciError::Unsigned { .. })));
}

#[test]
fn a_key_for_a_provider_outside_a_registry_is_refused() {
    let context = with_key(transport::Settings::default(), "infrastructure-aws", PathBuf::from("cosign.pub"));
    let opened = open("/srv/infrastructure-aws/v2.9.0/c.yaml", "infrastructure-aws", None, &context);
    assert!(
        matches!(opened, Err(Error::Oci(error)) if matches!(*error, OciError::VerifyNeedsRegistry { .. }))
    );
}
