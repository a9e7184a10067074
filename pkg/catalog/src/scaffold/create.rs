//! Creates a component or package from a template.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use repository::git::{FirstCommit, GitAuthor, NewFile};

use super::template::{CRUFT_FILE, CruftFile, Template};
use super::{DependencyKind, ScaffoldRun, check_slug};
use crate::dependencies::Fetcher;
use crate::error::CatalogError;
use crate::repository::{INDENT, author_or_known};
use crate::step::Step;

/// A component or package to create.
#[derive(Clone, Copy, Debug)]
pub struct NewDependency<'a> {
    /// Component or package, with its words.
    pub kind: DependencyKind,
    /// The name in the hierarchy.
    pub slug: &'a str,
    /// The name in its documentation; by default the slug.
    pub name: Option<&'a str>,
    /// The owner of the repository on GitHub.
    pub owner: &'a str,
    /// The folder that gets a folder with a repository; none for a worktree in the working folder.
    pub output: Option<&'a Path>,
    /// The repository of the template.
    pub template_url: &'a str,
    /// The branch, tag or hash of the template.
    pub template_version: &'a str,
    /// The values of further variables of the template.
    pub values: &'a BTreeMap<String, String>,
    /// The author of the first commit; none for the user of Git.
    pub author: Option<&'a GitAuthor>,
}

/// A created component or package.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CreatedDependency {
    /// The folder of the component or package.
    pub folder: PathBuf,
    /// The hooks of the template that did not run.
    pub hooks: Vec<String>,
}

/// Renders a template, and commits its files as the first commit of a repository.
///
/// # Errors
/// The name is not valid, the folder exists, the template cannot be fetched or rendered, or Git fails.
pub async fn create(
    new: &NewDependency<'_>,
    run: ScaffoldRun<'_>,
) -> Result<CreatedDependency, CatalogError> {
    check_slug(new.kind, new.slug)?;
    let (word, name) = (new.kind.word(), new.name.unwrap_or(new.slug));
    (run.report)(Step::Text(format!("Adding {word} {name}...")));
    let folder = match new.output {
        Some(output) => output.join(new.slug),
        None => new.kind.worktree(run.folder, new.slug),
    };
    if folder.symlink_metadata().is_ok() {
        return Err(CatalogError::rule_with_hint(
            format!("Unable to add {word} {name}: {} already exists.", folder.display()),
            "use another name, or another folder with `--output-dir`",
        ));
    }
    let template = Template::open(new.template_url, run)?;
    let commit = template.resolve(new.template_version).await?;
    let checkout = template.check_out(&commit, "template").await?;
    let rendered = checkout.render(&new.chosen_values())?;
    let mut files = rendered.files;
    let cruft = CruftFile::new(&checkout, new.template_version, rendered.variables);
    files.push(NewFile { path: CRUFT_FILE.to_owned(), content: cruft.to_bytes(), is_executable: false });
    files.sort_by(|one, other| one.path.cmp(&other.path));
    let author = author_or_known(new.author.cloned(), &template.remote, run.report).await;
    let first = FirstCommit { files: &files, message: "Initial commit", author: &author };
    let context = format!("while creating {word} {name}");
    let url = new.kind.repository(new.owner, new.slug);
    let fetcher = |folder| Fetcher { folder, context: run.context, force: false };
    let created = if new.output.is_some() {
        fetcher(run.temporary).remote(&url, &context)?.create_in_folder(&first, &folder).await
    } else {
        fetcher(run.folder).remote(&url, &context)?.create_with_worktree(&first, &folder).await
    };
    created.map_err(|error| CatalogError::fetch(context, error))?;
    (run.report)(Step::Notice("Changes:".to_owned()));
    for file in &files {
        (run.report)(Step::Text(format!("{INDENT}Added file {}", file.path)));
    }
    (run.report)(Step::Text(format!("{} {name} successfully added 🎉", new.kind.title())));
    Ok(CreatedDependency { folder, hooks: checkout.skipped_hooks() })
}

impl NewDependency<'_> {
    fn chosen_values(&self) -> BTreeMap<String, String> {
        let own =
            [("slug", self.slug), ("name", self.name.unwrap_or(self.slug)), ("github_owner", self.owner)];
        let own = own.map(|(name, value)| (name.to_owned(), value.to_owned()));
        self.values.clone().into_iter().chain(own).collect()
    }
}
