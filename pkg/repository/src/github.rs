use std::sync::Arc;

use api::{Version, VersionOrLatest};
use futures::{FutureExt as _, future::BoxFuture};
use serde::Deserialize;
use transport::{
    AddressOrigin, Credential, RequestFailure, RequestPurpose,
    address::{percent_encode_path, redact_url},
    http::{CachePolicy, FetchedResponse, Request, fetch_cached, fetch_cached_as, parse_address},
    names::{check_file, check_version},
};
use url::Url;

use crate::{Error, File, FileSource, GitHubLocation, Repository, RepositoryContext, go_proxy, repository};

/// The maximum number of pages to read, which is 10,000 releases.
const MAX_PAGES: usize = 100;
/// The supported version of the GitHub API.
const API_VERSION: &str = "2022-11-28";

/// Releases of a repository on GitHub or GitHub Enterprise.
///
/// A release file is a plain download without API and token. If the download fails and a token is set, the API is used,
/// because private repositories require it. For github.com, versions come from Go module proxies first. The API is the
/// fallback.
#[derive(Debug)]
pub(crate) struct GitHubRepository {
    location: GitHubLocation,
    context: RepositoryContext,
}

/// A release in an API response.
#[derive(Debug, Deserialize)]
struct Release {
    tag_name: String,
    #[serde(default)]
    draft: bool,
    #[serde(default)]
    assets: Vec<Asset>,
}

/// A release asset in an API response.
#[derive(Debug, Deserialize)]
struct Asset {
    id: u64,
    name: String,
}

#[derive(Debug)]
struct ReleaseAssets(Vec<Asset>);

impl GitHubRepository {
    pub(crate) fn new(location: GitHubLocation, context: RepositoryContext) -> Self {
        Self { location, context }
    }

    /// Creates a request to the API of a host. `route` starts with a slash.
    pub(crate) async fn api_request(
        context: &RepositoryContext,
        host: &str,
        route: &str,
        accept: &'static str,
    ) -> Result<Request, Error> {
        let base = api_base(host)?;
        let url = parse_address(&format!("{}{route}", base.as_str().trim_end_matches('/')))?;
        let credential = context.credential_for(&base, RequestPurpose::File(AddressOrigin::User)).await?;
        // The API takes the credential as a token, even if it is configured as a password.
        let token = credential.map(|credential| Credential::Bearer(credential.secret().clone()));
        let request = Request::get(url).with_accept(accept).with_credential(token);
        Ok(request.with_static_header("x-github-api-version", API_VERSION))
    }

    /// True if a credential for the API is configured.
    async fn has_credential(&self) -> Result<bool, Error> {
        let base = api_base(&self.location.host)?;
        Ok(self.context.credential_for(&base, RequestPurpose::File(AddressOrigin::User)).await?.is_some())
    }

    fn route(&self, rest: &str) -> String {
        let GitHubLocation { owner, repo, .. } = &self.location;
        format!("/repos/{}/{}{rest}", percent_encode_path(owner), percent_encode_path(repo))
    }

    async fn repo_request(&self, rest: &str, accept: &'static str) -> Result<Request, Error> {
        Self::api_request(&self.context, &self.location.host, &self.route(rest), accept).await
    }

    async fn read_file(&self, version: &str, file: &str) -> Result<File, Error> {
        check_version(version)?;
        check_file(file)?;
        let place = self.display_address();
        let url = parse_address(&format!(
            "{place}/download/{}/{}",
            percent_encode_path(version),
            percent_encode_path(file)
        ))?;
        let key = url.to_string();
        self.context.cached_results().get(&key, self.fetch(url, version, file)).await
    }

    async fn fetch(&self, url: Url, version: &str, file: &str) -> Result<File, Error> {
        let address = redact_url(&url);
        let download = Request::get(url);
        let error = match fetch_cached(&self.context, &download, CachePolicy::Immutable).await {
            Ok(FetchedResponse { bytes, .. }) => return Ok(File { bytes, source: FileSource::Url(address) }),
            Err(error) => error,
        };
        let missing = error.is_missing();
        let hidden = error.request().is_some_and(|request| {
            matches!(request.failure, RequestFailure::Unauthorized { .. } | RequestFailure::WebPage)
        });
        // A private repository responds as if it did not exist. The API shows the repository to users with access.
        if (missing || hidden) && self.has_credential().await? {
            return self.fetch_asset(&download.url, version, file).await;
        }
        if missing {
            return Err(self.unknown_file(version, file, address, Vec::new()));
        }
        Err(error.into())
    }

