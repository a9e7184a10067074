/// The reason why a provider url is rejected.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the message of a variant names its fields")]
pub enum LocationError {
    #[error("it is not a URL: {reason}")]
    NotAUrl { reason: String },
    #[error("a local path must be absolute")]
    NotAbsolute,
    #[error("a file URL must not name a host, `{host}` here; write three slashes: `file:///path`")]
    FileHost { host: String },
    #[error("a local path has the form {{base}}/{label}/{{version}}/{{file}}; {problem}")]
    LocalForm { label: String, problem: String },
    #[error(
        "a GitHub URL has the form https://{host}/{{owner}}/{{repository}}/releases/{{latest|tag}}/{{file}}; {problem}"
    )]
    GitHubForm { host: String, problem: &'static str },
    #[error(
        "a GitLab URL has the form https://{host}/api/v4/projects/{{project}}/packages/generic/{{package}}/{{version}}/{{file}}; {problem}"
    )]
    GitLabForm { host: String, problem: &'static str },
    #[error(
        "the URL of a web folder has the form https://{{host}}/{{path}}/{label}/{{version}}/{{file}}; {problem}"
    )]
    FolderForm { label: String, problem: String },
    #[error(
        "a registry URL has the form oci://{{registry}}/{{repository}}[:{{tag}}][@{{digest}}]; {problem}"
    )]
    OciForm { problem: String },
    #[error(
        "a Git URL has the form git+https://{{host}}/{{repository}}//{{path}}/{{file}}?ref={{tag, or latest}}; {problem}"
    )]
    GitForm { problem: String },
    #[error(
        "`{host}` is not a known release host, and the path does not end with /{label}/{{version}}/{{file}} of a web folder"
    )]
    UnknownHost { host: String, label: String },
    #[error(
        "scheme `{scheme}` is not supported; use https, oci, git+https, git+ssh, file, or an absolute path"
    )]
    UnknownScheme { scheme: String },
    #[error("a provider URL must not contain a user name or password; set a token instead")]
    HasCredential,
}
