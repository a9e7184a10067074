use std::{
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use transport::{
    AddressOrigin, Event, NetworkAccess, Refresh, RetryReason, disk,
    store::{CREATION_PREFIX, KeyLock, is_clone, lock_file},
};

use super::{
    GitCommit, RemoteUrl,
    failure::{GitError, GitFailure},
    network::{self, GitAccess},
    program::GitCommand,
    query::split_suffix,
    session::{self, GitSession, RemoteCache},
};
use crate::{Error, RepositoryContext};

/// The namespace of fetched references that are neither branches nor tags.
pub(super) const LOCAL_REFS: &str = "refs/capstan/";

/// The folder that contains the clones.
#[derive(Clone, Copy, Debug)]
pub enum CloneStore<'a> {
    /// The cache. If the cache is disabled, a temporary folder that is deleted when the process ends.
    Cache,
    /// The given folder, such as `dependencies/.repos`.
    Folder(&'a Path),
}

/// A Git repository, fetched into one bare clone on this machine and read from there.
///
/// The clone is created atomically, and only once even if many tasks and processes need it. A process fetches branches
/// and tags at most once, and only to resolve a branch, an unknown name or the list of tags. Known tags and full hashes
/// need no connection. Branches are stored under `refs/remotes/origin`, so that no local branch is overwritten.
pub struct GitRemote {
    pub(super) context: RepositoryContext,
    pub(super) url: RemoteUrl,
    pub(super) clone: PathBuf,
    pub(super) cache: Arc<RemoteCache>,
    pub(super) named_by: AddressOrigin,
}

impl std::fmt::Debug for GitRemote {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Remote").field("url", &self.url).field("clone", &self.clone).finish_non_exhaustive()
    }
}

/// The result of looking up a name.
pub(super) struct ResolvedCommit {
    pub(super) commit: GitCommit,
    /// True if the name may point to another commit on the host by now.
    pub(super) may_change: bool,
}

impl GitRemote {
    /// Takes a url. Opens no connection, and creates no folder except the one that contains all clones.
    /// # Errors
    /// Fails if that folder cannot be created.
    pub fn new(
        url: RemoteUrl,
        named_by: AddressOrigin,
        clones: CloneStore<'_>,
        context: &RepositoryContext,
    ) -> Result<Self, Error> {
        let clones = match clones {
            CloneStore::Cache => session::clones_folder(context)?,
            CloneStore::Folder(folder) => folder.to_owned(),
        };
        let clone = clones.join(url.key());
        let known = context.session::<GitSession>().remote_cache(&clone);
        Ok(Self { cache: known, context: context.clone(), url, clone, named_by })
    }

    /// The url of the remote.
    pub fn url(&self) -> &RemoteUrl {
        &self.url
    }

    /// The folder of the bare clone.
    pub fn clone_folder(&self) -> &Path {
        &self.clone
    }

    /// Resolves a branch, a tag, a full or short hash, or `HEAD`, each with an optional suffix such as `~1`. A tag wins
    /// over a branch of the same name. Any other name with a slash is another reference, such as `pull/1/head`.
    ///
    /// Fetches if the name is unknown. Fetches once per process if the name is a branch or another reference.
    /// # Errors
    /// [`GitFailure::UnknownTreeIsh`] with similar names; [`GitFailure::Ambiguous`]; any failure of the fetch;
    /// [`transport::Error::Offline`].
    pub async fn resolve(&self, tree_ish: &str) -> Result<GitCommit, Error> {
        if let Some(commit) = self.cache.commit(tree_ish) {
            return Ok(commit);
        }
        let commit = self.resolve_fresh(tree_ish).await?;
        self.cache.add_commit(tree_ish, &commit);
        Ok(commit)
    }

