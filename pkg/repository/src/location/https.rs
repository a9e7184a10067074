use transport::{
    HostKind,
    address::percent_decode,
    names::{check_file, check_version},
};
use url::{Host, Url};

use super::{FolderLocation, GitHubLocation, GitLabLocation, Location, LocationError};

/// Parses `https://…`. Without a kind, the form of the path decides.
pub(super) fn parse(url: &Url, label: &str, kind: Option<HostKind>) -> Result<Location, LocationError> {
    if !url.username().is_empty() || url.password().is_some() {
        return Err(LocationError::HasCredential);
    }
    let host = authority(url);
    let segments: Vec<&str> = url.path_segments().map(Iterator::collect).unwrap_or_default();
    match kind.or_else(|| kind_of(url, &host, &segments, label)) {
        Some(HostKind::GitHub) => github(host, &segments).map(Location::GitHub),
        Some(HostKind::GitLab) => gitlab(host, &segments).map(Location::GitLab),
        Some(HostKind::Folder) => folder(url, label).map(Location::Folder),
        None => Err(LocationError::UnknownHost { host, label: label.to_owned() }),
    }
}

fn kind_of(url: &Url, host: &str, segments: &[&str], label: &str) -> Option<HostKind> {
    match segments {
        _ if host == "github.com" => Some(HostKind::GitHub),
        ["api", "v4", "projects", ..] => Some(HostKind::GitLab),
        [.., folder, version, _] if *folder == label && api::VersionOrLatest::parse(version).is_ok() => {
            Some(HostKind::Folder)
        }
        [_, _, "releases", ..] if !is_address(url) => Some(HostKind::GitHub),
        _ => None,
    }
}

/// Parses `https://{host}/{path/}{label}/{version}/{file}`.
fn folder(url: &Url, label: &str) -> Result<FolderLocation, LocationError> {
    let refuse = |problem: String| Err(LocationError::FolderForm { label: label.to_owned(), problem });
    if url.query().is_some() || url.fragment().is_some() {
        return refuse("it has a query or a fragment".to_owned());
    }
    let segments: Vec<String> = url.path_segments().into_iter().flatten().map(percent_decode).collect();
    let [.., folder, version, file] = segments.as_slice() else {
        return refuse("it is too short".to_owned());
    };
    if folder != label {
        return refuse(format!("it has `{folder}` in place of `{label}`"));
    }
    if api::VersionOrLatest::parse(version).is_err() {
        return refuse(format!("`{version}` is neither a semantic version nor `latest`"));
    }
    if check_version(file).is_err() {
        return refuse("it does not end with the name of a file".to_owned());
    }
    // The folder of the provider is two levels above the file.
    let base = url.join("../").map_err(|error| LocationError::NotAUrl { reason: error.to_string() })?;
    Ok(FolderLocation { base, version: version.clone(), file: file.clone() })
}

/// Certificates of Enterprise servers are issued for host names. A release path on an IP address is more likely a
/// mistake.
fn is_address(url: &Url) -> bool {
    matches!(url.host(), Some(Host::Ipv4(_) | Host::Ipv6(_)))
}

/// The host, with the port unless it is the default port.
fn authority(url: &Url) -> String {
    let host = match url.host_str().unwrap_or_default() {
        "www.github.com" => "github.com",
        host => host,
    };
    url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
}

fn github(host: String, segments: &[&str]) -> Result<GitHubLocation, LocationError> {
    let refuse = |host: &str, problem| Err(LocationError::GitHubForm { host: host.to_owned(), problem });
    let [owner, repo, releases, rest @ ..] = segments else { return refuse(&host, "it is too short") };
    if *releases != "releases" {
        return refuse(&host, "the third part is not `releases`");
    }
    let [version, root @ .., file] = rest else { return refuse(&host, "tag or file is missing") };
    let plain = |text: &str| check_version(text).is_ok();
    let [owner, repo, version, file] = [owner, repo, version, file].map(|part| percent_decode(part));
    let root = root.iter().map(|part| percent_decode(part)).collect::<Vec<_>>().join("/");
    if ![&owner, &repo, &version, &file].into_iter().all(|part| plain(part)) {
        return refuse(&host, "a part of it is empty or not a plain name");
    }
    if !root.is_empty() && check_file(&root).is_err() {
        return refuse(&host, "a part between tag and file is empty or not a plain name");
    }
    Ok(GitHubLocation { host, owner, repo, version, root, file })
}

fn gitlab(host: String, segments: &[&str]) -> Result<GitLabLocation, LocationError> {
    let refuse = |problem| Err(LocationError::GitLabForm { host: host.clone(), problem });
    let ["api", "v4", "projects", project, "packages", "generic", package, version, file] = segments else {
        return refuse("it does not have nine parts");
    };
    if [project, package, version, file].into_iter().any(|part| part.is_empty()) {
        return refuse("a part of it is empty");
    }
    if check_version(&percent_decode(file)).is_err() || check_version(&percent_decode(version)).is_err() {
        return refuse("version or file is not a plain name");
    }
    let [project, package, version] = [project, package, version].map(|part| (*part).to_owned());
    let file = percent_decode(file);
    Ok(GitLabLocation { host, project, package, version, file })
}
