//! Artifacts behind URLs.

use chart::MemoryTree;
use repository::RepositoryContext;
use transport::{AddressOrigin, Digest};

use serde_json::json;

use super::{ArchiveError, FIELD, SourceState, sha256, unpack};
use crate::{ArtifactReference, HttpRepository, references::ReferenceError};

/// An artifact that cannot be fetched.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum FetchError {
    #[error("error downloading {url}")]
    Download { url: String, source: repository::Error },
    #[error("error unpacking {url}: {source}")]
    Archive { url: String, source: ArchiveError },
}

/// Fetches the archive of a source. The digest of Flux is verified, and the archive is cached under it.
/// # Errors
/// The archive cannot be fetched, has another digest, or is not accepted.
pub async fn fetch_artifact(
    artifact: &ArtifactReference,
    context: &RepositoryContext,
) -> Result<MemoryTree, FetchError> {
    let ArtifactReference { url, digest, .. } = artifact;
    let shown = || transport::address::redact_text(url);
    // Other sources have opaque digests, such as an etag.
    let digest: Option<Digest> = digest.parse().ok();
    let fetched = match digest {
        Some(digest) => repository::fetch_verified(context, url, digest, AddressOrigin::FetchedFile).await,
        None => repository::fetch_file(context, url, AddressOrigin::FetchedFile).await,
    };
    let file = fetched.map_err(|source| FetchError::Download { url: shown(), source })?;
    unpack(&file.bytes).map_err(|source| FetchError::Archive { url: shown(), source })
}

/// Asks for the digest and the revision of an archive behind a URL.
/// Source: component-operator 0.3 (`httpRepository`).
/// # Errors
/// The request fails, or the response has no digest or revision. A later run may succeed.
pub async fn http_state(
    repository: &HttpRepository,
    context: &RepositoryContext,
) -> Result<SourceState, ReferenceError> {
    let url = &repository.url;
    let headers = repository::fetch_headers(context, url, AddressOrigin::FetchedFile).await;
    let headers = headers.map_err(|error| {
        ReferenceError::new(
            FIELD,
            format!("error calling source reference URL: {}", api::with_causes(&error)),
        )
    })?;
    let named = |name: &Option<String>| name.clone().filter(|name| !name.is_empty());
    let digest_header = named(&repository.digest_header).unwrap_or_else(|| "etag".to_owned());
    let revision_header = named(&repository.revision_header).unwrap_or_else(|| digest_header.clone());
    let read = |header: &str, name: &str| {
        let value = headers.get(header).and_then(|value| value.to_str().ok()).unwrap_or_default();
        let missing = || ReferenceError::new(FIELD, format!("missing {name} on source reference"));
        if value.is_empty() { Err(missing()) } else { Ok(value.to_owned()) }
    };
    let artifact = ArtifactReference {
        url: url.clone(),
        digest: read(&digest_header, "digest")?,
        revision: read(&revision_header, "revision")?,
    };
    let digest = sha256(&json!({"url": url, "digest": artifact.digest, "revision": artifact.revision}));
    Ok(SourceState { digest, artifact, files: None })
}
