mod error;
mod git;
mod https;
mod local;
mod oci;

use std::path::{Path, PathBuf};

use transport::{Digest, HostKind};
use url::Url;

pub use error::LocationError;
pub(crate) use oci::ArtifactReference;

/// The location of a provider's releases, parsed from its url.
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
    /// The folder that contains all providers.
    pub base: PathBuf,
    /// The provider label, such as `infrastructure-aws`.
    pub label: String,
    /// A semantic version or `latest`.
    pub version: String,
    /// The components file.
    pub file: String,
}

/// `https://{host}/{owner}/{repo}/releases/{version}/{root/}{file}`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GitHubLocation {
    /// `github.com`, or host and port of an Enterprise server.
    pub host: String,
    /// The owner of the repository.
    pub owner: String,
    /// The name of the repository.
    pub repo: String,
    /// A tag or `latest`. Not checked to be a semantic version, because the user may request another version.
    pub version: String,
    /// The path between tag and file, without leading or trailing slash; usually empty.
    pub root: String,
    /// The components file.
    pub file: String,
}

/// `https://{host}/api/v4/projects/{project}/packages/generic/{package}/{version}/{file}`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GitLabLocation {
    /// The host, with the port if the url has one.
    pub host: String,
    /// The id or path of the project, escaped as in the url (`myorg%2Fmyrepo`).
    pub project: String,
    /// The package name, escaped as in the url.
    pub package: String,
    /// The package version, escaped as in the url.
    pub version: String,
    /// The components file.
    pub file: String,
}

/// `https://{host}/{path/}{label}/{version}/{file}`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FolderLocation {
    /// The url of the folder that contains one folder per version. It ends with the label and a slash.
    pub base: Url,
    /// A semantic version or `latest`.
    pub version: String,
    /// The components file.
    pub file: String,
}

/// `oci://{registry}/{repository}[:{tag}][@{digest}]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OciLocation {
    /// The host of the registry, with the port if the url has one.
    pub registry: String,
    /// The repository in the registry, without the tag.
    pub repository: String,
    /// The semantic version, spelled as in the tag. `None` for the newest version.
    pub tag: Option<String>,
    /// The required digest of the artifact.
    pub digest: Option<Digest>,
    /// The provider label. Files in the artifact may have names derived from the label.
    pub label: String,
}

/// `git+{https|ssh|file}://{remote}//{folder/}{file}?ref={tree-ish}[&version={version}]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GitLocation {
    /// The url of the repository for Git, without `git+`.
    pub remote: String,
    /// The folder inside the repository, without leading or trailing slash; empty for the root.
    pub folder: String,
    /// The components file.
    pub file: String,
    /// The releases selected by the url.
    pub reference: GitReference,
}

/// The releases that a Git url selects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GitReference {
    /// The newest release. Each tag that is a semantic version is a release.
    Latest,
    /// The release of this tag. Each tag that is a semantic version is a release.
    Tag(String),
    /// One commit, given by branch, tag or hash, as the only release.
    Pinned {
        /// A branch, a tag, or a full or abbreviated hash.
        tree_ish: String,
        /// The semantic version of this release.
        version: String,
    },
}

impl Location {
    /// Parses a provider url, without any I/O.
    ///
    /// `label` is the provider label; a local path must contain it. `kind` is the configured kind of an https host.
    /// Source: clusterctl v1.14 client/repository (factory and constructors). Differs: GitHub Enterprise and GitLab are
    /// recognized on any host by path or by `kind`. Differs: `file://host/` is rejected instead of dropping the host,
    /// and a plain path is used as written (no `%`, `?` or `#` rules). Differs: web folders, registries and Git are
    /// supported.
    /// # Errors
    /// A [`LocationError`] with the expected form and the first deviation.
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
