use std::{
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use transport::{
    Event, NamedBy, Network, Refresh, RetryReason, disk,
    store::{KeyLock, is_clone, lock_file, note_use},
};

use super::{
    Commit, RemoteUrl,
    failure::{GitError, GitFailure},
    network::{self, Access},
    program::Run,
    query::split_suffix,
    session::{self, Known, Session},
};
use crate::{Context, Error};

/// What is kept that no branch and no tag leads to.
pub(super) const KEPT: &str = "refs/capstan/";

/// Where clones are kept.
#[derive(Clone, Copy, Debug)]
pub enum Clones<'a> {
    /// With all else this program keeps; where it keeps nothing, until the process ends.
    Kept,
    /// In this folder, such as `dependencies/.repos`.
    Below(&'a Path),
}

/// A repository that is fetched into one bare clone on this machine, and read from there.
///
/// The clone is there whole or not at all, and is made once however many tasks and processes ask. It is fetched anew, once
/// in a process, for what can have changed: a branch, the list of tags, a name it does not know. A tag it knows and a
/// hash need no connection. Branches are under `refs/remotes/origin`, so that nothing of a user's is overwritten.
pub struct Remote {
    pub(super) context: Context,
    pub(super) url: RemoteUrl,
    pub(super) clone: PathBuf,
    pub(super) known: Arc<Known>,
    pub(super) named_by: NamedBy,
}

impl std::fmt::Debug for Remote {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Remote").field("url", &self.url).field("clone", &self.clone).finish_non_exhaustive()
    }
}

/// What a name was found to be.
pub(super) struct Found {
    pub(super) commit: Commit,
    /// Whether the host may have another commit under this name by now.
    pub(super) may_change: bool,
}

impl Remote {
    /// Takes an address; makes no connection, and no folder but the one of all clones.
    /// # Errors
    /// When that folder cannot be made.
    pub fn new(
        url: RemoteUrl,
        named_by: NamedBy,
        clones: Clones<'_>,
        context: &Context,
    ) -> Result<Self, Error> {
        let clones = match clones {
            Clones::Kept => session::clones(context)?,
            Clones::Below(folder) => folder.to_owned(),
        };
        let clone = clones.join(url.key());
        let known = context.session::<Session>().known(&clone);
        Ok(Self { known, context: context.clone(), url, clone, named_by })
    }

    /// Where it is fetched from.
    pub fn url(&self) -> &RemoteUrl {
        &self.url
    }

    /// The bare clone.
    pub fn clone_folder(&self) -> &Path {
        &self.clone
    }

    /// The commit of a branch, a tag, a full or short hash, or `HEAD`, each with `~1` and the like behind it; a tag wins
    /// over a branch of the same name. What is none of them, and has a slash in it, is any other reference: `pull/1/head`.
    /// Fetches when the name is not known, and, once in a process, when it is that of a branch or another reference.
    /// # Errors
    /// [`GitFailure::NoTreeIsh`] with near names; [`GitFailure::Ambiguous`]; what stops the fetch; [`Error::Offline`].
    pub async fn resolve(&self, tree_ish: &str) -> Result<Commit, Error> {
        if let Some(commit) = self.known.commit(tree_ish) {
            return Ok(commit);
        }
        let commit = self.look_up_fresh(tree_ish).await?;
        self.known.learn(tree_ish, &commit);
        Ok(commit)
    }

    /// All tags, sorted by name; fetches once in a process.
    /// # Errors
    /// What stops the fetch; [`Error::Offline`] where there is no clone yet.
    pub async fn tags(&self) -> Result<Vec<String>, Error> {
        let mut fetched = self.known.fetched.lock().await;
        self.make_clone(&mut fetched).await?;
        self.freshen(&mut fetched).await?;
        let tags = self.tag_list().await?;
        Ok(tags.into_iter().map(|(name, _)| name).collect())
    }

    async fn look_up_fresh(&self, tree_ish: &str) -> Result<Commit, Error> {
        let mut fetched = self.known.fetched.lock().await;
        self.make_clone(&mut fetched).await?;
        match self.look_up(tree_ish).await? {
            Some(found) if *fetched || !self.is_stale(&found) => return Ok(found.commit),
            Some(_) => self.freshen(&mut fetched).await?,
            None if !*fetched => {
                if let Err(offline) = self.check_network(tree_ish) {
                    return self.kept_other(tree_ish).await?.ok_or(offline);
                }
                self.freshen(&mut fetched).await?;
            }
            None => {}
        }
        match self.look_up(tree_ish).await? {
            Some(found) => Ok(found.commit),
            None => self.look_elsewhere(tree_ish).await,
        }
    }

