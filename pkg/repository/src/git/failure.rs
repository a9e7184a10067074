use std::{io, path::PathBuf, time::Duration};

use transport::Credential;

/// A failed Git operation on a remote, with its context.
#[derive(Debug, thiserror::Error)]
#[error("cannot {action} `{remote}`")]
pub struct GitError {
    /// The attempted action, such as `read` or `check out`.
    pub action: &'static str,
    /// The remote, without credentials.
    pub remote: String,
    /// The cause.
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
    #[error("git {version} is too old; {needed} is the oldest that serves")]
    TooOld { version: String, needed: &'static str },
    #[error("cannot hear what git says")]
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
    #[error("there is no such repository: {said}")]
    NotFound { said: String },
    #[error("the host refused access: {said}")]
    Refused { said: String },
    #[error("the key of the host is not trusted: {said}")]
    HostKey { said: String },
    #[error("no trusted TLS connection: {said}")]
    Tls { said: String },
    #[error("cannot connect: {said}")]
    Connect { said: String },
    #[error("nothing came for {waited:?}")]
    TimedOut { waited: Duration },
    #[error("the disk is full: {said}")]
    DiskFull { said: String },
    #[error("there is no branch, tag or commit `{tree_ish}`")]
    UnknownTreeIsh { tree_ish: String, suggestions: Vec<String> },
    #[error("`{tree_ish}` is the beginning of several hashes")]
    Ambiguous { tree_ish: String },
    #[error("`{tree_ish}` names no branch, tag or commit")]
    InvalidTreeIsh { tree_ish: String },
    #[error("there is no file `{path}` in commit {commit}")]
    UnknownPath { path: String, commit: String, suggestions: Vec<String> },
    #[error("`{path}` in commit {commit} is {what}")]
    NotAFile { path: String, commit: String, what: &'static str },
    #[error("the link `{path}` in commit {commit} leads out of the repository, to `{target}`")]
    LinkEscapes { path: String, commit: String, target: String },
    #[error("it is larger than the limit of {limit_bytes} bytes")]
    TooLarge { limit_bytes: u64 },
    #[error("`{}` is no worktree of this repository", folder.display())]
    ForeignFolder { folder: PathBuf },
    #[error("`{}` has changes that are not committed", folder.display())]
    LocalChanges { folder: PathBuf },
    #[error("the answer of git cannot be read as {what}")]
    Unreadable { what: &'static str },
    #[error("git {}: {said}", ended(*status))]
    Other { said: String, status: Option<i32> },
}

impl GitFailure {
    /// True if a retry may succeed.
    pub(super) fn is_temporary(&self) -> bool {
        // A retry does not help with an unknown host name.
        matches!(self, Self::Connect { said } if !said.to_ascii_lowercase().contains("resolve"))
    }

    /// True if the commit or the file does not exist.
    pub(super) fn is_not_found(&self) -> bool {
        matches!(self, Self::UnknownTreeIsh { .. } | Self::UnknownPath { .. })
    }
}

fn ended(status: Option<i32>) -> String {
    status.map_or("was killed".to_owned(), |status| format!("ended with status {status}"))
}

/// The maximum length of an error line, in characters.
const MAX_CHARACTERS: usize = 300;

type FailureConstructor = fn(String) -> GitFailure;

/// Error texts and their causes, in order of precedence. Specific causes come before a general connection failure.
/// Source: git 2.39 (remote-curl.c, http.c, connect.c, upload-pack.c), OpenSSH 9.2, curl 7.88, GnuTLS and OpenSSL texts.
const ERROR_PATTERNS: [(&str, FailureConstructor); 23] = [
    ("no space left on device", |said| GitFailure::DiskFull { said }),
    ("disk quota exceeded", |said| GitFailure::DiskFull { said }),
    ("host key verification failed", |said| GitFailure::HostKey { said }),
    ("remote host identification has changed", |said| GitFailure::HostKey { said }),
    ("permission denied (", |said| GitFailure::Refused { said }),
    ("authentication failed", |said| GitFailure::Refused { said }),
    ("could not read username", |said| GitFailure::Refused { said }),
    ("could not read password", |said| GitFailure::Refused { said }),
    ("returned error: 401", |said| GitFailure::Refused { said }),
    ("returned error: 403", |said| GitFailure::Refused { said }),
    ("access denied", |said| GitFailure::Refused { said }),
    ("repository not found", |said| GitFailure::NotFound { said }),
    ("repository '' does not exist", |said| GitFailure::NotFound { said }),
    ("' not found", |said| GitFailure::NotFound { said }),
    ("does not appear to be a git repository", |said| GitFailure::NotFound { said }),
    ("returned error: 404", |said| GitFailure::NotFound { said }),
    ("certificate", |said| GitFailure::Tls { said }),
    ("ssl", |said| GitFailure::Tls { said }),
    ("gnutls", |said| GitFailure::Tls { said }),
    ("could not resolve", |said| GitFailure::Connect { said }),
    ("failed to connect", |said| GitFailure::Connect { said }),
    ("connection ", |said| GitFailure::Connect { said }),
    ("the remote end hung up", |said| GitFailure::Connect { said }),
];

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
    let telling = ["error: ", "fatal: ", "ssh: ", "remote: "];
    let said = telling.iter().find_map(|start| lines.iter().find(|line| line.starts_with(start)));
    let said = said.or(lines.last()).cloned().unwrap_or_else(|| "it did not say why".to_owned());
    GitFailure::Other { said, status }
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
    use super::*;

    fn read(complaints: &str) -> String {
        classify(complaints.as_bytes(), Some(128)).to_string()
    }

    #[test]
    fn a_complaint_is_told_by_its_kind_in_one_line() {
        let cases = [
            (
                "Cloning into 'x'...\nfatal: repository 'https://h/r.git/' not found\n",
                "there is no such repository",
            ),
            (
                "fatal: '/r' does not appear to be a git repository\nfatal: Could not read",
                "there is no such repository",
            ),
            ("remote: Denied\nfatal: Authentication failed for 'https://h/r'", "the host refused access"),
            (
                "fatal: could not read Username for 'https://h': terminal prompts disabled",
                "the host refused access",
            ),
            (
                "git@h: Permission denied (publickey).\nfatal: Could not read from remote",
                "the host refused access",
            ),
            ("Host key verification failed.\r\nfatal: Could not read", "the key of the host is not trusted"),
            (
                "fatal: unable to access 'https://h/r/': server certificate verification failed.",
                "no trusted TLS",
            ),
            (
                "ssh: connect to host h port 22: Connection refused\nfatal: Could not read",
                "cannot connect: ssh: ",
            ),
            ("fatal: unable to access 'https://h/openssl': Could not resolve host: h", "cannot connect"),
            ("fatal: write error: No space left on device\nfatal: index-pack failed", "the disk is full"),
            ("warning: a\nfatal: bad thing\nhint: b", "git ended with status 128: fatal: bad thing"),
            ("", "git ended with status 128: it did not say why"),
        ];
        for (complaints, told) in cases {
            assert!(read(complaints).starts_with(told), "{complaints:?}: {}", read(complaints));
        }
    }

    #[test]
    fn what_a_host_says_cannot_steer_a_terminal_nor_give_a_password_away() {
        let told = read("remote: \u{1b}[2Jgone https://ann:pw@h/r and more\n");
        assert_eq!(told, "git ended with status 128: remote: [2Jgone https://h/r and more");
        assert!(read(&format!("fatal: {}", "x".repeat(1000))).len() < 400);
    }
}
