use kustomize::{
    Answer, Build, BuildErrors, Options, Outcome, Output, Remote, Resolved, Tree as _, TreePath,
};

use super::{
    disk::{DiskTree, tree_path},
    fetch::{self, Fetched},
    helm::HelmProgram,
};
use crate::{Failure, Within as _, session::Session};

/// What came of a build.
pub(crate) struct Built {
    /// The objects, or all problems.
    pub(crate) result: Result<Output, BuildErrors>,
    /// What to do about that which could not be fetched.
    pub(crate) hints: Vec<String>,
}

/// How to build.
#[derive(Clone, Debug)]
pub(crate) struct How {
    /// For the builder.
    pub(crate) options: Options,
    /// What renders charts, where that is allowed.
    pub(crate) helm: Option<HelmProgram>,
}

/// Where a build begins.
#[derive(Debug)]
pub(super) struct Start {
    pub(super) folder: TreePath,
    /// The copy of a repository it is in.
    pub(super) top: Option<TreePath>,
}

/// Builds the kustomization in a folder of this machine, or behind a url; fetches what it names elsewhere. A build of
/// local files alone needs no configuration, and makes no connection.
/// # Errors
/// When there is no such folder, or it cannot be fetched; `interrupted`.
pub(crate) fn build(place: &str, how: &How, session: &Session) -> Result<Built, Failure> {
    let tree = DiskTree::new(repository::Context::default().max_file_bytes());
    let mut fetched = Fetched::default();
    let start = start(place, &tree, session)?;
    loop {
        let build = Build { tree: &tree, answers: &fetched.answers, options: how.options };
        let result = match build.run_within(&start.folder, start.top.as_ref()) {
            Ok(Outcome::Wants(wanted)) => {
                fetched.add(wanted, how.helm.as_ref(), session)?;
                continue;
            }
            Ok(Outcome::Built(output)) => Ok(output),
            Err(errors) => Err(errors),
        };
        return Ok(Built { result, hints: fetched.hints });
    }
}

pub(super) fn start(place: &str, tree: &DiskTree, session: &Session) -> Result<Start, Failure> {
    let path = session.environment().resolve(place);
    let path = tree_path(&path).ok_or_else(|| Failure::user(format!("`{place}` is no UTF-8")))?;
    match tree.resolve(&path)? {
        Resolved::Folder(folder) => Ok(Start { folder, top: None }),
        Resolved::File(_) => Err(Failure::user(format!("`{place}` is a file"))
            .hint("name the folder that holds `kustomization.yaml`")),
        Resolved::Missing => elsewhere(place, session),
    }
}

fn elsewhere(place: &str, session: &Session) -> Result<Start, Failure> {
    let remote =
        Remote::of_entry(place).ok_or_else(|| Failure::user(format!("there is no folder `{place}`")))?;
    let shown = remote.shown();
    let answer = fetch::one(&remote, session);
    match answer.within(|| format!("cannot fetch `{shown}`"))? {
        Answer::Folder { top, root } => Ok(Start { folder: root, top: Some(top) }),
        Answer::Bytes(_) => {
            Err(Failure::user(format!("`{shown}` is a file; a folder with a kustomization is needed")))
        }
    }
}
