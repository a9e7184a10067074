//! Updates a component or package from its template: the changes of the template are merged into the files.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use repository::git::{FileVersions, GitAuthor, GitRemote, NewFile};

use super::merge::{FileChange, MergePlan};
use super::template::{CRUFT_FILE, CruftFile, Template};
use super::{DependencyKind, ScaffoldRun};
use crate::error::CatalogError;
use crate::repository::{CatalogChanges, DiffPolicy, author_or_known, staged_changes};
use crate::step::Step;

/// An update of a component or package.
#[derive(Clone, Copy, Debug)]
pub struct DependencyUpdate<'a> {
    /// Component or package, with its words.
    pub kind: DependencyKind,
    /// The folder, which is the top folder of a Git repository.
    pub folder: &'a Path,
    /// The version of the template; none for that of the last update.
    pub template_version: Option<&'a str>,
    /// Changes of the values of the template.
    pub values: &'a ValueChanges,
    /// Commits the changed files.
    pub commit: bool,
    /// True if a new commit of the template alone is no change.
    pub ignore_template_commit: bool,
    /// The author of the commit; none for the user of Git.
    pub author: Option<&'a GitAuthor>,
}

/// An updated component or package.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UpdateOutcome {
    /// The name in its documentation.
    pub name: String,
    /// True if files changed.
    pub is_changed: bool,
    /// The hooks of the template that did not run.
    pub hooks: Vec<String>,
}

/// Changes of the values of a template.
#[derive(Clone, Debug, Default)]
pub struct ValueChanges {
    /// New values, by the name of the variable.
    pub set: BTreeMap<String, String>,
    /// Changes of values that are lists.
    pub lists: Vec<ListChange>,
}

/// A change of a value that is a list.
#[derive(Clone, Debug)]
pub struct ListChange {
    /// The name of the variable.
    pub name: &'static str,
    /// The text between two items.
    pub separator: char,
    /// The items to add.
    pub add: Vec<String>,
    /// The items to remove.
    pub remove: Vec<String>,
    /// True if the order of the items has no meaning, so that they are sorted.
    pub sorted: bool,
}

impl UpdateOutcome {
    /// Returns the last line of an update.
    pub fn summary(&self, kind: DependencyKind) -> String {
        let result = if self.is_changed { "successfully updated" } else { "already up-to-date" };
        format!("{} {} {result} 🎉", kind.title(), self.name)
    }
}

/// The list of test cases, which must not be empty.
const TEST_CASES: &str = "test_cases";

/// Merges the changes of the template since the last update, and commits them on request.
///
/// # Errors
/// The folder was not created from a template, has uncommitted changes, or has changed the same lines as the template.
pub async fn update(
    update: &DependencyUpdate<'_>,
    run: ScaffoldRun<'_>,
) -> Result<UpdateOutcome, CatalogError> {
    let word = update.kind.word();
    if !update.folder.join(CRUFT_FILE).is_file() {
        return Err(CatalogError::rule_with_hint(
            format!("Provided {word} path doesn't have `.cruft.json`, can't update."),
            format!("only a {word} that was created from a template can be updated"),
        ));
    }
    let cruft = CruftFile::read(update.folder)?;
    let values = changed_values(&cruft, update)?;
    let remote = open_clean(update, run).await?;
    let version = update.template_version.or(cruft.checkout.as_deref());
    let template = Template::open(&cruft.template, run)?;
    let new_commit = match version {
        Some(version) => template.resolve(version).await?,
        None => template.resolve("HEAD").await?,
    };
    let old_commit = template.resolve(&cruft.commit).await?;
    let (old, new) =
        (template.check_out(&old_commit, "old").await?, template.check_out(&new_commit, "new").await?);
    let (before, after) = (old.render(&cruft.values())?, new.render(&values)?);
    let name = values.get("name").cloned().unwrap_or_default();
    let mut plan = merge(update, run, &remote, &cruft, (before.files, after.files)).await?;
    let mut outcome = UpdateOutcome { name, is_changed: false, hooks: new.skipped_hooks() };
    let updated = cruft.updated(&new, version, after.variables);
    if update.ignore_template_commit && plan.is_empty() && updated.is_same_except_for_commit(&cruft) {
        (run.report)(Step::Notice("No changes.".to_owned()));
        return Ok(outcome);
    }
    let content = updated.to_bytes();
    plan.changes.push(FileChange::Write(NewFile {
        path: CRUFT_FILE.to_owned(),
        content,
        is_executable: false,
    }));
    plan.apply(update.folder)?;
    outcome.is_changed =
        finish(update, run, &remote, &plan.conflicts, (version, new_commit.as_str(), &outcome.name)).await?;
    Ok(outcome)
}

