use std::collections::BTreeSet;

use kustomize::{
    BaseObjects, Build, BuildOptions, BuildOutput, BuildReport, FetchRequest, FetchResults, RemoteEntry,
    ResolvedPath, Tree as _,
};
use transport::AddressOrigin;

use super::{
    disk::{DiskTree, Start, tree_path},
    fetch::{Fetched, Fetcher},
    helm::HelmProgram,
    place::{FileNames, shown_place},
};
use crate::{Environment, Failure, failure::Foreign as _, session::Session};

pub(crate) struct Built {
    pub(crate) result: Result<BuildOutput, BuildReport>,
    pub(crate) names: FileNames,
    pub(crate) hints: Vec<String>,
}

#[derive(Clone, Debug)]
pub(crate) struct How {
    pub(crate) options: BuildOptions,
    pub(crate) helm: Option<HelmProgram>,
}

pub(super) enum Place {
    Here(Start),
    Elsewhere(RemoteEntry),
}

impl Place {
    pub(super) fn find(place: &str, environment: &Environment, tree: &DiskTree) -> Result<Self, Failure> {
        let path = environment.resolve(place);
        let path = tree_path(&path).ok_or_else(|| Failure::user(format!("`{place}` is no UTF-8")))?;
        match tree.resolve(&path).foreign()? {
            ResolvedPath::Folder(folder) => Ok(Self::Here(Start { folder, top: None })),
            ResolvedPath::File(_) => Err(Failure::user(format!("`{place}` is a file"))
                .hint("name the folder that holds `kustomization.yaml`")),
            ResolvedPath::Missing => RemoteEntry::of_entry(place)
                .map(Self::Elsewhere)
                .ok_or_else(|| Failure::user(format!("there is no folder `{place}`"))),
        }
    }
}

/// A build of local and fetched files.
pub(super) struct Building<'a> {
    pub(super) tree: &'a DiskTree,
    pub(super) start: &'a Start,
    pub(super) options: BuildOptions,
}

impl Building<'_> {
    pub(super) fn pass(&self, answers: &FetchResults) -> Result<BuildOutput, BuildReport> {
        let build = Build { tree: self.tree, fetch_results: answers, options: self.options };
        build.run_onto(&self.start.folder, self.start.top.as_ref(), BaseObjects::default())
    }

    /// Fetches the requested resources and builds again until no requests remain.
    /// Local files name the requests of the first build of a local folder. Later requests may come from fetched
    /// files.
    pub(super) async fn fetch(
        &self,
        mut wanted: BTreeSet<FetchRequest>,
        fetched: &mut Fetched,
        fetcher: &Fetcher,
    ) -> Result<Result<BuildOutput, BuildReport>, Failure> {
        let is_local = self.start.top.is_none() && fetched.answers.is_empty();
        let mut named_by = if is_local { AddressOrigin::User } else { AddressOrigin::FetchedFile };
        loop {
            fetched.add(wanted, named_by, fetcher).await?;
            named_by = AddressOrigin::FetchedFile;
            match self.pass(&fetched.answers) {
                Err(report) if !report.requests.is_empty() => wanted = report.requests,
                result => return Ok(result),
            }
        }
    }
}

/// Builds the kustomization in a local folder or at a URL, and fetches its remote resources.
/// A build of local files needs neither configuration nor connections.
pub(crate) fn build(place: &str, how: &How, session: &Session) -> Result<Built, Failure> {
    let tree = DiskTree::new(repository::RepositoryContext::default().max_file_bytes());
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
        Err(report) if !report.requests.is_empty() => {
            let fetcher = fetcher()?;
            session.block_on(building.fetch(report.requests, &mut fetched, &fetcher))?
        }
        result => result,
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
