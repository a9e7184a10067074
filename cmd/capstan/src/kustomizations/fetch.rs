use std::{collections::BTreeSet, path::Path};

use chart::VersionRange;
use futures::{StreamExt as _, stream};
use kustomize::{
    ChartPull, Checkout, FetchMethod, FetchRequest, FetchResults, FetchedContent, RemoteEntry, TreePath,
};
use repository::{
    ChartSource, RepositoryContext,
    git::{CloneStore, GitRemote, LocalChangesPolicy, RemoteUrl},
};

use transport::AddressOrigin;

use super::disk::{BuildRoot, tree_path};
use crate::{Environment, Failure, WithContext as _, failure::Kind, session::Session, ui::Messages};

const MAX_CONCURRENT_FETCHES: usize = 8;
/// The folder for files of commits inside a clone, deleted together with the clone.
const TREES_FOLDER: &str = "trees";

#[derive(Default)]
pub(super) struct FetchedResources {
    pub(super) results: FetchResults,
    pub(super) hints: Vec<String>,
}

impl FetchedResources {
    /// Fetches all requests. A failed fetch is recorded as an answer.
    pub(super) async fn fetch_all(
        &mut self,
        requests: BTreeSet<FetchRequest>,
        named_by: AddressOrigin,
        fetcher: &Fetcher,
    ) -> Result<(), Failure> {
        let each = requests.into_iter().map(|request| fetcher.fetch(request, named_by));
        let answers: Vec<_> = stream::iter(each).buffer_unordered(MAX_CONCURRENT_FETCHES).collect().await;
        for (request, answer) in answers {
            let answer = answer.map_err(|failure| {
                self.hints.extend(failure.distinct_hints().map(str::to_owned));
                failure.one_line()
            });
            self.results.insert(request, answer);
        }
        Ok(())
    }
}

pub(super) struct Fetcher {
    context: RepositoryContext,
    messages: Messages,
    pub(super) environment: Environment,
    /// True if all fetched content is compared with the lock of a provider.
    verifies_later: bool,
}

impl Fetcher {
    pub(super) fn new(context: RepositoryContext, session: &Session) -> Self {
        let (messages, environment) = (session.messages().clone(), session.environment().clone());
        Self { context, messages, environment, verifies_later: false }
    }

    /// Allows charts that are not in the lock, because it has their digests as files of a kustomization.
    pub(super) fn for_provider_overlays(self) -> Self {
        Self { verifies_later: true, ..self }
    }

    pub(super) async fn fetch_root(&self, remote: &RemoteEntry) -> Result<BuildRoot, Failure> {
        let shown = remote.redacted();
        let answer = self.fetch_remote(remote, AddressOrigin::User).await;
        match answer.with_context(|| format!("cannot fetch `{shown}`"))? {
            FetchedContent::Folder { top, root } => Ok(BuildRoot { folder: root, copy_root: Some(top) }),
            FetchedContent::Bytes(_) => {
                Err(Failure::user(format!("`{shown}` is a file, not a folder with a kustomization")))
            }
        }
    }

    async fn fetch(
        &self,
        request: FetchRequest,
        named_by: AddressOrigin,
    ) -> (FetchRequest, Result<FetchedContent, Failure>) {
        let answer = match &request {
            FetchRequest::Remote(remote) => self.fetch_remote(remote, named_by).await,
            FetchRequest::Chart(pull) => Box::pin(self.fetch_chart(pull, named_by)).await,
        };
        (request, answer)
    }

    async fn fetch_remote(
        &self,
        remote: &RemoteEntry,
        named_by: AddressOrigin,
    ) -> Result<FetchedContent, Failure> {
        let mut failures = Vec::new();
        for way in &remote.methods {
            let (name, url, answer) = match way {
                FetchMethod::File(url) => ("file", url, self.fetch_file(url, named_by).await),
                FetchMethod::Repository(checkout) => {
                    ("repository", &checkout.url, Box::pin(self.fetch_repository(checkout, named_by)).await)
                }
            };
            match answer {
                Ok(answer) => return Ok(answer),
                // The caller already names the URL.
                Err(failure) => {
                    failures
                        .push((name, failure.without_repeated_name(&transport::address::redact_text(url))));
                }
            }
        }
        match failures.len() {
            0 => Err(Failure::user("the address is neither an HTTP URL nor a Git repository")),
            1 => Err(failures.remove(0).1),
            _ => {
                let both = failures.iter().map(|(name, it)| format!("as a {name}, {}", it.one_line()));
                let message = both.collect::<Vec<_>>().join("; ");
                let hints = failures.iter().flat_map(|(_, it)| it.distinct_hints());
                Err(hints.fold(Failure::new(Kind::Environment, message), Failure::hint))
            }
        }
    }

