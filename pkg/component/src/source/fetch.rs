//! Artifacts behind URLs.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, PoisonError},
};

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

/// The most bytes of unpacked archives that are kept for further Components.
const MAX_KEPT_BYTES: usize = 64 << 20;

/// The last unpacked archives by digest, for Components that share a source. The clones share the archives.
#[derive(Clone, Default)]
pub struct UnpackedArchives(Arc<Mutex<VecDeque<(Digest, MemoryTree)>>>);

impl UnpackedArchives {
    fn get(&self, digest: &Digest) -> Option<MemoryTree> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.iter().find(|(known, _)| known == digest).map(|(_, tree)| tree.clone())
    }

    fn keep(&self, digest: Digest, tree: &MemoryTree) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.push_back((digest, tree.clone()));
        let mut bytes: usize = kept.iter().map(|(_, tree)| tree.size()).sum();
        while bytes > MAX_KEPT_BYTES
            && let Some((_, oldest)) = kept.pop_front()
        {
            bytes -= oldest.size();
        }
    }
}

/// Fetches the archive of a source. The digest of Flux is verified, and the archive is cached under it. An archive in
/// `kept` is neither fetched nor unpacked again.
/// # Errors
/// The archive cannot be fetched, has another digest, or is not accepted.
pub async fn fetch_artifact(
    artifact: &ArtifactReference,
    context: &RepositoryContext,
    kept: &UnpackedArchives,
) -> Result<MemoryTree, FetchError> {
    let ArtifactReference { url, digest, .. } = artifact;
    let shown = || transport::address::redact_text(url);
    // Other sources have opaque digests, such as an etag.
    let digest: Option<Digest> = digest.parse().ok();
    if let Some(known) = digest.as_ref().and_then(|digest| kept.get(digest)) {
        return Ok(known);
    }
    let fetched = match digest {
        Some(digest) => repository::fetch_verified(context, url, digest, AddressOrigin::FetchedFile).await,
        None => repository::fetch_file(context, url, AddressOrigin::FetchedFile).await,
    };
    let file = fetched.map_err(|source| FetchError::Download { url: shown(), source })?;
    let tree = unpack(&file.bytes).map_err(|source| FetchError::Archive { url: shown(), source })?;
    if let Some(digest) = digest {
        kept.keep(digest, &tree);
    }
    Ok(tree)
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
        let (kept, digest) = (UnpackedArchives::default(), Digest::of(b"archive"));
        let artifact = ArtifactReference {
            url: "https://gone.invalid/a.tgz".to_owned(),
            digest: digest.to_string(),
            ..ArtifactReference::default()
        };
        let tree = |bytes: usize| [("/a", vec![0; bytes])].into_iter().collect::<MemoryTree>();
        kept.clone().keep(digest, &tree(1));
        let found = fetch_artifact(&artifact, &RepositoryContext::default(), &kept).await.unwrap();
        assert_eq!(found.read(&TreePath::new("/a")).unwrap().len(), 1);
        // Large archives take the place of older ones.
        kept.keep(Digest::of(b"large"), &tree(MAX_KEPT_BYTES));
        assert!(kept.get(&digest).is_none());
        assert!(kept.get(&Digest::of(b"large")).is_some());
    }
}
