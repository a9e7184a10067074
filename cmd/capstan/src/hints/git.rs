use std::error::Error;

use repository::{
    Error as RepositoryError,
    git::{GitError, GitFailure},
};

use super::rules::{as_error, one_of};

pub(super) fn hints(error: &(dyn Error + 'static)) -> Vec<String> {
    match as_error::<RepositoryError>(error) {
        Some(RepositoryError::GitProgram(failure)) => match &**failure {
            GitFailure::Program { .. } => vec!["install `git`, and see that it is in PATH".to_owned()],
            GitFailure::TooOld { .. } => vec!["install a newer `git`".to_owned()],
            _ => Vec::new(),
        },
        Some(RepositoryError::Git(error)) => of_remote(error),
        _ => Vec::new(),
    }
}

fn of_remote(error: &GitError) -> Vec<String> {
    let is_ssh = !error.remote.starts_with("http");
    let mut hints = match &error.failure {
        GitFailure::Refused { .. } => vec![match &error.credential {
            Some(credential) => {
                format!("it was asked with {credential}; check that it may read this repository")
            }
            None if is_ssh => {
                "see that `ssh` gets in without a question: the key is in the agent, or has no passphrase"
                    .to_owned()
            }
            None => format!(
                "let a credential helper of Git know one: `git ls-remote {}` must pass without a question",
                error.remote
            ),
        }],
        GitFailure::NotFound { .. } => {
            vec![
                "hosts say the same of a repository that is private to others: check address and access"
                    .to_owned(),
            ]
        }
        GitFailure::HostKey { .. } => {
            vec![
                "connect once with `ssh`, and compare the fingerprint it shows with the one the host tells"
                    .to_owned(),
            ]
        }
        GitFailure::Tls { .. } => {
            vec!["name a file with the CA of the host in SSL_CERT_FILE; Git then trusts what is in that file alone".to_owned()]
        }
        GitFailure::NoTreeIsh { near, .. } | GitFailure::NoPath { near, .. } if !near.is_empty() => {
            vec![format!("did you mean {}?", one_of(near))]
        }
        GitFailure::Ambiguous { .. } => vec!["write more of the hash".to_owned()],
        GitFailure::Other { .. } | GitFailure::Unreadable { .. } => {
            vec![format!("the clone is in {}; without it, it is made anew", error.clone.display())]
        }
        _ => Vec::new(),
    };
    if let Some(proxy) = &error.proxy {
        hints.push(format!("the request went through the proxy {proxy}"));
    }
    hints
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn of(remote: &str, failure: GitFailure) -> Vec<String> {
        hints(&RepositoryError::Git(Arc::new(GitError {
            action: "clone",
            remote: remote.to_owned(),
            failure,
            credential: None,
            proxy: None,
            clone: "/cache/git/git.lab/r.git".into(),
        })))
    }

    fn refused() -> GitFailure {
        GitFailure::Refused { said: "no".to_owned() }
    }

    #[test]
    fn who_is_refused_is_told_what_to_set_up_for_the_way_that_was_taken() {
        assert!(of("https://git.lab/r", refused())[0].contains("`git ls-remote https://git.lab/r`"));
        assert!(of("git@git.lab:r", refused())[0].contains("`ssh` gets in"));
    }

    #[test]
    fn a_name_that_is_not_there_is_answered_with_near_ones() {
        let near = vec!["v1.0.0".to_owned()];
        let hints = of("/r", GitFailure::NoTreeIsh { tree_ish: "v1.0.1".to_owned(), near });
        assert_eq!(hints, ["did you mean `v1.0.0`?"]);
    }

    #[test]
    fn what_git_says_of_a_broken_clone_is_told_with_its_place() {
        let failure = GitFailure::Other { said: "bad object".to_owned(), status: Some(128) };
        assert_eq!(
            of("/r", failure),
            ["the clone is in /cache/git/git.lab/r.git; without it, it is made anew"]
        );
    }
}