    async fn fetch_chart(
        &self,
        pull: &ChartPull,
        named_by: AddressOrigin,
    ) -> Result<FetchedContent, Failure> {
        let range = VersionRange::parse(&pull.version, pull.devel)?;
        let source = ChartSource::parse(&pull.name, Some(&pull.repo), named_by)?;
        let source = if self.verifies_later { source.verified_by_caller() } else { source };
        let chart = source.fetch(&range, &self.context).await?;
        Ok(FetchedContent::Bytes((&*chart.bytes).into()))
    }

    async fn fetch_file(&self, url: &str, named_by: AddressOrigin) -> Result<FetchedContent, Failure> {
        let file = repository::fetch_file(&self.context, url, named_by).await?;
        Ok(FetchedContent::Bytes((&*file.bytes).into()))
    }

    async fn fetch_repository(
        &self,
        checkout: &Checkout,
        named_by: AddressOrigin,
    ) -> Result<FetchedContent, Failure> {
        let Some(limit) = checkout.timeout else { return self.check_out(checkout, named_by).await };
        match tokio::time::timeout(limit, self.check_out(checkout, named_by)).await {
            Ok(answer) => answer,
            Err(_) => {
                Err(Failure::new(Kind::Environment, format!("the fetch exceeded the timeout of {limit:?}"))
                    .hint("use a longer `timeout` in the address"))
            }
        }
    }

    async fn check_out(
        &self,
        checkout: &Checkout,
        named_by: AddressOrigin,
    ) -> Result<FetchedContent, Failure> {
        let shown = transport::address::redact_text(&checkout.url);
        let url =
            RemoteUrl::parse(&checkout.url).with_context(|| format!("`{shown}` is not a Git repository"))?;
        let remote = GitRemote::new(url, named_by, CloneStore::Cache, &self.context)?;
        let commit = remote.resolve(checkout.reference.as_deref().unwrap_or("HEAD")).await?;
        let folder = remote.clone_folder().join(TREES_FOLDER).join(commit.as_str());
        let tree = remote.worktree(&commit, &folder, LocalChangesPolicy::Discard).await?;
        if checkout.submodules {
            self.check_submodules(&shown, &checkout.folder, &tree.submodules)?;
        }
        let no_utf8 =
            || Failure::new(Kind::Environment, format!("`{}` is not valid UTF-8", folder.display()));
        let real = |path: &Path| path.canonicalize().ok().as_deref().and_then(tree_path);
        let top = real(&folder).ok_or_else(no_utf8)?;
        let root = real_folder(&folder.join(&checkout.folder)).ok_or_else(|| {
            let place = if checkout.folder.is_empty() { "." } else { &checkout.folder };
            Failure::new(Kind::Environment, format!("commit {commit} has no folder `{place}`"))
        })?;
        Ok(FetchedContent::Folder { top, root })
    }

    /// Fails if the folder is in a submodule, because submodules are not fetched. Otherwise warns about left-out
    /// submodules.
    fn check_submodules(&self, shown: &str, folder: &str, submodules: &[String]) -> Result<(), Failure> {
        let is_in = |module: &&String| Path::new(folder).starts_with(module);
        if let Some(module) = submodules.iter().find(is_in) {
            let message =
                format!("`{folder}` is in the submodule `{module}`, and submodules are not fetched");
            return Err(Failure::user(message).hint("use the address of the submodule's repository"));
        }
        if !submodules.is_empty() {
            self.messages.warning(format!(
                "skipped the submodules of {shown}: {}; add `submodules=false` to the address to hide this warning",
                submodules.join(", ")
            ));
        }
        Ok(())
    }
}

fn real_folder(path: &Path) -> Option<TreePath> {
    let real = path.canonicalize().ok().filter(|real| real.is_dir())?;
    tree_path(&real)
}
