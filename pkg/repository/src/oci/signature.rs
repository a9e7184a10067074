//! Verification of cosign signatures with a public key.
//!
//! cosign stores signatures in the repository of the artifact, in one of two forms. Both are supported.
//! - Versions 1 and 2: an image under the tag `sha256-{digest}.sig`. Each layer is a payload, with its signature in an
//!   annotation.
//! - Version 3: a manifest that refers to the artifact and contains a Sigstore bundle.
//!
//! Certificates (keyless signing) and the transparency log are ignored.
//! Source: cosign specs/SIGNATURE_SPEC.md and BUNDLE_SPEC.md; sigstore protobuf-specs (bundle); secure-systems-lab
//! DSSE.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde::Deserialize;
use transport::{
    Digest,
    http::Request,
    registry::{Descriptor, ManifestDocument, Reference, Registry, parse_manifest},
};

use super::{OciError, key::PublicKey};
use crate::Error;

const SIMPLE_SIGNING: &str = "application/vnd.dev.cosign.simplesigning.v1+json";
const SIGNATURE_ANNOTATION: &str = "dev.cosignproject.cosign/signature";
const PAYLOAD_TYPE: &str = "cosign container image signature";
const BUNDLE: &str = "application/vnd.dev.sigstore.bundle";
const IN_TOTO: &str = "application/vnd.in-toto+json";
/// The predicate of a signature. Other statements about an artifact, such as its build inputs, do not count as
/// signatures.
const SIGN_PREDICATE: &str = "https://sigstore.dev/cosign/sign/v1";

/// The maximum number of signatures to read per artifact.
const MAX_SIGNATURES: usize = 100;

/// A signature and the text it signs.
#[derive(Debug)]
struct SignedText {
    /// The signed text.
    text: Vec<u8>,
    signature: Vec<u8>,
    /// The digests that the text refers to, as written.
    digests: Vec<String>,
}

#[derive(Deserialize)]
struct Payload {
    critical: Critical,
}

#[derive(Deserialize)]
struct Critical {
    image: SignedImage,
    #[serde(rename = "type")]
    payload_type: String,
}

