use std::{io, path::PathBuf, time::Duration};

use crate::Credential;

/// A remote that did not give what was wanted, with everything known about it.
#[derive(Debug, thiserror::Error)]
#[error("cannot {action} `{remote}`")]
pub struct GitError {
    /// What was done, as `read` or `check out`.
    pub action: &'static str,
    /// The remote, without credentials.
    pub remote: String,
    /// What went wrong.
    #[source]
    pub failure: GitFailure,
    /// The credential of ours that was at hand, masked; none where Git had its own helpers alone.
    pub credential: Option<Credential>,
    /// The proxy that was used, without credentials.
    pub proxy: Option<String>,
    /// The clone on this machine.
    pub clone: PathBuf,
}

/// What went wrong with Git. `said` is the one line of its complaint that says most.
#[derive(Debug, thiserror::Error)]
pub enum GitFailure {
    /// The program cannot be started.
    #[error("cannot start the program `{program}`")]
    Program {
        /// Its name or path.
        program: String,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// The program is older than what is needed of it.
    #[error("git {version} is too old; {needed} is the oldest that serves")]
    TooOld {
        /// The version it names.
        version: String,
        /// The oldest one.
        needed: &'static str,
    },
    /// A pipe to the program broke.
    #[error("cannot hear what git says")]
    Pipe {
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// A file or folder beside the clone cannot be made, moved or removed.
    #[error("cannot use `{}`", path.display())]
    Disk {
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// There is no such repository, or it is shown to nobody who may not read it.
    #[error("there is no such repository: {said}")]
    NotFound {
        /// What Git said.
        said: String,
    },
    /// The host wants a credential, or refuses the one it was given.
    #[error("the host refused access: {said}")]
    Refused {
        /// What Git said.
        said: String,
    },
    /// The key of an ssh host is not known, or another one than before.
    #[error("the key of the host is not trusted: {said}")]
    HostKey {
        /// What ssh said.
        said: String,
    },
    /// The certificate of the host is not trusted.
    #[error("no trusted TLS connection: {said}")]
    Tls {
        /// What Git said.
        said: String,
    },
    /// The host could not be reached.
    #[error("cannot connect: {said}")]
    Connect {
        /// What Git said.
        said: String,
    },
    /// Nothing came for too long.
    #[error("nothing came for {waited:?}")]
    TimedOut {
        /// The limit that was reached.
        waited: Duration,
    },
    /// The disk is full.
    #[error("the disk is full: {said}")]
    DiskFull {
        /// What Git said.
        said: String,
    },
    /// No branch, tag or commit is named so.
    #[error("there is no branch, tag or commit `{tree_ish}`")]
    NoTreeIsh {
        /// What was asked for.
        tree_ish: String,
        /// Names of branches and tags that come near.
        near: Vec<String>,
    },
    /// A hash was cut so short that several objects begin with it.
    #[error("`{tree_ish}` is the beginning of several hashes")]
    Ambiguous {
        /// What was asked for.
        tree_ish: String,
    },
    /// What was asked for is no name that Git can know.
    #[error("`{tree_ish}` names no branch, tag or commit")]
    BadTreeIsh {
        /// What was asked for.
        tree_ish: String,
    },
    /// The commit has no such file.
    #[error("there is no file `{path}` in commit {commit}")]
    NoPath {
        /// Path from the root of the repository.
        path: String,
        /// The commit.
        commit: String,
        /// Names beside it.
        near: Vec<String>,
    },
    /// What stands there is no file of this repository.
    #[error("`{path}` in commit {commit} is {what}")]
    NoFile {
        /// Path from the root of the repository.
        path: String,
        /// The commit.
        commit: String,
        /// What it is instead.
        what: &'static str,
    },
    /// A link leads out of the repository.
    #[error("the link `{path}` in commit {commit} leads out of the repository, to `{target}`")]
    LinkLeadsOut {
        /// Path of the link from the root of the repository.
        path: String,
        /// The commit.
        commit: String,
        /// Where it leads.
        target: String,
    },
    /// More came than is taken.
    #[error("it is larger than the limit of {limit_bytes} bytes")]
    TooMuch {
        /// The limit.
        limit_bytes: u64,
    },
    /// The folder for a worktree holds something else.
    #[error("`{}` is no worktree of this repository", folder.display())]
    ForeignFolder {
        /// The folder.
        folder: PathBuf,
    },
    /// A worktree has changes that are committed nowhere.
    #[error("`{}` has changes that are not committed", folder.display())]
    LocalChanges {
        /// The folder.
        folder: PathBuf,
    },
    /// Git answered in a way it should not.
    #[error("the answer of git cannot be read as {what}")]
    Unreadable {
        /// What was expected.
        what: &'static str,
    },
    /// Anything else.
    #[error("git {}: {said}", ended(*status))]
    Other {
        /// What Git said.
        said: String,
        /// How it ended; none when it was killed.
        status: Option<i32>,
    },
}

impl GitFailure {
    /// Whether the same may succeed a moment later.
    pub(super) fn may_pass(&self) -> bool {
        // A name that is not known now is not known in a second.
        matches!(self, Self::Connect { said } if !said.to_ascii_lowercase().contains("resolve"))
    }

    /// Whether there is no such commit or file, as far as could be seen.
    pub(super) fn is_absence(&self) -> bool {
        matches!(self, Self::NoTreeIsh { .. } | Self::NoPath { .. })
    }
}

fn ended(status: Option<i32>) -> String {
    status.map_or("was killed".to_owned(), |status| format!("ended with status {status}"))
}

/// The most characters of a complaint that are shown.
const SHOWN_CHARACTERS: usize = 300;

type Make = fn(String) -> GitFailure;

/// Words in complaints, in the order in which they decide: what is said of a connection says more than that there was none.
/// Source: git 2.39 (remote-curl.c, http.c, connect.c, upload-pack.c), OpenSSH 9.2, curl 7.88, GnuTLS and OpenSSL texts.
const COMPLAINTS: [(&str, Make); 23] = [
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

/// Reads what Git complained about.
pub(super) fn classify(complaints: &[u8], status: Option<i32>) -> GitFailure {
    let text = String::from_utf8_lossy(complaints);
    let lines: Vec<String> =
        text.split(['\n', '\r']).map(clean).filter(|line| !line.is_empty() && !is_progress(line)).collect();
    for (words, make) in COMPLAINTS {
        if let Some(line) = lines.iter().find(|line| unquoted(line).contains(words)) {
            return make(line.clone());
        }
    }
    let telling = ["error: ", "fatal: ", "ssh: ", "remote: "];
    let said = telling.iter().find_map(|start| lines.iter().find(|line| line.starts_with(start)));
    let said = said.or(lines.last()).cloned().unwrap_or_else(|| "it did not say why".to_owned());
    GitFailure::Other { said, status }
}

/// A line in lower case without what it quotes: names and addresses are not what is complained about.
fn unquoted(line: &str) -> String {
    let mut parts = line.split('\'').step_by(2);
    let first = parts.next().unwrap_or_default().to_ascii_lowercase();
    parts.fold(first, |text, part| text + "''" + &part.to_ascii_lowercase())
}

/// A line as it may be shown: what a host sends must not steer a terminal, and addresses lose their passwords.
fn clean(line: &str) -> String {
    let visible: String = line.trim().chars().filter(|c| !c.is_control()).take(SHOWN_CHARACTERS).collect();
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
