use std::{io, path::PathBuf, time::Duration};

use transport::Credential;

use super::url::RemoteUrlError;

/// A failed Git operation on a remote, with its context.
#[derive(Debug, thiserror::Error)]
#[error("cannot {action} `{remote}`")]
pub struct GitError {
    /// The attempted action, such as `read` or `check out`.
    pub action: &'static str,
    /// The remote, without credentials.
    pub remote: String,
    /// The cause of the failure.
    #[source]
    pub failure: GitFailure,
    /// The credential passed to Git, masked. `None` if Git used only its own helpers.
    pub credential: Option<Credential>,
    /// The proxy, without credentials.
    pub proxy: Option<String>,
    /// The clone on this machine.
    pub clone: PathBuf,
}

/// The cause of a failed Git operation. `said` is the most informative line of Git's error output.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the message of a variant names its fields")]
pub enum GitFailure {
    #[error("cannot start the program `{program}`")]
    Program {
        program: String,
        #[source]
        source: io::Error,
    },
    #[error("git {version} is too old; version {needed} or newer is required")]
    TooOld { version: String, needed: &'static str },
    #[error("cannot read the output of git")]
    Pipe {
        #[source]
        source: io::Error,
    },
    #[error("cannot use `{}`", path.display())]
    Disk {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("the repository does not exist: {message}")]
    NotFound { message: String },
    #[error("the host refused access: {message}")]
    Refused { message: String },
    #[error("the SSH host key is not trusted: {message}")]
    HostKey { message: String },
    #[error("cannot establish a trusted TLS connection: {message}")]
    Tls { message: String },
    #[error("cannot connect: {message}")]
    Connect { message: String },
    #[error("no data received for {waited:?}")]
    TimedOut { waited: Duration },
    #[error("the disk is full: {message}")]
    DiskFull { message: String },
    #[error("there is no branch, tag or commit `{tree_ish}`")]
    UnknownTreeIsh { tree_ish: String, suggestions: Vec<String> },
    #[error("`{tree_ish}` is the prefix of several commits")]
    Ambiguous { tree_ish: String },
    #[error("`{tree_ish}` is not a valid branch, tag or commit")]
    InvalidTreeIsh { tree_ish: String },
    #[error("there is no file `{path}` in commit {commit}")]
    UnknownPath { path: String, commit: String, suggestions: Vec<String> },
    #[error("`{path}` in commit {commit} is {what}")]
    NotAFile { path: String, commit: String, what: &'static str },
    #[error("the link `{path}` in commit {commit} points outside the repository, to `{target}`")]
    LinkEscapes { path: String, commit: String, target: String },
    #[error("cannot use the url `{url}` of the submodule `{path}`")]
    Submodule {
        path: String,
        url: String,
        #[source]
        source: RemoteUrlError,
    },
    #[error("commit {commit} has more than {max} submodules")]
    TooManySubmodules { commit: String, max: usize },
    #[error("it is larger than the limit of {limit_bytes} bytes")]
    TooLarge { limit_bytes: u64 },
    #[error("the clone `{}` is in use", folder.display())]
    CloneExists { folder: PathBuf },
    #[error("`{}` is not a worktree of this repository", folder.display())]
    ForeignFolder { folder: PathBuf },
    #[error("`{}` has uncommitted changes", folder.display())]
    LocalChanges { folder: PathBuf },
    #[error("the host rejected the push: {reason}")]
    Rejected {
        reason: String,
        /// The lines of the host, such as those of a hook.
        remote: Vec<String>,
    },
    #[error("cannot parse the output of git as {what}")]
    Unreadable { what: &'static str },
    #[error("git {}: {message}", ended(*status))]
    Other { message: String, status: Option<i32> },
}

impl GitFailure {
    /// True if a retry may succeed.
    pub(super) fn is_temporary(&self) -> bool {
        // A retry does not help with an unknown host name.
        matches!(self, Self::Connect { message } if !message.to_ascii_lowercase().contains("resolve"))
    }

    /// True if the commit or the file does not exist.
    pub(super) fn is_not_found(&self) -> bool {
        matches!(self, Self::UnknownTreeIsh { .. } | Self::UnknownPath { .. })
    }
}

fn ended(status: Option<i32>) -> String {
    status.map_or("was killed".to_owned(), |status| format!("failed with status {status}"))
}

/// The maximum length of an error line, in characters.
const MAX_CHARACTERS: usize = 300;

type FailureConstructor = fn(String) -> GitFailure;

/// Error texts and their causes, in order of precedence. Specific causes come before a general connection failure.
/// Source: git 2.39 (remote-curl.c, http.c, connect.c, upload-pack.c), OpenSSH 9.2, curl 7.88, GnuTLS and OpenSSL texts.
const ERROR_PATTERNS: [(&str, FailureConstructor); 23] = [
    ("no space left on device", |message| GitFailure::DiskFull { message }),
    ("disk quota exceeded", |message| GitFailure::DiskFull { message }),
    ("host key verification failed", |message| GitFailure::HostKey { message }),
    ("remote host identification has changed", |message| GitFailure::HostKey { message }),
    ("permission denied (", |message| GitFailure::Refused { message }),
    ("authentication failed", |message| GitFailure::Refused { message }),
    ("could not read username", |message| GitFailure::Refused { message }),
    ("could not read password", |message| GitFailure::Refused { message }),
    ("returned error: 401", |message| GitFailure::Refused { message }),
    ("returned error: 403", |message| GitFailure::Refused { message }),
    ("access denied", |message| GitFailure::Refused { message }),
    ("repository not found", |message| GitFailure::NotFound { message }),
    ("repository '' does not exist", |message| GitFailure::NotFound { message }),
    ("' not found", |message| GitFailure::NotFound { message }),
    ("does not appear to be a git repository", |message| GitFailure::NotFound { message }),
    ("returned error: 404", |message| GitFailure::NotFound { message }),
    ("certificate", |message| GitFailure::Tls { message }),
    ("ssl", |message| GitFailure::Tls { message }),
    ("gnutls", |message| GitFailure::Tls { message }),
    ("could not resolve", |message| GitFailure::Connect { message }),
    ("failed to connect", |message| GitFailure::Connect { message }),
    ("connection ", |message| GitFailure::Connect { message }),
    ("the remote end hung up", |message| GitFailure::Connect { message }),
];

/// The maximum number of lines of a host in an error.
const MAX_REMOTE_LINES: usize = 10;

/// Returns the rejection in the output of `git push --porcelain`: `!`, the references and the reason, separated by tabs.
pub(super) fn rejection(stdout: &[u8], stderr: &[u8]) -> Option<GitFailure> {
    let text = String::from_utf8_lossy(stdout);
    let status = text.lines().find_map(|line| line.strip_prefix("!\t")?.split_once('\t'))?.1;
    let reason = status.split_once('(').and_then(|(_, reason)| reason.trim_end().strip_suffix(')'));
    let lines = String::from_utf8_lossy(stderr);
    let lines = lines.split(['\n', '\r']).map(clean);
    let lines = lines.filter(|line| line.starts_with("remote: ") && !is_progress(line));
    Some(GitFailure::Rejected {
        reason: clean(reason.unwrap_or(status)),
        remote: lines.take(MAX_REMOTE_LINES).collect(),
    })
}

/// Classifies the error output of Git.
pub(super) fn classify(stderr: &[u8], status: Option<i32>) -> GitFailure {
    let text = String::from_utf8_lossy(stderr);
    let lines: Vec<String> =
        text.split(['\n', '\r']).map(clean).filter(|line| !line.is_empty() && !is_progress(line)).collect();
    for (words, make) in ERROR_PATTERNS {
        if let Some(line) = lines.iter().find(|line| unquoted(line).contains(words)) {
            return make(line.clone());
        }
    }
    let prefixes = ["error: ", "fatal: ", "ssh: ", "remote: "];
    let message = prefixes.iter().find_map(|start| lines.iter().find(|line| line.starts_with(start)));
    let message = message.or(lines.last()).cloned().unwrap_or_else(|| "no error message".to_owned());
    GitFailure::Other { message, status }
}

/// A line in lower case without its quoted parts: names and urls must not match error texts.
fn unquoted(line: &str) -> String {
    let mut parts = line.split('\'').step_by(2);
    let first = parts.next().unwrap_or_default().to_ascii_lowercase();
    parts.fold(first, |text, part| text + "''" + &part.to_ascii_lowercase())
}

/// A line that is safe to print: control characters and passwords in urls are removed.
fn clean(line: &str) -> String {
    let visible: String = line.trim().chars().filter(|c| !c.is_control()).take(MAX_CHARACTERS).collect();
    let words = visible.split(' ').map(|word| match word.split_once("://") {
        Some((scheme, rest)) => match rest.split_once('@') {
            Some((user, host)) if !user.contains('/') && !scheme.ends_with("ssh") => {
                format!("{scheme}://{host}")
            }
            _ => word.to_owned(),
        },
        None => word.to_owned(),
    });
    words.collect::<Vec<_>>().join(" ")
}

fn is_progress(line: &str) -> bool {
    let of_remote = line.strip_prefix("remote: ").unwrap_or(line);
    [
        "Cloning into ",
        "Counting objects",
        "Compressing objects",
        "Receiving objects",
        "Resolving deltas",
        "Enumerating",
    ]
    .iter()
    .any(|start| of_remote.starts_with(start))
}

#[cfg(test)]
mod tests {
    use snapbox::{assert_data_eq, str};

    use super::*;

    fn read(complaints: &str) -> String {
        classify(complaints.as_bytes(), Some(128)).to_string()
    }

    #[test]
    fn an_error_of_git_is_classified_and_shown_on_one_line() {
        let causes = [
            "Cloning into 'x'...\nfatal: repository 'https://h/r.git/' not found\n",
            "fatal: '/r' does not appear to be a git repository\nfatal: Could not read",
            "remote: Denied\nfatal: Authentication failed for 'https://h/r'",
            "fatal: could not read Username for 'https://h': terminal prompts disabled",
            "git@h: Permission denied (publickey).\nfatal: Could not read from remote",
            "Host key verification failed.\r\nfatal: Could not read",
            "fatal: unable to access 'https://h/r/': server certificate verification failed.",
            "ssh: connect to host h port 22: Connection refused\nfatal: Could not read",
            "fatal: unable to access 'https://h/openssl': Could not resolve host: h",
            "fatal: write error: No space left on device\nfatal: index-pack failed",
            "warning: a\nfatal: bad thing\nhint: b",
            "",
        ]
        .map(read);
        assert_data_eq!(
            causes.join("\n"),
            str![[r#"
the repository does not exist: fatal: repository 'https://h/r.git/' not found
the repository does not exist: fatal: '/r' does not appear to be a git repository
the host refused access: fatal: Authentication failed for 'https://h/r'
the host refused access: fatal: could not read Username for 'https://h': terminal prompts disabled
the host refused access: git@h: Permission denied (publickey).
the SSH host key is not trusted: Host key verification failed.
cannot establish a trusted TLS connection: fatal: unable to access 'https://h/r/': server certificate verification failed.
cannot connect: ssh: connect to host h port 22: Connection refused
cannot connect: fatal: unable to access 'https://h/openssl': Could not resolve host: h
the disk is full: fatal: write error: No space left on device
git failed with status 128: fatal: bad thing
git failed with status 128: no error message
"#]]
        );
    }

    #[test]
    fn a_message_of_a_host_has_no_control_characters_or_passwords() {
        let reported = read("remote: \u{1b}[2Jgone https://ann:pw@h/r and more\n");
        assert!(reported.ends_with(": remote: [2Jgone https://h/r and more"), "{reported}");
        assert!(read(&format!("fatal: {}", "x".repeat(1000))).len() < 400);
    }
}
