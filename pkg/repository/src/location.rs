use std::path::{Path, PathBuf};

use url::{Host, Url};

use crate::names::{check_file, check_version, percent_decode};

/// Where the releases of a provider are, read from its url.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Location {
    /// A folder on this machine.
    Local(LocalLocation),
    /// Releases of a repository on GitHub or GitHub Enterprise.
    GitHub(GitHubLocation),
    /// Generic packages of a project on GitLab.
    GitLab(GitLabLocation),
}

/// `{base}/{label}/{version}/{file}`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocalLocation {
    /// Folder of all providers.
    pub base: PathBuf,
    /// Provider label, such as `infrastructure-aws`.
    pub label: String,
    /// Semantic version or `latest`.
    pub version: String,
    /// Components file.
    pub file: String,
}

/// `https://{host}/{owner}/{repo}/releases/{version}/{root/}{file}`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GitHubLocation {
    /// `github.com`, or host and port of an Enterprise server.
    pub host: String,
    /// Owner of the repository.
    pub owner: String,
    /// Name of the repository.
    pub repo: String,
    /// Tag or `latest`; not checked to be a semantic version, the user may ask for another.
    pub version: String,
    /// What stands between tag and file, without slashes around it; mostly empty.
    pub root: String,
    /// Components file.
    pub file: String,
}

/// `https://{host}/api/v4/projects/{project}/packages/generic/{package}/{version}/{file}`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GitLabLocation {
    /// Host, and port if the url has one.
    pub host: String,
    /// Id or path of the project, escaped as in the url (`myorg%2Fmyrepo`).
    pub project: String,
    /// Package, escaped as in the url.
    pub package: String,
    /// Package version, escaped as in the url.
    pub version: String,
    /// Components file.
    pub file: String,
}

/// What is wrong with a provider url.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LocationError {
    /// No url at all.
    #[error("it is not a url: {reason}")]
    NotAUrl {
        /// What the parser says.
        reason: String,
    },
    /// A local path that is not absolute.
    #[error("a local path must be absolute")]
    NotAbsolute,
    /// `file://host/path`.
    #[error("a file url must not name a host, `{host}` here; write three slashes: `file:///path`")]
    FileHost {
        /// The host.
        host: String,
    },
    /// A local path of another shape.
    #[error("a local path has the form {{base}}/{label}/{{version}}/{{file}}; {problem}")]
    LocalForm {
        /// The provider label that must be in it.
        label: String,
        /// Where it departs.
        problem: String,
    },
    /// A GitHub url of another shape.
    #[error(
        "a GitHub url has the form https://{host}/{{owner}}/{{repository}}/releases/{{latest|tag}}/{{file}}; {problem}"
    )]
    GitHubForm {
        /// The host.
        host: String,
        /// Where it departs.
        problem: &'static str,
    },
    /// A GitLab url of another shape.
    #[error(
        "a GitLab url has the form https://{host}/api/v4/projects/{{project}}/packages/generic/{{package}}/{{version}}/{{file}}; {problem}"
    )]
    GitLabForm {
        /// The host.
        host: String,
        /// Where it departs.
        problem: &'static str,
    },
    /// An https url that is neither.
    #[error(
        "`{host}` is not known to hold releases: the path is neither that of GitHub releases nor of GitLab packages"
    )]
    UnknownHost {
        /// The host.
        host: String,
    },
    /// Another scheme.
    #[error("nothing reads `{scheme}` urls; use https, file, or an absolute path")]
    UnknownScheme {
        /// The scheme.
        scheme: String,
    },
    /// A url with a user name or password in it.
    #[error("a provider url must not hold a user name or password; set a token instead")]
    HasCredential,
}

