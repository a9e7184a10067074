/// The reason why a provider url is rejected.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the message of a variant names its fields")]
pub enum LocationError {
    #[error("it is not a url: {reason}")]
    NotAUrl { reason: String },
    #[error("a local path must be absolute")]
    NotAbsolute,
    #[error("a file url must not name a host, `{host}` here; write three slashes: `file:///path`")]
    FileHost { host: String },
    #[error("a local path has the form {{base}}/{label}/{{version}}/{{file}}; {problem}")]
    LocalForm { label: String, problem: String },
    #[error(
        "a GitHub url has the form https://{host}/{{owner}}/{{repository}}/releases/{{latest|tag}}/{{file}}; {problem}"
    )]
    GitHubForm { host: String, problem: &'static str },
    #[error(
        "a GitLab url has the form https://{host}/api/v4/projects/{{project}}/packages/generic/{{package}}/{{version}}/{{file}}; {problem}"
    )]
    GitLabForm { host: String, problem: &'static str },
    #[error(
        "the url of a web folder has the form https://{{host}}/{{path}}/{label}/{{version}}/{{file}}; {problem}"
    )]
    FolderForm { label: String, problem: String },
    #[error(
        "a registry url has the form oci://{{registry}}/{{repository}}, with `:{{tag}}` and `@{{digest}}` behind it where a version is pinned; {problem}"
    )]
    OciForm { problem: String },
    #[error(
        "a Git url has the form git+https://{{host}}/{{repository}}//{{path}}/{{file}}?ref={{tag, or latest}}; {problem}"
    )]
    GitForm { problem: String },
    #[error(
        "`{host}` is not known to hold releases: the path is neither that of GitHub releases, nor of GitLab packages, nor of a web folder ending in /{label}/{{version}}/{{file}}"
    )]
    UnknownHost { host: String, label: String },
    #[error("nothing reads `{scheme}` urls; use https, oci, git+https, git+ssh, file, or an absolute path")]
    UnknownScheme { scheme: String },
    #[error("a provider url must not hold a user name or password; set a token instead")]
    HasCredential,
}
