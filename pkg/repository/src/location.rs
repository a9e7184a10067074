mod error;
mod git;
mod https;
mod local;
mod oci;

use std::path::{Path, PathBuf};

use transport::{Digest, HostKind};
use url::Url;

pub use error::LocationError;

/// Where the releases of a provider are, read from its url.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Location {
    /// A folder on this machine.
    Local(LocalLocation),
    /// Releases of a repository on GitHub or GitHub Enterprise.
    GitHub(GitHubLocation),
    /// Generic packages of a project on GitLab.
    GitLab(GitLabLocation),
    /// A folder on a web server.
    Folder(FolderLocation),
    /// Artifacts in a registry.
    Oci(OciLocation),
    /// Commits of a Git repository.
    Git(GitLocation),
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

/// `https://{host}/{path/}{label}/{version}/{file}`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FolderLocation {
    /// Address of the folder with a folder for each version; ends with the label and a slash.
    pub base: Url,
    /// Semantic version or `latest`.
    pub version: String,
    /// Components file.
    pub file: String,
}

/// `oci://{registry}/{repository}[:{tag}][@{digest}]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OciLocation {
    /// Host of the registry, and port if the url has one.
    pub registry: String,
    /// Repository in the registry; what stands before the tag.
    pub repository: String,
    /// Semantic version as it is spelled in the tag; none where the newest is meant.
    pub tag: Option<String>,
    /// The artifact the tag must lead to.
    pub digest: Option<Digest>,
    /// Provider label, after which the files in the artifact may be named.
    pub label: String,
}

/// `git+{https|ssh|file}://{remote}//{folder/}{file}?ref={tree-ish}[&version={version}]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GitLocation {
    /// Address of the repository as Git takes it, without `git+`.
    pub remote: String,
    /// Folder below the root of the repository, without slashes around it; empty for the root.
    pub folder: String,
    /// Components file.
    pub file: String,
    /// What the url pins.
    pub reference: GitReference,
}

/// Which commits a Git url is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GitReference {
    /// Each tag that is a semantic version is a release; the newest one is meant.
    Latest,
    /// Each tag that is a semantic version is a release; this one is meant.
    Tag(String),
    /// One commit, by branch, tag or hash, which counts as this version; there are no others.
    At {
        /// Branch, tag, full or abbreviated hash.
        tree_ish: String,
        /// The semantic version it counts as.
        version: String,
    },
}

impl Location {
    /// Reads a provider url. Pure: nothing is looked up.
    /// `label` is the provider label, which a local path must contain; `kind` says what an https host is.
    /// Source: clusterctl v1.14 client/repository (factory and constructors); differs: GitHub Enterprise and GitLab on
    /// any host are known by the shape of the path or by `kind`, `file://host/` is refused instead of losing the host, a
    /// plain path is taken as it is written (no `%`, `?` or `#` rules), web folders, registries and Git are known.
    /// # Errors
    /// A [`LocationError`] that says which form was expected and where the url departs.
    pub fn parse(url: &str, label: &str, kind: Option<HostKind>) -> Result<Self, LocationError> {
        let text = url.trim();
        if Path::new(text).is_absolute() {
            return local::parse(text, label).map(Location::Local);
        }
        if let Some(rest) = text.strip_prefix("oci://") {
            return oci::parse(rest, label).map(Location::Oci);
        }
        let parsed = match Url::parse(text) {
            Ok(parsed) => parsed,
            Err(url::ParseError::RelativeUrlWithoutBase) => return Err(LocationError::NotAbsolute),
            Err(error) => return Err(LocationError::NotAUrl { reason: error.to_string() }),
        };
        match parsed.scheme() {
            "file" => local::parse_url(&parsed, label).map(Location::Local),
            "https" => https::parse(&parsed, label, kind),
            "git+https" | "git+ssh" | "git+file" => git::parse(&parsed).map(Location::Git),
            scheme => Err(LocationError::UnknownScheme { scheme: scheme.to_owned() }),
        }
    }
}

#[cfg(test)]
mod tests;
