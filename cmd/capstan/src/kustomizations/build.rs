use std::{collections::BTreeSet, path::PathBuf};

use kustomize::{
    BaseObjects, Build, BuildOptions, BuildOutput, BuildReport, FetchRequest, FetchResults, RemoteEntry,
    ResolvedPath, Tree as _,
};
use transport::AddressOrigin;

use super::{
    disk::{BuildRoot, DiskTree, tree_path},
    fetch::{FetchedResources, Fetcher},
    file_names::{FileNames, shown_location},
};
use crate::{Environment, Failure, failure::Foreign as _, session::Session};

pub(crate) struct KustomizationBuild {
    pub(crate) result: Result<BuildOutput, BuildReport>,
    pub(crate) names: FileNames,
    pub(crate) hints: Vec<String>,
    /// The local paths that the build looked up. None if it fetched content.
    pub(crate) inputs: Option<Vec<PathBuf>>,
}

pub(super) enum KustomizationSource {
    Local(BuildRoot),
    Remote(RemoteEntry),
}

impl KustomizationSource {
    pub(super) fn find(place: &str, environment: &Environment, tree: &DiskTree) -> Result<Self, Failure> {
        let path = environment.resolve(place);
        let path = tree_path(&path).ok_or_else(|| Failure::user(format!("`{place}` is not valid UTF-8")))?;
        match tree.resolve(&path).foreign()? {
            ResolvedPath::Folder(folder) => Ok(Self::Local(BuildRoot { folder, copy_root: None })),
            ResolvedPath::File(_) => Err(Failure::user(format!("`{place}` is a file"))
                .hint("use the folder that contains `kustomization.yaml`")),
            ResolvedPath::Missing => RemoteEntry::of_entry(place)
                .map(Self::Remote)
                .ok_or_else(|| Failure::user(format!("the folder `{place}` does not exist"))),
        }
    }
}

/// A build of local and fetched files.
pub(super) struct KustomizationBuilder<'a> {
    pub(super) tree: &'a DiskTree,
    pub(super) root: &'a BuildRoot,
    pub(super) options: BuildOptions,
}

impl KustomizationBuilder<'_> {
    pub(super) fn build_once(&self, answers: &FetchResults) -> Result<BuildOutput, BuildReport> {
        let build = Build { tree: self.tree, fetch_results: answers, options: self.options.clone() };
        build.run_onto(&self.root.folder, self.root.copy_root.as_ref(), BaseObjects::default())
    }

    /// Fetches the requested resources and builds again until no requests remain.
    /// Local files name the requests of the first build of a local folder. Later requests may come from fetched
    /// files.
    pub(super) async fn fetch_and_build(
        &self,
        mut requests: BTreeSet<FetchRequest>,
        fetched: &mut FetchedResources,
        fetcher: &Fetcher,
    ) -> Result<Result<BuildOutput, BuildReport>, Failure> {
        let is_local = self.root.copy_root.is_none() && fetched.results.is_empty();
        let mut named_by = if is_local { AddressOrigin::User } else { AddressOrigin::FetchedFile };
        loop {
            fetched.fetch_all(requests, named_by, fetcher).await?;
            named_by = AddressOrigin::FetchedFile;
            match self.build_once(&fetched.results) {
                Err(report) if !report.requests.is_empty() => requests = report.requests,
                result => return Ok(result),
            }
        }
    }
}

/// Builds the kustomization in a local folder or at a URL, and fetches its remote resources.
/// A build of local files needs neither configuration nor connections.
pub(crate) fn build(
    place: &str,
    options: &BuildOptions,
    session: &Session,
) -> Result<KustomizationBuild, Failure> {
    let tree = DiskTree::new(repository::RepositoryContext::default().max_file_bytes());
    let fetcher = || Ok::<_, Failure>(Fetcher::new(session.repositories()?, session));
    let start = match KustomizationSource::find(place, session.environment(), &tree)? {
        KustomizationSource::Local(start) => start,
        KustomizationSource::Remote(remote) => {
            let fetcher = fetcher()?;
            session.block_on(fetcher.fetch_root(&remote))?
        }
    };
    let building = KustomizationBuilder { tree: &tree, root: &start, options: options.clone() };
    let mut fetched = FetchedResources::default();
    let result = match building.build_once(&fetched.results) {
        Err(report) if !report.requests.is_empty() => {
            let fetcher = fetcher()?;
            session.block_on(building.fetch_and_build(report.requests, &mut fetched, &fetcher))?
        }
        result => result,
    };
    let names = FileNames::relative_to(session.environment().current_dir())
        .with_fetched(&fetched.results)
        .with_root(&shown_location(place), &start);
    let result = result.map(|mut output| {
        names.rename_origins(&mut output.objects);
        output
    });
    let is_local = start.copy_root.is_none() && fetched.results.is_empty();
    let inputs = is_local.then(|| tree.looked_up());
    Ok(KustomizationBuild { result, names, hints: fetched.hints, inputs })
}
