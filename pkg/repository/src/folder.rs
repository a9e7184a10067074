mod index;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use api::{Version, VersionOrLatest};
use futures::{FutureExt as _, future::BoxFuture};
use transport::{
    AddressOrigin, Digest, RequestFailure, RequestPurpose,
    address::{percent_encode_path, redact_url},
    http::{CachePolicy, Request, fetch_cached, parse_address, remove_cached},
    names::{check_file, check_version},
};
use url::Url;

pub use index::{FolderIndex, InvalidFolderIndex};

use crate::{Error, File, FileSource, FolderLocation, Repository, RepositoryContext, repository};

/// The index file, which lists the versions of a folder.
const INDEX: &str = "index.json";

/// A web folder: `{base}/{version}/{file}` on any web server.
///
/// Web servers have no reliable directory listing, so versions come from an index file in the folder. Without an index,
/// a pinned version still works. With an index, each file is checked against its listed digest.
#[derive(Debug)]
pub(crate) struct WebFolderRepository {
    location: FolderLocation,
    context: RepositoryContext,
}

impl WebFolderRepository {
    pub(crate) fn new(location: FolderLocation, context: RepositoryContext) -> Self {
        Self { location, context }
    }

    fn address(&self, path: &str) -> Result<Url, transport::Error> {
        parse_address(&format!("{}{}", self.location.base, percent_encode_path(path)))
    }

    async fn request(&self, path: &str) -> Result<Request, Error> {
        let url = self.address(path)?;
        let credential = self.context.credential_for(&url, RequestPurpose::File(AddressOrigin::User)).await?;
        Ok(Request::get(url).with_credential(credential))
    }

    /// Returns the index, requested once per process. `None` if the folder has no index.
    async fn index(&self) -> Result<Option<Arc<FolderIndex>>, Error> {
        let key = self.address(INDEX)?.to_string();
        let ask = async {
            let request = self.request(INDEX).await?;
            match fetch_cached(&self.context, &request, CachePolicy::Revalidate).await {
                Ok(answer) => match FolderIndex::parse(&answer.bytes) {
                    Ok(index) => Ok(Some(Arc::new(index))),
                    Err(error) => Err(Error::from(request.to_error(RequestFailure::InvalidResponse {
                        what: "the index of a web folder",
                        source: Box::new(error),
                    }))),
                },
                Err(error) if error.is_missing() => Ok(None),
                Err(error) => Err(error.into()),
            }
        };
        self.context.cached_results().get(&key, ask).await
    }

    async fn require_index(&self) -> Result<Arc<FolderIndex>, Error> {
        self.index().await?.ok_or_else(|| Error::CannotList { place: self.display_address() })
    }

    async fn read_file(&self, version: &str, file: &str) -> Result<File, Error> {
        check_version(version)?;
        check_file(file)?;
        let index = match self.index().await {
            // A missing index is not cached; a file of a pinned version may be cached all the same.
            Err(error) if error.is_offline() => None,
            index => index?,
        };
        let spelled = index.as_ref().and_then(|index| index.stored_version(version)).unwrap_or(version);
        let path = format!("{spelled}/{file}");
        let key = self.address(&path)?.to_string();
        let fetch = async {
            let request = self.request(&path).await?;
            let looked_at = redact_url(&request.url);
            match fetch_cached(&self.context, &request, CachePolicy::Immutable).await {
                Ok(answer) => {
                    let expected = index.as_ref().and_then(|index| index.digest(spelled, file));
                    check_digest(&looked_at, expected, &answer.bytes)
                        .inspect_err(|_| remove_cached(&self.context, &request))?;
                    Ok(File { bytes: answer.bytes, source: FileSource::Url(looked_at) })
                }
                Err(error) if error.is_missing() => {
                    Err(self.missing_error(index.as_deref(), version, file, looked_at))
                }
                Err(error) => Err(error.into()),
            }
        };
        self.context.cached_results().get(&key, fetch).await
    }

    fn missing_error(
        &self,
        index: Option<&FolderIndex>,
        version: &str,
        file: &str,
        looked_at: String,
    ) -> Error {
        let (version, place) = (version.to_owned(), self.display_address());
        match index {
            Some(index) if index.stored_version(&version).is_none() => {
                let available = index.versions().iter().map(|known| known.as_str().to_owned()).collect();
                Error::UnknownRelease { version, place, available }
            }
            _ => {
                let available = index.and_then(|index| index.files(&version)).unwrap_or_default();
                Error::UnknownFile { file: file.to_owned(), version, place, looked_at, available }
            }
        }
    }
}

fn check_digest(place: &str, expected: Option<&Digest>, bytes: &[u8]) -> Result<(), Error> {
    let Some(expected) = expected else { return Ok(()) };
    let found = Digest::of(bytes);
    if found == *expected {
        return Ok(());
    }
    Err(transport::Error::Digest { place: place.to_owned(), expected: *expected, found }.into())
}

impl Repository for WebFolderRepository {
    fn default_version(&self) -> Result<VersionOrLatest, Error> {
        repository::default_version(self, &self.location.version)
    }

    fn versions(&self) -> BoxFuture<'_, Result<Vec<Version>, Error>> {
        async move {
            let index = self.require_index().await?;
            repository::require_versions(self, index.versions(), index.names())
        }
        .boxed()
    }

    fn read<'a>(&'a self, version: &'a str, file: &'a str) -> BoxFuture<'a, Result<File, Error>> {
        self.read_file(version, file).boxed()
    }

    fn files<'a>(&'a self, version: &'a str) -> BoxFuture<'a, Result<Vec<String>, Error>> {
        async move {
            check_version(version)?;
            let index = self.require_index().await?;
            if index.stored_version(version).is_none() {
                return Err(self.missing_error(Some(&index), version, "", String::new()));
            }
            index.files(version).ok_or_else(|| Error::CannotList { place: self.display_address() })
        }
        .boxed()
    }

    fn components_file(&self) -> &str {
        &self.location.file
    }

    fn display_address(&self) -> String {
        redact_url(&self.location.base).trim_end_matches('/').to_owned()
    }
}
