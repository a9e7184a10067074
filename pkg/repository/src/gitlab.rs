use api::{Version, VersionOrLatest};
use futures::{FutureExt as _, future::BoxFuture};
use transport::{
    AddressOrigin, RequestPurpose,
    address::{percent_decode, percent_encode_path, redact_url},
    http::{CachePolicy, Request, fetch_cached, parse_address},
    names::{check_file, check_version},
};

use crate::{Error, File, FileSource, GitLabLocation, Repository, RepositoryContext, repository};

/// Generic packages of a project on GitLab. Each file needs one request. Listing versions would require permissions on
/// the project.
/// Source: clusterctl v1.14 client/repository/repository_gitlab.go. Differs: 429, 5xx and lost connections are retried,
/// and `latest` is rejected instead of being requested as a version.
#[derive(Debug)]
pub(crate) struct GitLabRepository {
    location: GitLabLocation,
    context: RepositoryContext,
}

impl GitLabRepository {
    pub(crate) fn new(location: GitLabLocation, context: RepositoryContext) -> Self {
        Self { location, context }
    }

    async fn read_file(&self, version: &str, file: &str) -> Result<File, Error> {
        check_version(version)?;
        check_file(file)?;
        let address = format!(
            "{}/{}/{}",
            self.display_address(),
            percent_encode_path(version),
            percent_encode_path(file)
        );
        let url = parse_address(&address)?;
        let key = url.to_string();
        let fetch = async {
            let looked_at = redact_url(&url);
            let credential =
                self.context.credential_for(&url, RequestPurpose::File(AddressOrigin::User)).await?;
            let request = Request::get(url).with_credential(credential);
            match fetch_cached(&self.context, &request, CachePolicy::Immutable).await {
                Ok(answer) => Ok(File { bytes: answer.bytes, source: FileSource::Url(looked_at) }),
                Err(error) if error.is_missing() => Err(Error::UnknownFile {
                    file: file.to_owned(),
                    version: version.to_owned(),
                    place: self.display_address(),
                    looked_at,
                    available: Vec::new(),
                }),
                Err(error) => Err(error.into()),
            }
        };
        self.context.cached_results().get(&key, fetch).await
    }
}

impl Repository for GitLabRepository {
    fn default_version(&self) -> Result<VersionOrLatest, Error> {
        match repository::default_version(self, &percent_decode(&self.location.version))? {
            VersionOrLatest::Latest => Err(Error::CannotList { place: self.display_address() }),
            pinned @ VersionOrLatest::Pinned(_) => Ok(pinned),
        }
    }

    fn versions(&self) -> BoxFuture<'_, Result<Vec<Version>, Error>> {
        async move { Err(Error::CannotList { place: self.display_address() }) }.boxed()
    }

    fn read<'a>(&'a self, version: &'a str, file: &'a str) -> BoxFuture<'a, Result<File, Error>> {
        self.read_file(version, file).boxed()
    }

    fn files<'a>(&'a self, _: &'a str) -> BoxFuture<'a, Result<Vec<String>, Error>> {
        async move { Err(Error::CannotList { place: self.display_address() }) }.boxed()
    }

    fn components_file(&self) -> &str {
        &self.location.file
    }

    fn display_address(&self) -> String {
        // Project and package stay as written, because `myorg%2Fmyrepo` and `myorg/myrepo` are different.
        let GitLabLocation { host, project, package, .. } = &self.location;
        format!("https://{host}/api/v4/projects/{project}/packages/generic/{package}")
    }
}

#[cfg(test)]
#[path = "gitlab/tests.rs"]
mod tests;