/// Returns the values of the next update.
fn changed_values(
    cruft: &CruftFile,
    update: &DependencyUpdate<'_>,
) -> Result<BTreeMap<String, String>, CatalogError> {
    let mut values = cruft.values();
    values.extend(update.values.set.clone());
    for change in &update.values.lists {
        let known = values.get(change.name).cloned().unwrap_or_default();
        let known = known.split(change.separator).filter(|item| !item.is_empty()).map(str::to_owned);
        let mut seen = BTreeSet::new();
        let mut items: Vec<String> = known
            .chain(change.add.iter().cloned())
            .filter(|item| !change.remove.contains(item) && seen.insert(item.clone()))
            .collect();
        if change.sorted {
            items.sort();
        }
        if change.name == TEST_CASES && items.is_empty() {
            return Err(CatalogError::rule_with_hint(
                format!("{} template doesn't support removing all test cases.", update.kind.title()),
                "keep or add a test case",
            ));
        }
        if change.name == TEST_CASES && items.len() > 1 && values.contains_key("add_matrix") {
            values.insert("add_matrix".to_owned(), "y".to_owned());
        }
        let separator = change.separator.to_string();
        values.insert(change.name.to_owned(), items.join(&separator));
    }
    Ok(values)
}

/// Opens the repository of the folder, which must have no uncommitted changes.
async fn open_clean(update: &DependencyUpdate<'_>, run: ScaffoldRun<'_>) -> Result<GitRemote, CatalogError> {
    let (word, folder) = (update.kind.word(), update.folder.display());
    let failed = |error| CatalogError::fetch(format!("cannot update the {word} in {folder}"), error);
    let Some(remote) = GitRemote::of_repository(update.folder, run.context).await.map_err(failed)? else {
        return Err(CatalogError::rule_with_hint(
            format!("cannot update the {word}: `{folder}` is not the top folder of a Git repository"),
            format!("run `git init` in `{folder}`, and commit its files"),
        ));
    };
    let work = remote.local_work(update.folder).await.map_err(failed)?;
    if work.has_changed_files || work.has_new_files {
        return Err(CatalogError::rule_with_hint(
            format!("cannot update the {word}: `{folder}` has uncommitted changes"),
            "commit or discard them first",
        ));
    }
    Ok(remote)
}

/// Decides the new content of each file that the template has changed.
async fn merge(
    update: &DependencyUpdate<'_>,
    run: ScaffoldRun<'_>,
    remote: &GitRemote,
    cruft: &CruftFile,
    (before, after): (Vec<NewFile>, Vec<NewFile>),
) -> Result<MergePlan, CatalogError> {
    let mut plan = MergePlan::new(&cruft.skip, before, after);
    for (base, other) in plan.changed() {
        let path = other.as_ref().or(base.as_ref()).map(|file| file.path.clone()).unwrap_or_default();
        let current = read_current(update.folder, &path)?;
        let Some(versions) = plan.decide(&path, base.as_ref(), other, current.as_deref()) else { continue };
        let scratch = run.temporary.root().to_owned();
        let merged = remote
            .merge_file(
                FileVersions { base: &versions.base, current: &versions.current, other: &versions.other },
                &scratch,
            )
            .await;
        plan.add_merged(versions, merged.ok());
    }
    Ok(plan)
}

/// Reads a file of the component or package. None if there is no such file.
fn read_current(folder: &Path, path: &str) -> Result<Option<Vec<u8>>, CatalogError> {
    let file = folder.join(path);
    let parents = Path::new(path).ancestors().filter(|part| !part.as_os_str().is_empty());
    let links: Vec<PathBuf> =
        parents.map(|part| folder.join(part)).filter(|path| path.is_symlink()).collect();
    if let Some(link) = links.first() {
        return Err(CatalogError::rule_with_hint(
            format!("cannot update `{}`: `{}` is a symlink", file.display(), link.display()),
            "replace the symlink by a file or folder",
        ));
    }
    match fs::read(&file) {
        Ok(content) => Ok(Some(content)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(CatalogError::disk("read", &file, error)),
    }
}

/// Shows the changes, and commits them on request. Returns true if there are any.
async fn finish(
    update: &DependencyUpdate<'_>,
    run: ScaffoldRun<'_>,
    remote: &GitRemote,
    conflicts: &[String],
    (version, commit, name): (Option<&str>, &str, &str),
) -> Result<bool, CatalogError> {
    let report = run.report;
    if !conflicts.is_empty() {
        return Err(CatalogError::rule_with_hint(
            format!(
                "Can't commit template changes: merge error in '{}'. Please resolve conflicts and commit manually.",
                conflicts.join("', '")
            ),
            "or discard the update with `git reset --hard` and `git clean -d --force`",
        ));
    }
    let failed = |error| CatalogError::fetch(format!("cannot update {} {name}", update.kind.word()), error);
    let CatalogChanges { text, exist } =
        staged_changes(remote, update.folder, DiffPolicy::Everything).await.map_err(failed)?;
    if exist {
        report(Step::Notice("Changes:".to_owned()));
        report(Step::Text(text));
    } else {
        report(Step::Notice("No changes.".to_owned()));
    }
    if !update.commit {
        remote.unstage(update.folder).await.map_err(failed)?;
        if exist {
            report(Step::Notice("User requested to skip committing the rendered changes.".to_owned()));
        }
    } else if exist {
        let author = author_or_known(update.author.cloned(), remote, report).await;
        let short = commit.get(..7).unwrap_or(commit);
        let message =
            format!("Update from template\n\nTemplate version: {} ({short})\n", version.unwrap_or("None"));
        remote.commit(update.folder, &message, &author).await.map_err(failed)?;
    }
    Ok(exist)
}