    /// Fetches what no branch and no tag leads to, and keeps it from being tidied away: a commit, or another reference, such
    /// as the head of a pull request.
    async fn look_elsewhere(&self, tree_ish: &str) -> Result<Commit, Error> {
        let other = Other::of(tree_ish);
        let refspec = match &other {
            Some(Other { name, .. }) => format!("+refs/{name}:{KEPT}{name}"),
            None if Commit::is_full(tree_ish) => format!("+{tree_ish}:{KEPT}{tree_ish}"),
            None => return Err(self.no_tree_ish(tree_ish).await),
        };
        if let Err(offline) = self.check_network(tree_ish) {
            return self.kept_other(tree_ish).await?.ok_or(offline);
        }
        let _lock = self.lock().await?;
        match self.fetch(&["--no-tags"], &refspec).await {
            Err(Error::Git(error)) if is_unknown_object(&error.failure) => {
                return Err(self.no_tree_ish(tree_ish).await);
            }
            fetched => fetched?,
        }
        match self.look_up(&other.map_or_else(|| tree_ish.to_owned(), |other| other.kept())).await? {
            Some(found) => Ok(found.commit),
            None => Err(self.no_tree_ish(tree_ish).await),
        }
    }

    /// The commit of a reference that is neither a branch nor a tag, as it was fetched last.
    async fn kept_other(&self, tree_ish: &str) -> Result<Option<Commit>, Error> {
        let Some(other) = Other::of(tree_ish) else { return Ok(None) };
        let Some(found) = self.look_up(&other.kept()).await? else { return Ok(None) };
        self.context.emit(&Event::UsingKeptOffline { url: self.shown(), age: age(&self.clone) });
        Ok(Some(found.commit))
    }

    fn is_stale(&self, found: &Found) -> bool {
        found.may_change || self.context.settings().refresh == Refresh::Everything
    }

    /// Makes the clone where there is none. One that another process has just made counts as fetched.
    async fn make_clone(&self, fetched: &mut bool) -> Result<(), Error> {
        let session = self.context.session::<Session>();
        session.check_program(&self.context.releases().git).await.map_err(Error::GitProgram)?;
        if is_clone(&self.clone) {
            note_use(&self.clone.join("HEAD"));
            return Ok(());
        }
        self.check_network("")?;
        let _lock = self.lock().await?;
        if !is_clone(&self.clone) {
            let temporary = beside(&self.clone, ".new-", "");
            // Whoever left it behind is gone: the lock is ours.
            self.remove(&temporary)?;
            self.make_clone_in(&temporary).await?;
            let made = temporary.join(".git");
            disk::rename(&made, &self.clone).map_err(|error| self.disk("clone", &self.clone, error))?;
            self.remove(&temporary)?;
        }
        *fetched = true;
        Ok(())
    }

    async fn make_clone_in(&self, temporary: &Path) -> Result<(), Error> {
        let mut arguments: Vec<OsString> =
            ["clone", "--progress", "--no-checkout", "--no-local", "--template=", "--"]
                .map(Into::into)
                .into();
        arguments.extend([self.url.address().into(), temporary.into()]);
        self.on_network("clone", &arguments, None).await?;
        let made = temporary.join(".git");
        let local = |arguments: &[&str]| Run::on(&self.context.releases().git, &made, arguments).output();
        let failed = |failure| self.error("clone", failure);
        local(&["config", "core.bare", "true"]).await.map_err(failed)?;
        local(&["config", "remote.origin.pushurl", self.url.push()]).await.map_err(failed)?;
        // The one local branch would fall behind those of the host.
        let head = local(&["symbolic-ref", "HEAD"]).await.map_err(failed)?;
        let head = String::from_utf8_lossy(&head).trim().to_owned();
        local(&["update-ref", "-d", &head]).await.map_err(failed)?;
        Ok(())
    }

    /// Fetches what is new, unless this process did; where no connection may be made, says how old it is.
    async fn freshen(&self, fetched: &mut bool) -> Result<(), Error> {
        if *fetched {
            return Ok(());
        }
        if self.check_network("").is_err() {
            self.context.emit(&Event::UsingKeptOffline { url: self.shown(), age: age(&self.clone) });
        } else {
            let _lock = self.lock().await?;
            let before = self.tag_list().await?;
            self.fetch(&["--prune", "--tags", "--force"], "+refs/heads/*:refs/remotes/origin/*").await?;
            self.tell_moved(&before, &self.tag_list().await?);
        }
        *fetched = true;
        Ok(())
    }

    async fn fetch(&self, options: &[&str], reference: &str) -> Result<(), Error> {
        let mut arguments: Vec<OsString> = vec!["fetch".into(), "--progress".into()];
        arguments.extend(options.iter().map(Into::into));
        arguments.extend(["--".into(), self.url.address().into(), reference.into()]);
        self.on_network("fetch", &arguments, Some(&self.clone)).await
    }

