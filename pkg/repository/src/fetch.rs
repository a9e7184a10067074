use std::{io, path::Path};

use http::{HeaderMap, Method};
use transport::{
    AddressOrigin, Digest, HostKind, RequestPurpose,
    address::{authority, percent_decode, percent_encode_path, redact_url},
    disk::{read_error, read_limited},
    http::{
        CachePolicy, MemorySink, Request, fetch_cached, fetch_cached_verified, parse_address, receive_into,
        send,
    },
};
use url::Url;

use crate::{
    Error, File, FileSource, GitHubLocation, Repository as _, RepositoryContext, github::GitHubRepository,
};

/// Fetches a configuration file from any http or https url, using the settings of its host. GitHub tokens are never
/// sent. The file is not cached, because a configuration file may contain passwords.
/// # Errors
/// [`transport::Error::FetchUrl`] for any other scheme; any failure of the request.
pub async fn fetch_url(context: &RepositoryContext, url: &str) -> Result<File, Error> {
    let url = parse_http(url)?;
    let origin = FileSource::Url(redact_url(&url));
    let bytes = send(context, &file_request(context, url, AddressOrigin::User).await?).await?;
    Ok(File { bytes, source: origin })
}

/// Reads a file that belongs to no repository, for example a template of the user.
/// # Errors
/// Fails if the file is missing, unreadable, a folder, or larger than the limit of the context. Each error names the
/// path.
pub fn read_file(context: &RepositoryContext, path: &Path) -> Result<File, Error> {
    match read_limited(path, context.max_file_bytes())? {
        Some(bytes) => Ok(File { bytes, source: FileSource::Local(path.to_owned()) }),
        None => {
            Err(read_error(path, io::Error::new(io::ErrorKind::NotFound, "the file does not exist")).into())
        }
    }
}

/// Fetches a cluster template from an https url.
/// - `https://{host}/{owner}/{repo}/blob/{branch}/{path}` is read through the contents API, with the token of the host,
///   if any.
/// - A release asset is read like a provider file, with the same token.
/// - Any other https url is read like [`fetch_url`] does.
///
/// A host counts as GitHub Enterprise if a GitHub token or the GitHub kind is set for it.
/// Source: clusterctl v1.14 client/cluster/template.go. Differs: requests are retried, and `/raw/` urls work.
/// # Errors
/// [`transport::Error::FetchUrl`] for any other url form; [`Error::UnknownFile`]; any failure of the request.
pub async fn fetch_template(context: &RepositoryContext, url: &str) -> Result<File, Error> {
    let url = parse_address(url.trim())?;
    if url.scheme() != "https" {
        return Err(url_error(&url, "only https URLs are allowed"));
    }
    let host = authority(&url);
    if !is_github(context, &url) {
        return fetch(context, url, AddressOrigin::User).await;
    }
    let segments: Vec<String> = url.path_segments().into_iter().flatten().map(percent_decode).collect();
    match segments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        [owner, repo, "blob", branch, path @ ..] if !path.is_empty() => {
            fetch_github_contents(context, &url, &host, (owner, repo), branch, &path.join("/")).await
        }
        [owner, repo, "releases", "download", tag, asset] => {
            let location = GitHubLocation {
                host,
                owner: (*owner).to_owned(),
                repo: (*repo).to_owned(),
                version: (*tag).to_owned(),
                root: String::new(),
                file: (*asset).to_owned(),
            };
            GitHubRepository::new(location, context.clone()).read(tag, asset).await
        }
        [_, _, "raw", _, ..] | [_, _, "releases", "latest", "download", _] => {
            fetch(context, url, AddressOrigin::User).await
        }
        _ => Err(url_error(
            &url,
            "a GitHub URL has the form .../{owner}/{repository}/blob/{branch}/{path} or .../releases/download/{tag}/{file}",
        )),
    }
}

/// Fetches a file that another file links to, from any http or https url. Unlike [`fetch_url`], this caches the file
/// and revalidates it only if it may have changed.
/// # Errors
/// [`transport::Error::FetchUrl`] for any other scheme; any failure of the request.
pub async fn fetch_file(
    context: &RepositoryContext,
    url: &str,
    named_by: AddressOrigin,
) -> Result<File, Error> {
    fetch(context, parse_http(url)?, named_by).await
}