    /// All tags, sorted by name. Fetches once per process.
    /// # Errors
    /// Any failure of the fetch; [`transport::Error::Offline`] if there is no clone yet.
    pub async fn tags(&self) -> Result<Vec<String>, Error> {
        let mut fetched = self.cache.is_fetched.lock().await;
        self.ensure_clone(&mut fetched).await?;
        self.refresh(&mut fetched).await?;
        let tags = self.list_tags().await?;
        Ok(tags.into_iter().map(|(name, _)| name).collect())
    }

    async fn resolve_fresh(&self, tree_ish: &str) -> Result<GitCommit, Error> {
        let mut fetched = self.cache.is_fetched.lock().await;
        self.ensure_clone(&mut fetched).await?;
        match self.find_commit(tree_ish).await? {
            Some(found) if *fetched || !self.is_stale(&found) => return Ok(found.commit),
            Some(_) => self.refresh(&mut fetched).await?,
            None if !*fetched => {
                if let Err(offline) = self.check_network(tree_ish) {
                    return self.find_fetched_ref(tree_ish).await?.ok_or(offline);
                }
                self.refresh(&mut fetched).await?;
            }
            None => {}
        }
        match self.find_commit(tree_ish).await? {
            Some(found) => Ok(found.commit),
            None => self.fetch_other_ref(tree_ish).await,
        }
    }

    /// Fetches a commit or a reference that no branch and no tag contains, such as the head of a pull request. Stores
    /// it under [`LOCAL_REFS`], so that Git does not delete it.
    async fn fetch_other_ref(&self, tree_ish: &str) -> Result<GitCommit, Error> {
        let other = OtherRef::of(tree_ish);
        let refspec = match &other {
            Some(OtherRef { name, .. }) => format!("+refs/{name}:{LOCAL_REFS}{name}"),
            None if GitCommit::is_full_hash(tree_ish) => format!("+{tree_ish}:{LOCAL_REFS}{tree_ish}"),
            None => return Err(self.unknown_tree_ish(tree_ish).await),
        };
        if let Err(offline) = self.check_network(tree_ish) {
            return self.find_fetched_ref(tree_ish).await?.ok_or(offline);
        }
        let _lock = self.lock().await?;
        match self.fetch(&["--no-tags"], &refspec).await {
            Err(Error::Git(error)) if is_unknown_object(&error.failure) => {
                return Err(self.unknown_tree_ish(tree_ish).await);
            }
            fetched => fetched?,
        }
        match self.find_commit(&other.map_or_else(|| tree_ish.to_owned(), |other| other.local_name())).await?
        {
            Some(found) => Ok(found.commit),
            None => Err(self.unknown_tree_ish(tree_ish).await),
        }
    }

    /// The last fetched commit of a reference that is neither a branch nor a tag.
    async fn find_fetched_ref(&self, tree_ish: &str) -> Result<Option<GitCommit>, Error> {
        let Some(other) = OtherRef::of(tree_ish) else { return Ok(None) };
        let Some(found) = self.find_commit(&other.local_name()).await? else { return Ok(None) };
        self.context.emit(&Event::UsingCachedOffline { url: self.display_url(), age: age(&self.clone) });
        Ok(Some(found.commit))
    }

    fn is_stale(&self, found: &ResolvedCommit) -> bool {
        found.may_change || self.context.settings().refresh == Refresh::Everything
    }

    /// Creates the clone if it is missing. A clone just created by another process counts as fetched.
    async fn ensure_clone(&self, fetched: &mut bool) -> Result<(), Error> {
        let session = self.context.session::<GitSession>();
        session.check_program(&self.context.release_settings().git).await.map_err(Error::GitProgram)?;
        if self.cache.hold(&self.clone) {
            return Ok(());
        }
        self.check_network("")?;
        let _lock = self.lock().await?;
        if !is_clone(&self.clone) {
            let temporary = sibling_path(&self.clone, CREATION_PREFIX);
            // The process that left this folder is gone, because this process holds the lock.
            self.remove(&temporary)?;
            self.clone_into(&temporary).await?;
            let made = temporary.join(".git");
            disk::rename(&made, &self.clone).map_err(|error| self.disk_error("clone", &self.clone, error))?;
            self.remove(&temporary)?;
        }
        self.cache.hold(&self.clone);
        *fetched = true;
        Ok(())
    }