#[derive(Deserialize)]
struct SignedImage {
    #[serde(rename = "docker-manifest-digest")]
    digest: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Bundle {
    dsse_envelope: Option<Envelope>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Envelope {
    payload: String,
    payload_type: String,
    signatures: Vec<EnvelopeSignature>,
}

#[derive(Deserialize)]
struct EnvelopeSignature {
    sig: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Statement {
    subject: Vec<Subject>,
    predicate_type: String,
}

#[derive(Deserialize)]
struct Subject {
    digest: SubjectDigest,
}

#[derive(Deserialize)]
struct SubjectDigest {
    sha256: Option<String>,
}

/// Fails unless a manifest is signed by a key.
/// # Errors
/// [`OciError::Unsigned`], [`OciError::SignedByOthers`], [`OciError::SignatureMismatch`]; any failure of a request.
pub(super) async fn verify(
    registry: &Registry,
    repository: &str,
    address: &str,
    digest: &Digest,
    key: &PublicKey,
) -> Result<(), Error> {
    let mut found = signatures_in_tag(registry, repository, digest).await?;
    let verdict = check_signatures(&found, address, digest, key);
    if verdict.is_ok() {
        return Ok(());
    }
    found.extend(signatures_in_referrers(registry, repository, digest).await?);
    Ok(check_signatures(&found, address, digest, key)?)
}

fn check_signatures(
    found: &[SignedText],
    address: &str,
    digest: &Digest,
    key: &PublicKey,
) -> Result<(), OciError> {
    let address = address.to_owned();
    let by_key: Vec<&SignedText> =
        found.iter().filter(|signed| key.verify(&signed.text, &signed.signature)).collect();
    let is_of_digest = |signed: &&SignedText| signed.digests.iter().any(|of| *of == digest.to_string());
    match (found, by_key.as_slice()) {
        ([], _) => Err(OciError::Unsigned { address, digest: *digest }),
        (_, ours) if ours.iter().any(is_of_digest) => Ok(()),
        (_, [other, ..]) => {
            Err(OciError::SignatureMismatch { address, digest: *digest, signed: other.digests.join(", ") })
        }
        (found, []) => Err(OciError::SignedByOthers {
            address,
            digest: *digest,
            found: found.len(),
            key: key.path().to_owned(),
        }),
    }
}

/// The signatures under the tag derived from the digest.
async fn signatures_in_tag(
    registry: &Registry,
    repository: &str,
    digest: &Digest,
) -> Result<Vec<SignedText>, Error> {
    let tag = Reference::of_signature(digest);
    let Some(found) = registry.manifest(repository, &tag).await? else { return Ok(Vec::new()) };
    let ManifestDocument::Manifest(manifest) = found.document else { return Ok(Vec::new()) };
    let mut signatures = Vec::new();
    for layer in
        manifest.layers.iter().filter(|layer| layer.media_type == SIMPLE_SIGNING).take(MAX_SIGNATURES)
    {
        let Some(signature) = layer.annotations.get(SIGNATURE_ANNOTATION) else { continue };
        let text = read_blob(registry, repository, layer).await?;
        let Ok(payload) = serde_json::from_slice::<Payload>(&text) else { continue };
        let of = (payload.critical.payload_type == PAYLOAD_TYPE).then_some(payload.critical.image.digest);
        let Ok(signature) = STANDARD.decode(signature) else { continue };
        signatures.push(SignedText { text, signature, digests: of.into_iter().collect() });
    }
    Ok(signatures)
}

/// The signatures in bundles that refer to the manifest. If the registry has no referrers API, the fallback tag lists
/// them.
async fn signatures_in_referrers(
    registry: &Registry,
    repository: &str,
    digest: &Digest,
) -> Result<Vec<SignedText>, Error> {
    let url = registry.url(repository, &format!("referrers/{digest}")).await?;
    let request = Request::get(url);
    let listed = if let Some(answer) = registry.get(repository, &request).await? {
        let address = registry.address(repository, Some(&Reference::Digest(*digest)));
        let parsed = parse_manifest(&answer.bytes, answer.media_type.as_deref());
        let (_, document) =
            parsed.map_err(|error| error.into_error(&address, &request, "a list of referrers"))?;
        Some(document)
    } else {
        let tag = Reference::Tag(format!("sha256-{}", digest.hex()));
        registry.manifest(repository, &tag).await?.map(|found| found.document)
    };
    let Some(ManifestDocument::Index(index)) = listed else { return Ok(Vec::new()) };
    let mut signatures = Vec::new();
    for entry in index.manifests.iter().take(MAX_SIGNATURES) {
        // The fallback tag lists the type of the configuration, so only the layers identify a bundle.
        let reference = Reference::Digest(entry.digest);
        let Some(found) = registry.manifest(repository, &reference).await? else { continue };
        let ManifestDocument::Manifest(manifest) = found.document else { continue };
        for layer in manifest.layers.iter().filter(|layer| layer.media_type.starts_with(BUNDLE)) {
            signatures.extend(signatures_in_bundle(&read_blob(registry, repository, layer).await?));
        }
    }
    Ok(signatures)
}

/// The signatures in a bundle. Empty if the bundle has another format.
fn signatures_in_bundle(bytes: &[u8]) -> Vec<SignedText> {
    let read = || {
        let envelope = serde_json::from_slice::<Bundle>(bytes).ok()?.dsse_envelope?;
        let payload = STANDARD.decode(&envelope.payload).ok()?;
        let of: Vec<String> = match serde_json::from_slice::<Statement>(&payload) {
            Ok(statement)
                if envelope.payload_type == IN_TOTO && statement.predicate_type == SIGN_PREDICATE =>
            {
                statement
                    .subject
                    .into_iter()
                    .filter_map(|subject| Some(format!("sha256:{}", subject.digest.sha256?)))
                    .collect()
            }
            _ => return None,
        };
        let text = pre_authentication(&envelope.payload_type, &payload);
        let signed = envelope.signatures.iter().filter_map(|signature| {
            let signature = STANDARD.decode(&signature.sig).ok()?;
            Some(SignedText { text: text.clone(), signature, digests: of.clone() })
        });
        Some(signed.collect())
    };
    read().unwrap_or_default()
}

/// The text that the signature of an envelope signs.
/// Source: DSSE protocol, "PAE".
fn pre_authentication(payload_type: &str, payload: &[u8]) -> Vec<u8> {
    let mut text = format!("DSSEv1 {} {payload_type} {} ", payload_type.len(), payload.len()).into_bytes();
    text.extend_from_slice(payload);
    text
}

async fn read_blob(registry: &Registry, repository: &str, layer: &Descriptor) -> Result<Vec<u8>, Error> {
    Ok(registry.small_blob(repository, layer).await?.to_vec())
}

#[cfg(test)]
mod tests;