/// Fetches a file with a known digest from any http or https url. The file is cached under its digest.
/// # Errors
/// [`transport::Error::Digest`] for other content; [`transport::Error::FetchUrl`] for any other scheme; any failure of
/// the request.
pub async fn fetch_verified(
    context: &RepositoryContext,
    url: &str,
    digest: Digest,
    named_by: AddressOrigin,
) -> Result<File, Error> {
    let request = file_request(context, parse_http(url)?, named_by).await?;
    let answer = fetch_cached_verified(context, &request, digest).await?;
    Ok(File { bytes: answer.bytes, source: FileSource::Url(redact_url(&request.url)) })
}

/// Returns the headers of the response to a HEAD request, after redirects.
/// # Errors
/// [`transport::Error::FetchUrl`] for any other scheme; any failure of the request.
pub async fn fetch_headers(
    context: &RepositoryContext,
    url: &str,
    named_by: AddressOrigin,
) -> Result<HeaderMap, Error> {
    let request =
        Request { method: Method::HEAD, ..file_request(context, parse_http(url)?, named_by).await? };
    let head = receive_into(context, &request, &mut MemorySink::default(), context.max_file_bytes()).await?;
    Ok(head.headers)
}

async fn fetch_github_contents(
    context: &RepositoryContext,
    url: &Url,
    host: &str,
    (owner, repo): (&str, &str),
    branch: &str,
    path: &str,
) -> Result<File, Error> {
    let route = format!(
        "/repos/{}/{}/contents/{}",
        percent_encode_path(owner),
        percent_encode_path(repo),
        percent_encode_path(path)
    );
    let mut request =
        GitHubRepository::api_request(context, host, &route, "application/vnd.github.raw+json").await?;
    request.url.query_pairs_mut().append_pair("ref", branch);
    match fetch_cached(context, &request, CachePolicy::Revalidate).await {
        Ok(answer) => {
            let kind = answer.media_type.unwrap_or_default();
            if kind.starts_with("application/json") && answer.bytes.starts_with(b"[") {
                return Err(url_error(url, "it is a folder"));
            }
            Ok(File { bytes: answer.bytes, source: FileSource::Url(redact_url(url)) })
        }
        Err(error) if error.is_missing() => Err(Error::UnknownFile {
            file: path.to_owned(),
            version: branch.to_owned(),
            place: format!("https://{host}/{owner}/{repo}"),
            looked_at: redact_url(&request.url),
            available: Vec::new(),
        }),
        Err(error) => Err(error.into()),
    }
}

async fn fetch(context: &RepositoryContext, url: Url, named_by: AddressOrigin) -> Result<File, Error> {
    let origin = FileSource::Url(redact_url(&url));
    let answer =
        fetch_cached(context, &file_request(context, url, named_by).await?, CachePolicy::Revalidate).await?;
    Ok(File { bytes: answer.bytes, source: origin })
}

pub(crate) async fn file_request(
    context: &RepositoryContext,
    url: Url,
    named_by: AddressOrigin,
) -> Result<Request, Error> {
    // A GitHub download needs no token, and a stale token would make it fail.
    let credential = if is_github(context, &url) {
        None
    } else {
        context.credential_for(&url, RequestPurpose::File(named_by)).await?
    };
    Ok(Request::get(url).with_credential(credential))
}

fn is_github(context: &RepositoryContext, url: &Url) -> bool {
    let settings = context.settings();
    let host = authority(url);
    let kind = settings.hosts.get(url).and_then(|host| host.kind);
    host == "github.com"
        || settings.github_enterprise_tokens.contains_key(&host)
        || kind == Some(HostKind::GitHub)
}

pub(crate) fn parse_http(url: &str) -> Result<Url, Error> {
    let url = parse_address(url.trim())?;
    match url.scheme() {
        "http" | "https" => Ok(url),
        _ => Err(url_error(&url, "only http and https URLs are allowed")),
    }
}

fn url_error(url: &Url, reason: &'static str) -> Error {
    transport::Error::FetchUrl { url: redact_url(url), reason }.into()
}

#[cfg(test)]
#[path = "fetch/tests.rs"]
mod tests;