impl Location {
    /// Reads a provider url. Pure: nothing is looked up.
    /// `label` is the provider label, which a local path must contain.
    /// Source: clusterctl v1.14 client/repository (factory and constructors); differs: GitHub Enterprise and GitLab on
    /// any host are known by the shape of the path, `file://host/` is refused instead of losing the host, a plain path
    /// is taken as it is written (no `%`, `?` or `#` rules).
    /// # Errors
    /// A [`LocationError`] that says which form was expected and where the url departs.
    pub fn parse(url: &str, label: &str) -> Result<Self, LocationError> {
        let text = url.trim();
        if Path::new(text).is_absolute() {
            return local(text, label).map(Location::Local);
        }
        let parsed = match Url::parse(text) {
            Ok(parsed) => parsed,
            Err(url::ParseError::RelativeUrlWithoutBase) => return Err(LocationError::NotAbsolute),
            Err(error) => return Err(LocationError::NotAUrl { reason: error.to_string() }),
        };
        match parsed.scheme() {
            "file" => {
                if let Some(host) = parsed.host_str() {
                    return Err(LocationError::FileHost { host: host.to_owned() });
                }
                let path = parsed.to_file_path().map_err(|()| LocationError::NotAbsolute)?;
                let path = path.to_str().ok_or_else(|| form(label, "it is not UTF-8".to_owned()))?;
                local(path, label).map(Location::Local)
            }
            "https" => remote(&parsed),
            scheme => Err(LocationError::UnknownScheme { scheme: scheme.to_owned() }),
        }
    }
}

fn form(label: &str, problem: String) -> LocationError {
    LocationError::LocalForm { label: label.to_owned(), problem }
}

fn local(path: &str, label: &str) -> Result<LocalLocation, LocationError> {
    let parts: Vec<&str> = path.split(std::path::is_separator).collect();
    if parts.iter().any(|part| matches!(*part, ".." | ".")) {
        return Err(form(label, "`.` and `..` are not allowed in it".to_owned()));
    }
    let [base @ .., folder, version, file] = parts.as_slice() else {
        return Err(form(label, "it is too short".to_owned()));
    };
    if base.is_empty() {
        return Err(form(label, "it is too short".to_owned()));
    }
    if *folder != label {
        return Err(form(label, format!("`{folder}` stands where `{label}` belongs")));
    }
    if api::VersionOrLatest::parse(version).is_err() {
        return Err(form(label, format!("`{version}` is neither a semantic version nor `latest`")));
    }
    if file.is_empty() {
        return Err(form(label, "it ends with a slash".to_owned()));
    }
    let tail = folder.len() + version.len() + file.len() + 3;
    let base = &path[..path.len() - tail];
    let base = if base.is_empty() { "/" } else { base };
    Ok(LocalLocation {
        base: PathBuf::from(base),
        label: label.to_owned(),
        version: (*version).to_owned(),
        file: (*file).to_owned(),
    })
}

fn remote(url: &Url) -> Result<Location, LocationError> {
    let host = authority(url);
    if !url.username().is_empty() || url.password().is_some() {
        return Err(LocationError::HasCredential);
    }
    let segments: Vec<&str> = url.path_segments().map(Iterator::collect).unwrap_or_default();
    let gitlab_path = matches!(segments.as_slice(), ["api", "v4", "projects", ..]);
    let release_path = matches!(segments.as_slice(), [_, _, "releases", ..]);
    if host == "github.com" {
        github(host, &segments).map(Location::GitHub)
    } else if gitlab_path {
        gitlab(host, &segments).map(Location::GitLab)
    } else if release_path && !is_address(url) {
        github(host, &segments).map(Location::GitHub)
    } else {
        Err(LocationError::UnknownHost { host })
    }
}

/// Certificates of Enterprise servers name hosts; an address with a release path is a slip more likely than a server.
fn is_address(url: &Url) -> bool {
    matches!(url.host(), Some(Host::Ipv4(_) | Host::Ipv6(_)))
}

/// Host and, when it is not that of the scheme, port.
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
        return refuse(&host, "a part of it is empty or no plain name");
    }
    if !root.is_empty() && check_file(&root).is_err() {
        return refuse(&host, "a part between tag and file is empty or no plain name");
    }
    Ok(GitHubLocation { host, owner, repo, version, root, file })
}

fn gitlab(host: String, segments: &[&str]) -> Result<GitLabLocation, LocationError> {
    let refuse = |problem| Err(LocationError::GitLabForm { host: host.clone(), problem });
    let ["api", "v4", "projects", project, "packages", "generic", package, version, file] = segments else {
        return refuse("it does not have these nine parts");
    };
    if [project, package, version, file].into_iter().any(|part| part.is_empty()) {
        return refuse("a part of it is empty");
    }
    if check_version(&percent_decode(file)).is_err() || check_version(&percent_decode(version)).is_err() {
        return refuse("version or file is no plain name");
    }
    let [project, package, version] = [project, package, version].map(|part| (*part).to_owned());
    let file = percent_decode(file);
    Ok(GitLabLocation { host, project, package, version, file })
}

#[cfg(test)]
#[path = "location/tests.rs"]
mod tests;