    /// Works with the host, and again where what failed can pass.
    async fn on_network(
        &self,
        action: &'static str,
        arguments: &[OsString],
        clone: Option<&Path>,
    ) -> Result<(), Error> {
        let (url, access) = (self.shown(), Access::to(self).await?);
        self.context.emit(&Event::RequestStarted { url: url.clone() });
        let mut waits = self.context.settings().retry.waits.iter();
        let answer = loop {
            let answer = network::run(self, &access, arguments, clone).await.output().await;
            match (answer, waits.as_slice()) {
                (Err(failure), [wait, ..]) if failure.may_pass() => {
                    waits.next();
                    let (url, why) = (url.clone(), RetryReason::Connection);
                    self.context.emit(&Event::Retrying { url, why, after: *wait });
                    tokio::time::sleep(*wait).await;
                }
                (answer, _) => break answer,
            }
        };
        self.context.emit(&Event::RequestEnded { url });
        answer.map(|_| ()).map_err(|failure| self.error_with(action, failure, access))
    }

    fn tell_moved(&self, before: &[(String, String)], after: &[(String, String)]) {
        for (tag, from) in before {
            if let Some((_, to)) = after.iter().find(|(name, to)| name == tag && to != from) {
                let (tag, from, to) = (tag.clone(), from.clone(), to.clone());
                self.context.emit(&Event::TagMoved { remote: self.shown(), tag, from, to });
            }
        }
    }

    /// Held while the clone or a worktree of it is changed, by this process or another.
    pub(super) async fn lock(&self) -> Result<KeyLock, Error> {
        let path = lock_file(&self.clone);
        let folder = path.parent().unwrap_or(&path);
        fs::create_dir_all(folder).map_err(|error| self.disk("clone", folder, error))?;
        let told = || self.context.emit(&Event::WaitingForOther { wanted: self.shown() });
        Ok(KeyLock::of_file(&path, told).await?)
    }

    /// Lets a folder of this machine pass, and all else where connections may be made.
    fn check_network(&self, wanted: &str) -> Result<(), Error> {
        if !self.url.is_remote() || self.context.settings().network == Network::Allowed {
            return Ok(());
        }
        let at = if wanted.is_empty() { String::new() } else { format!("@{wanted}") };
        Err(transport::Error::Offline { wanted: format!("{}{at}", self.shown()) }.into())
    }

    fn remove(&self, folder: &Path) -> Result<(), Error> {
        match fs::remove_dir_all(folder) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(self.disk("clone", folder, error))
            }
            _ => Ok(()),
        }
    }

    /// Its address as it may be shown.
    pub(super) fn shown(&self) -> String {
        transport::address::shown_text(self.url.address())
    }

    pub(super) fn disk(&self, action: &'static str, path: &Path, source: std::io::Error) -> Error {
        self.error(action, GitFailure::Disk { path: path.to_owned(), source })
    }

    pub(super) fn error(&self, action: &'static str, failure: GitFailure) -> Error {
        self.error_with(action, failure, Access::default())
    }

    fn error_with(&self, action: &'static str, failure: GitFailure, access: Access) -> Error {
        Error::Git(Arc::new(GitError {
            action,
            remote: self.shown(),
            failure,
            credential: access.credential,
            proxy: access.proxy.map(|proxy| transport::address::shown(&proxy)),
            clone: self.clone.clone(),
        }))
    }
}

/// A reference that is neither a branch nor a tag.
struct Other<'t> {
    /// Without `refs/`.
    name: &'t str,
    /// `~1` and the like.
    suffix: &'t str,
}

impl<'t> Other<'t> {
    /// What a name with a slash in it may mean.
    fn of(tree_ish: &'t str) -> Option<Self> {
        let (whole, suffix) = split_suffix(tree_ish);
        let name = whole.strip_prefix("refs/").unwrap_or(whole);
        let is_looked_up = ["refs/heads/", "refs/tags/"].iter().any(|below| whole.starts_with(below));
        (whole.contains('/') && !is_looked_up).then_some(Self { name, suffix })
    }

    /// Where it is kept.
    fn kept(&self) -> String {
        format!("{KEPT}{}{}", self.name, self.suffix)
    }
}

/// A path in the same folder: prefix, name, suffix.
fn beside(path: &Path, prefix: &str, suffix: &str) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!("{prefix}{name}{suffix}"))
}

/// How long ago a clone was fetched.
fn age(clone: &Path) -> std::time::Duration {
    let fetched =
        ["FETCH_HEAD", "config"].iter().find_map(|file| fs::metadata(clone.join(file)).ok()?.modified().ok());
    fetched.and_then(|at| at.elapsed().ok()).unwrap_or_default()
}

/// Whether a host says that it has no such commit, or shows it to nobody, or Git that nothing is called so.
fn is_unknown_object(failure: &GitFailure) -> bool {
    let words = [
        "not our ref",
        "unadvertised object",
        "couldn't find remote ref",
        "no such remote ref",
        "invalid refspec",
    ];
    matches!(failure, GitFailure::Other { said, .. } if words.iter().any(|word| said.contains(word)))
}