    /// Fetches a file through the API. The cache key is the download url, which is known without the API.
    async fn fetch_asset(&self, download: &Url, version: &str, file: &str) -> Result<File, Error> {
        let release = self.release(version).await?;
        let rooted = format!("{}/{file}", self.location.root);
        let asset = release.0.iter().find(|asset| asset.name == file || asset.name == rooted);
        let Some(asset) = asset else {
            let available = release.0.iter().map(|asset| asset.name.clone()).collect();
            return Err(self.unknown_file(version, file, self.display_address(), available));
        };
        let request =
            self.repo_request(&format!("/releases/assets/{}", asset.id), "application/octet-stream").await?;
        let FetchedResponse { bytes, .. } =
            fetch_cached_as(&self.context, download, &request, CachePolicy::Immutable).await?;
        Ok(File { bytes, source: FileSource::Url(redact_url(&request.url)) })
    }

    fn unknown_file(&self, version: &str, file: &str, looked_at: String, available: Vec<String>) -> Error {
        let (file, version, place) = (file.to_owned(), version.to_owned(), self.display_address());
        Error::UnknownFile { file, version, place, looked_at, available }
    }

    async fn release(&self, version: &str) -> Result<Arc<ReleaseAssets>, Error> {
        let request = self
            .repo_request(
                &format!("/releases/tags/{}", percent_encode_path(version)),
                "application/vnd.github+json",
            )
            .await?;
        let key = request.url.to_string();
        let ask = async {
            match fetch_cached(&self.context, &request, CachePolicy::Revalidate).await {
                Ok(answer) => Ok(Arc::new(ReleaseAssets(read_json::<Release>(&request, &answer)?.assets))),
                Err(error) if error.is_missing() => Err(Error::UnknownRelease {
                    version: version.to_owned(),
                    place: self.display_address(),
                    available: Vec::new(),
                }),
                Err(error) => Err(error.into()),
            }
        };
        self.context.cached_results().get(&key, ask).await
    }

    async fn list_versions(&self) -> Result<Arc<[Version]>, Error> {
        let GitHubLocation { host, owner, repo, .. } = &self.location;
        if host == "github.com" {
            let module = format!("github.com/{owner}/{repo}");
            if let Some(versions) = go_proxy::versions(&self.context, &module).await {
                return Ok(versions.into());
            }
        }
        let tags = self.list_tags().await?;
        let mut versions: Vec<Version> = tags.iter().filter_map(|tag| Version::parse(tag).ok()).collect();
        if versions.is_empty() {
            return Err(Error::NoVersions { place: self.display_address(), ignored: tags });
        }
        versions.sort();
        Ok(versions.into())
    }

    /// The tags of all releases except drafts, in API order.
    async fn list_tags(&self) -> Result<Vec<String>, Error> {
        let mut tags = Vec::new();
        let mut next =
            Some(self.repo_request("/releases?per_page=100", "application/vnd.github+json").await?);
        for _ in 0..MAX_PAGES {
            let Some(request) = next.take() else { break };
            let answer = fetch_cached(&self.context, &request, CachePolicy::Revalidate).await?;
            let page: Vec<Release> = read_json(&request, &answer)?;
            tags.extend(page.into_iter().filter(|release| !release.draft).map(|release| release.tag_name));
            next = answer.next_page(&request.url).map(|url| Request { url, ..request });
        }
        Ok(tags)
    }
}

impl Repository for GitHubRepository {
    fn default_version(&self) -> Result<VersionOrLatest, Error> {
        repository::default_version(self, &self.location.version)
    }

    fn versions(&self) -> BoxFuture<'_, Result<Vec<Version>, Error>> {
        async move {
            let versions =
                self.context.cached_results().get(&self.display_address(), self.list_versions()).await?;
            Ok(versions.to_vec())
        }
        .boxed()
    }

    fn read<'a>(&'a self, version: &'a str, file: &'a str) -> BoxFuture<'a, Result<File, Error>> {
        self.read_file(version, file).boxed()
    }

    fn files<'a>(&'a self, version: &'a str) -> BoxFuture<'a, Result<Vec<String>, Error>> {
        async move {
            check_version(version)?;
            let release = self.release(version).await?;
            let mut names: Vec<String> = release.0.iter().map(|asset| asset.name.clone()).collect();
            names.sort_unstable();
            Ok(names)
        }
        .boxed()
    }

    fn components_file(&self) -> &str {
        &self.location.file
    }

    fn display_address(&self) -> String {
        let GitHubLocation { host, owner, repo, .. } = &self.location;
        format!("https://{host}/{}/{}/releases", percent_encode_path(owner), percent_encode_path(repo))
    }
}

fn api_base(host: &str) -> Result<Url, transport::Error> {
    if host == "github.com" {
        parse_address("https://api.github.com")
    } else {
        parse_address(&format!("https://{host}/api/v3"))
    }
}

fn read_json<T: serde::de::DeserializeOwned>(
    request: &Request,
    answer: &FetchedResponse,
) -> Result<T, transport::Error> {
    serde_json::from_slice(&answer.bytes).map_err(|error| {
        let failure =
            RequestFailure::InvalidResponse { what: "a response of the GitHub API", source: Box::new(error) };
        request.to_error(failure)
    })
}

#[cfg(test)]
#[path = "github/tests.rs"]
mod tests;