    async fn clone_into(&self, temporary: &Path) -> Result<(), Error> {
        let mut arguments: Vec<OsString> =
            ["clone", "--progress", "--no-checkout", "--no-local", "--template=", "--"]
                .map(Into::into)
                .into();
        arguments.extend([self.url.address().into(), temporary.into()]);
        self.run_on_network("clone", &arguments, None).await?;
        let made = temporary.join(".git");
        let local = |arguments: &[&str]| {
            GitCommand::in_clone(&self.context.release_settings().git, &made, arguments).output()
        };
        let failed = |failure| self.error("clone", failure);
        local(&["config", "core.bare", "true"]).await.map_err(failed)?;
        local(&["config", "remote.origin.pushurl", self.url.push_url()]).await.map_err(failed)?;
        // A local branch would fall behind the branches of the host.
        let head = local(&["symbolic-ref", "HEAD"]).await.map_err(failed)?;
        let head = String::from_utf8_lossy(&head).trim().to_owned();
        local(&["update-ref", "-d", &head]).await.map_err(failed)?;
        Ok(())
    }

    /// Fetches once per process. If connections are forbidden, reports the age of the clone instead.
    async fn refresh(&self, fetched: &mut bool) -> Result<(), Error> {
        if *fetched {
            return Ok(());
        }
        if self.check_network("").is_err() {
            self.context.emit(&Event::UsingCachedOffline { url: self.display_url(), age: age(&self.clone) });
        } else {
            let _lock = self.lock().await?;
            let before = self.list_tags().await?;
            self.fetch(&["--prune", "--tags", "--force"], "+refs/heads/*:refs/remotes/origin/*").await?;
            self.report_moved_tags(&before, &self.list_tags().await?);
        }
        *fetched = true;
        Ok(())
    }

    async fn fetch(&self, options: &[&str], reference: &str) -> Result<(), Error> {
        let mut arguments: Vec<OsString> = vec!["fetch".into(), "--progress".into()];
        arguments.extend(options.iter().map(Into::into));
        arguments.extend(["--".into(), self.url.address().into(), reference.into()]);
        self.run_on_network("fetch", &arguments, Some(&self.clone)).await
    }

    /// Runs Git with a connection to the host, and retries temporary failures.
    pub(super) async fn run_on_network(
        &self,
        action: &'static str,
        arguments: &[OsString],
        clone: Option<&Path>,
    ) -> Result<(), Error> {
        let (url, access) = (self.display_url(), GitAccess::for_remote(self).await?);
        self.context.emit(&Event::RequestStarted { url: url.clone() });
        let mut waits = self.context.settings().retry.waits.iter();
        let answer = loop {
            let answer = network::network_command(self, &access, arguments, clone).await.output().await;
            match (answer, waits.as_slice()) {
                (Err(failure), [wait, ..]) if failure.is_temporary() => {
                    waits.next();
                    let (url, why) = (url.clone(), RetryReason::Connection);
                    self.context.emit(&Event::Retrying { url, reason: why, after: *wait });
                    tokio::time::sleep(*wait).await;
                }
                (answer, _) => break answer,
            }
        };
        self.context.emit(&Event::RequestEnded { url });
        answer.map(|_| ()).map_err(|failure| self.error_with(action, failure, access))
    }

    fn report_moved_tags(&self, before: &[(String, String)], after: &[(String, String)]) {
        for (tag, from) in before {
            if let Some((_, to)) = after.iter().find(|(name, to)| name == tag && to != from) {
                let (tag, from, to) = (tag.clone(), from.clone(), to.clone());
                self.context.emit(&Event::TagMoved { remote: self.display_url(), tag, from, to });
            }
        }
    }

