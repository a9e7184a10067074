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
    /// A web folder of another shape.
    #[error(
        "the url of a web folder has the form https://{{host}}/{{path}}/{label}/{{version}}/{{file}}; {problem}"
    )]
    FolderForm {
        /// The provider label that must be in it.
        label: String,
        /// Where it departs.
        problem: String,
    },
    /// A registry reference of another shape.
    #[error(
        "a registry url has the form oci://{{registry}}/{{repository}}, with `:{{tag}}` and `@{{digest}}` behind it where a version is pinned; {problem}"
    )]
    OciForm {
        /// Where it departs.
        problem: String,
    },
    /// A Git url of another shape.
    #[error(
        "a Git url has the form git+https://{{host}}/{{repository}}//{{path}}/{{file}}?ref={{tag, or latest}}; {problem}"
    )]
    GitForm {
        /// Where it departs.
        problem: String,
    },
    /// An https url of no known form.
    #[error(
        "`{host}` is not known to hold releases: the path is neither that of GitHub releases, nor of GitLab packages, nor of a web folder ending in /{label}/{{version}}/{{file}}"
    )]
    UnknownHost {
        /// The host.
        host: String,
        /// The provider label a web folder would have.
        label: String,
    },
    /// Another scheme.
    #[error("nothing reads `{scheme}` urls; use https, oci, git+https, git+ssh, file, or an absolute path")]
    UnknownScheme {
        /// The scheme.
        scheme: String,
    },
    /// A url with a user name or password in it.
    #[error("a provider url must not hold a user name or password; set a token instead")]
    HasCredential,
}
