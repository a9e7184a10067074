//! Submodules: other repositories at commits that a tree names.
//!
//! Source: gitmodules(5); GitPython's `Submodule.update`, which Kapitan calls.

use std::collections::BTreeMap;

use transport::AddressOrigin;

use super::{
    CloneStore, GitCommit, GitRemote,
    failure::GitFailure,
    query::{TreeEntry, entries},
};
use crate::Error;

/// The file with the paths and urls of submodules.
const MODULES: &str = ".gitmodules";
/// The maximum number of submodules of a commit, each of which needs a clone.
const MAX_SUBMODULES: usize = 100;

/// A folder of a commit whose files are those of another repository.
#[derive(Debug)]
pub struct Submodule {
    /// The path of the folder.
    pub path: String,
    /// The commit of the other repository.
    pub commit: GitCommit,
    /// The other repository.
    pub remote: GitRemote,
}

impl GitRemote {
    /// Lists the submodules of a commit that `.gitmodules` describes, sorted by path. Opens no connection. Their clones
    /// are in the cache. A host gets credentials only if the user has named it.
    /// # Errors
    /// [`GitFailure::Submodule`] for an unusable url; [`GitFailure::TooManySubmodules`].
    pub async fn submodules(&self, commit: &GitCommit) -> Result<Vec<Submodule>, Error> {
        let listing = self.list_tree(commit).await?;
        if !entries(&listing).any(|entry| entry.path == MODULES) {
            return Ok(Vec::new());
        }
        let urls = self.submodule_urls(commit).await?;
        let mut submodules = Vec::new();
        for entry in entries(&listing).filter(TreeEntry::is_submodule) {
            let path = entry.path.into_owned();
            let Some(text) = urls.get(&path) else { continue };
            if submodules.len() == MAX_SUBMODULES {
                let commit = commit.to_string();
                return Err(self.error("read", GitFailure::TooManySubmodules { commit, max: MAX_SUBMODULES }));
            }
            let url = self.url.join(text).map_err(|source| {
                let url = transport::address::redact_text(text);
                self.error("read", GitFailure::Submodule { path: path.clone(), url, source })
            })?;
            let remote = Self::new(url, AddressOrigin::FetchedFile, CloneStore::Cache, &self.context)?;
            submodules.push(Submodule { path, commit: GitCommit(entry.object.to_owned()), remote });
        }
        Ok(submodules)
    }

    /// Reads the urls in `.gitmodules` of a commit, by the paths of the submodules.
    async fn submodule_urls(&self, commit: &GitCommit) -> Result<BTreeMap<String, String>, Error> {
        let blob = format!("--blob={commit}:{MODULES}");
        let listing = self.command(&["config", &blob, "--null", "--list"]).output().await;
        let listing = listing.map_err(|failure| self.error("read", failure))?;
        let mut modules: BTreeMap<String, (Option<String>, Option<String>)> = BTreeMap::new();
        for setting in String::from_utf8_lossy(&listing).split('\0') {
            let Some((key, value)) = setting.split_once('\n') else { continue };
            let Some((name, field)) = key.strip_prefix("submodule.").and_then(|key| key.rsplit_once('.'))
            else {
                continue;
            };
            let (path, url) = modules.entry(name.to_owned()).or_default();
            match field {
                "path" => *path = Some(value.to_owned()),
                "url" => *url = Some(value.to_owned()),
                _ => {}
            }
        }
        Ok(modules.into_values().filter_map(|(path, url)| path.zip(url)).collect())
    }
}