    /// Locks the clone and its worktrees against changes by other tasks and processes.
    pub(super) async fn lock(&self) -> Result<KeyLock, Error> {
        let path = lock_file(&self.clone);
        let folder = path.parent().unwrap_or(&path);
        fs::create_dir_all(folder).map_err(|error| self.disk_error("clone", folder, error))?;
        let waiting = |holder| {
            self.context.emit(&Event::WaitingForOtherTask { wanted: self.display_url(), holder });
        };
        Ok(KeyLock::acquire(&path, waiting).await?)
    }

    /// Fails if connections are forbidden, unless the remote is a folder on this machine.
    fn check_network(&self, wanted: &str) -> Result<(), Error> {
        if !self.url.is_remote() || self.context.settings().network == NetworkAccess::Allowed {
            return Ok(());
        }
        let at = if wanted.is_empty() { String::new() } else { format!("@{wanted}") };
        Err(transport::Error::Offline { wanted: format!("{}{at}", self.display_url()) }.into())
    }

    pub(super) fn remove(&self, folder: &Path) -> Result<(), Error> {
        match fs::remove_dir_all(folder) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(self.disk_error("clone", folder, error))
            }
            _ => Ok(()),
        }
    }

    /// The url, safe to print.
    pub(super) fn display_url(&self) -> String {
        transport::address::redact_text(self.url.address())
    }

    pub(super) fn disk_error(&self, action: &'static str, path: &Path, source: std::io::Error) -> Error {
        self.error(action, GitFailure::Disk { path: path.to_owned(), source })
    }

    pub(super) fn error(&self, action: &'static str, failure: GitFailure) -> Error {
        self.error_with(action, failure, GitAccess::default())
    }

    fn error_with(&self, action: &'static str, failure: GitFailure, access: GitAccess) -> Error {
        Error::Git(Arc::new(GitError {
            action,
            remote: self.display_url(),
            failure,
            credential: access.credential,
            proxy: access.proxy.map(|proxy| transport::address::redact_url(&proxy)),
            clone: self.clone.clone(),
        }))
    }
}

/// A reference that is neither a branch nor a tag.
struct OtherRef<'t> {
    /// The name without `refs/`.
    name: &'t str,
    /// A suffix such as `~1`.
    suffix: &'t str,
}

impl<'t> OtherRef<'t> {
    /// Parses a name that contains a slash.
    fn of(tree_ish: &'t str) -> Option<Self> {
        let (whole, suffix) = split_suffix(tree_ish);
        let name = whole.strip_prefix("refs/").unwrap_or(whole);
        let is_looked_up = ["refs/heads/", "refs/tags/"].iter().any(|below| whole.starts_with(below));
        (whole.contains('/') && !is_looked_up).then_some(Self { name, suffix })
    }

    /// The name of the reference in the clone.
    fn local_name(&self) -> String {
        format!("{LOCAL_REFS}{}{}", self.name, self.suffix)
    }
}

/// Returns the path in the same folder with a prefix before the name.
pub(super) fn sibling_path(path: &Path, prefix: &str) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!("{prefix}{name}"))
}

/// The time since the last fetch of a clone.
fn age(clone: &Path) -> std::time::Duration {
    let fetched =
        ["FETCH_HEAD", "config"].iter().find_map(|file| fs::metadata(clone.join(file)).ok()?.modified().ok());
    fetched.and_then(|at| at.elapsed().ok()).unwrap_or_default()
}

/// True if the host has no such commit, hides the commit, or Git knows no such reference.
fn is_unknown_object(failure: &GitFailure) -> bool {
    let words = [
        "not our ref",
        "unadvertised object",
        "couldn't find remote ref",
        "no such remote ref",
        "invalid refspec",
    ];
    matches!(failure, GitFailure::Other { message, .. } if words.iter().any(|word| message.contains(word)))
}
