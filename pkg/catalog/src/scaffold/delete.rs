//! Deletes the checkout of a component.

use std::path::PathBuf;

use repository::git::GitRemote;

use super::{DependencyKind, ScaffoldRun, check_slug};
use crate::error::CatalogError;
use crate::step::Step;

/// A checked-out component that can be deleted.
pub struct DeletableComponent<'a> {
    run: ScaffoldRun<'a>,
    slug: &'a str,
    worktree: PathBuf,
    remote: GitRemote,
}

/// Finds the checkout of a component in the working folder.
///
/// # Errors
/// There is no such checkout, or it is no worktree of a clone in the working folder.
pub async fn find_component<'a>(
    slug: &'a str,
    run: ScaffoldRun<'a>,
) -> Result<DeletableComponent<'a>, CatalogError> {
    check_slug(DependencyKind::Component, slug)?;
    let worktree = run.folder.component(slug);
    if !worktree.is_dir() {
        return Err(CatalogError::rule_with_hint(
            format!("Cannot find component with slug '{slug}'."),
            format!("components are in `{}`", run.folder.dependencies().display()),
        ));
    }
    let remote = GitRemote::of_worktree(&worktree, &run.folder.clones(), run.context).await;
    let remote =
        remote.map_err(|error| CatalogError::fetch(format!("cannot delete component {slug}"), error))?;
    let Some(remote) = remote else {
        return Err(CatalogError::rule_with_hint(
            format!("Component {slug} is no worktree of a repository in {}", run.folder.clones().display()),
            format!("delete the folder `{}` yourself", worktree.display()),
        ));
    };
    Ok(DeletableComponent { run, slug, worktree, remote })
}

impl DeletableComponent<'_> {
    /// True if the checkout has work that is not on its remote.
    pub async fn has_local_work(&self) -> bool {
        self.remote.local_work(&self.worktree).await.is_ok_and(repository::git::LocalWork::exists)
    }

    /// Deletes the checkout, and its clone if nothing else uses it.
    ///
    /// # Errors
    /// A folder cannot be deleted.
    pub async fn delete(&self) -> Result<(), CatalogError> {
        let slug = self.slug;
        let deleted = self.remote.delete_worktree(&self.worktree).await;
        let deleted =
            deleted.map_err(|error| CatalogError::fetch(format!("cannot delete component {slug}"), error))?;
        if !deleted {
            // The spelling is that of Commodore.
            self.report(Step::Notice(format!(
                "Not deleting bare copy of repository {}. Other worktrees refer to the same reposiotry.",
                self.remote.url().address()
            )));
        }
        self.report(Step::Text(format!("Component {slug} successfully deleted 🎉")));
        Ok(())
    }

    fn report(&self, step: Step) {
        (self.run.report)(step);
    }
}
