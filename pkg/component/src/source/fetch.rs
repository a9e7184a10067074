//! Artifacts behind URLs.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, PoisonError},
};

use chart::MemoryTree;
use data_encoding::HEXLOWER;
use repository::RepositoryContext;
use serde_json::json;
use sha2::{Digest as _, Sha384, Sha512};
use transport::{AddressOrigin, Digest};

use super::{ArchiveError, FIELD, SourceState, sha256, unpack};
use crate::{ArtifactReference, HttpRepository, SourceReference, references::ReferenceError};

/// An artifact that cannot be fetched.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum FetchError {
    #[error("error downloading {url}")]
    Download { url: String, source: repository::Error },
    #[error("cannot verify `{url}`: `{digest}` is not a digest of sha256, sha384 or sha512")]
    UnknownDigest { url: String, digest: String },
    #[error("`{url}` has digest {found}, expected {expected}")]
    Digest { url: String, expected: String, found: String },
    #[error("error unpacking {url}: {source}")]
    Archive { url: String, source: ArchiveError },
}

/// The most bytes of unpacked archives that are kept for further Components.
const MAX_KEPT_BYTES: usize = 64 << 20;

/// The last unpacked archives by digest, for Components that share a source. The clones share the archives.
#[derive(Clone, Default)]
pub struct UnpackedArchives(Arc<Mutex<VecDeque<(String, MemoryTree)>>>);

impl UnpackedArchives {
    fn get(&self, digest: &str) -> Option<MemoryTree> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.iter().find(|(known, _)| known == digest).map(|(_, tree)| tree.clone())
    }

    fn keep(&self, digest: &str, tree: &MemoryTree) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.push_back((digest.to_owned(), tree.clone()));
        let mut bytes: usize = kept.iter().map(|(_, tree)| tree.size()).sum();
        while bytes > MAX_KEPT_BYTES
            && let Some((_, oldest)) = kept.pop_front()
        {
            bytes -= oldest.size();
        }
    }
}

/// The rule for digests that are not SHA-256.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OtherDigests {
    /// Verify digests of longer algorithms, and refuse all others, for sources of Flux.
    Verify,
    /// Ignore them, for sources with opaque digests, such as an etag.
    Ignore,
}

impl OtherDigests {
    /// Returns the rule for the source of a Component.
    pub fn of(source: &SourceReference) -> Self {
        if source.http_repository.is_some() { Self::Ignore } else { Self::Verify }
    }
}

/// Fetches the archive of a source, and verifies its digest. An archive with a SHA-256 digest is cached under it. An archive in
/// `kept` is neither fetched nor unpacked again.
/// # Errors
/// The archive cannot be fetched, has another digest, or is not accepted.
pub async fn fetch_artifact(
    artifact: &ArtifactReference,
    others: OtherDigests,
    context: &RepositoryContext,
    kept: &UnpackedArchives,
) -> Result<MemoryTree, FetchError> {
    let ArtifactReference { url, digest, .. } = artifact;
    let shown = || transport::address::redact_text(url);
    let (sha256, hash) = (digest.parse::<Digest>().ok(), long_hash(digest));
    let is_verified = sha256.is_some() || others == OtherDigests::Verify;
    if is_verified && let Some(known) = kept.get(digest) {
        return Ok(known);
    }
    let fetched = match (sha256, hash) {
        (Some(digest), _) => {
            repository::fetch_verified(context, url, digest, AddressOrigin::FetchedFile).await
        }
        (None, None) if is_verified => {
            return Err(FetchError::UnknownDigest { url: shown(), digest: digest.clone() });
        }
        (None, _) => repository::fetch_file(context, url, AddressOrigin::FetchedFile).await,
    };
    let file = fetched.map_err(|source| FetchError::Download { url: shown(), source })?;
    if is_verified && let Some(hash) = hash {
        let found = hash(&file.bytes);
        if found != *digest {
            return Err(FetchError::Digest { url: shown(), expected: digest.clone(), found });
        }
    }
    let tree = unpack(&file.bytes).map_err(|source| FetchError::Archive { url: shown(), source })?;
    if is_verified {
        kept.keep(digest, &tree);
    }
    Ok(tree)
}

/// Returns the hash function of a digest that is longer than SHA-256.
fn long_hash(digest: &str) -> Option<fn(&[u8]) -> String> {
    match digest.split_once(':')? {
        ("sha384", _) => Some(|bytes| format!("sha384:{}", HEXLOWER.encode(&Sha384::digest(bytes)))),
        ("sha512", _) => Some(|bytes| format!("sha512:{}", HEXLOWER.encode(&Sha512::digest(bytes)))),
        _ => None,
    }
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

#[cfg(test)]
mod tests {
    use chart::{Tree as _, TreePath};

    use super::*;

    #[tokio::test]
    async fn an_archive_of_several_components_is_unpacked_once() {
        let (kept, digest) = (UnpackedArchives::default(), Digest::of(b"archive").to_string());
        let tree = |bytes: usize| [("/a", vec![0; bytes])].into_iter().collect::<MemoryTree>();
        kept.clone().keep(&digest, &tree(1));
        let found = fetch("https://gone.invalid/a.tgz", &digest, OtherDigests::Verify, &kept).await.unwrap();
        assert_eq!(found.read(&TreePath::new("/a")).unwrap().len(), 1);
        // Large archives take the place of older ones.
        kept.keep("sha512:large", &tree(MAX_KEPT_BYTES));
        assert!(kept.get(&digest).is_none());
        assert!(kept.get("sha512:large").is_some());
    }

    async fn fetch(
        url: &str,
        digest: &str,
        others: OtherDigests,
        kept: &UnpackedArchives,
    ) -> Result<MemoryTree, FetchError> {
        let artifact = ArtifactReference {
            url: url.to_owned(),
            digest: digest.to_owned(),
            ..ArtifactReference::default()
        };
        fetch_artifact(&artifact, others, &RepositoryContext::default(), kept).await
    }
}
