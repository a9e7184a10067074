use std::collections::BTreeSet;

use kustomize::{
    Answers, Build, BuildErrors, Options, Outcome, Output, Remote, Request, Resolved, Tree as _, TreePath,
};
use repository::NamedBy;

use super::{
    disk::{DiskTree, tree_path},
    fetch::{Fetched, Fetcher},
    helm::HelmProgram,
    place::{FileNames, shown_place},
};
use crate::{Environment, Failure, session::Session};

/// What came of a build.
pub(crate) struct Built {
    /// The objects, or all problems.
    pub(crate) result: Result<Output, BuildErrors>,
    /// What its files are called.
    pub(crate) names: FileNames,
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

/// What is named as the folder of a kustomization.
pub(super) enum Place {
    /// A folder of this machine.
    Here(Start),
    /// A folder of a repository.
    Elsewhere(Remote),
}

impl Place {
    /// Looks on this machine alone.
    /// # Errors
    /// When there is no such folder, and it is no address either.
    pub(super) fn find(place: &str, environment: &Environment, tree: &DiskTree) -> Result<Self, Failure> {
        let path = environment.resolve(place);
        let path = tree_path(&path).ok_or_else(|| Failure::user(format!("`{place}` is no UTF-8")))?;
        match tree.resolve(&path)? {
            Resolved::Folder(folder) => Ok(Self::Here(Start { folder, top: None })),
            Resolved::File(_) => Err(Failure::user(format!("`{place}` is a file"))
                .hint("name the folder that holds `kustomization.yaml`")),
            Resolved::Missing => Remote::of_entry(place)
                .map(Self::Elsewhere)
                .ok_or_else(|| Failure::user(format!("there is no folder `{place}`"))),
        }
    }
}

/// A build of what is on the disk and what was fetched.
pub(super) struct Building<'a> {
    pub(super) tree: &'a DiskTree,
    pub(super) start: &'a Start,
    pub(super) options: Options,
}

/// What came of one pass.
pub(super) enum Pass {
    Done(Result<Output, BuildErrors>),
    Wants(BTreeSet<Request>),
}

impl Building<'_> {
    /// Builds of what there is.
    pub(super) fn pass(&self, answers: &Answers) -> Pass {
        let build = Build { tree: self.tree, answers, options: self.options };
        match build.run_within(&self.start.folder, self.start.top.as_ref()) {
            Ok(Outcome::Wants(wanted)) => Pass::Wants(wanted),
            Ok(Outcome::Built(output)) => Pass::Done(Ok(output)),
            Err(errors) => Pass::Done(Err(errors)),
        }
    }

    /// Fetches what a first pass wants and builds again, until nothing more is wanted. Local files name what the first pass of
    /// a local folder wants; anything else may come from fetched files.
    /// # Errors
    /// As for [`Fetched::add`].
    pub(super) async fn fetch(
        &self,
        mut wanted: BTreeSet<Request>,
        fetched: &mut Fetched,
        fetcher: &Fetcher,
    ) -> Result<Result<Output, BuildErrors>, Failure> {
        let is_local = self.start.top.is_none() && fetched.answers.is_empty();
        let mut named_by = if is_local { NamedBy::User } else { NamedBy::FetchedFile };
        loop {
            fetched.add(wanted, named_by, fetcher).await?;
            named_by = NamedBy::FetchedFile;
            match self.pass(&fetched.answers) {
                Pass::Done(result) => return Ok(result),
                Pass::Wants(more) => wanted = more,
            }
        }
    }
}

/// Builds the kustomization in a folder of this machine, or behind a url; fetches what it names elsewhere. A build of
/// local files alone needs no configuration, and makes no connection.
/// # Errors
/// When there is no such folder, or it cannot be fetched; `interrupted`.
pub(crate) fn build(place: &str, how: &How, session: &Session) -> Result<Built, Failure> {
    let tree = DiskTree::new(repository::Context::default().max_file_bytes());
    let fetcher = || {
        let fetcher = Fetcher::new(session.repositories()?, session);
        Ok::<_, Failure>(fetcher.with_helm(how.helm.clone()))
    };
    let start = match Place::find(place, session.environment(), &tree)? {
        Place::Here(start) => start,
        Place::Elsewhere(remote) => {
            let fetcher = fetcher()?;
            session.block_on(fetcher.start(&remote))?
        }
    };
    let building = Building { tree: &tree, start: &start, options: how.options };
    let mut fetched = Fetched::default();
    let result = match building.pass(&fetched.answers) {
        Pass::Done(result) => result,
        Pass::Wants(wanted) => {
            let fetcher = fetcher()?;
            session.block_on(building.fetch(wanted, &mut fetched, &fetcher))?
        }
    };
    let names = FileNames::seen_from(session.environment().current_dir())
        .with_answers(&fetched.answers)
        .with_start(&shown_place(place), &start);
    let result = result.map(|mut output| {
        names.name_setters(&mut output.objects);
        output
    });
    Ok(Built { result, names, hints: fetched.hints })
}
