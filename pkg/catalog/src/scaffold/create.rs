//! Creates a component or package from a template.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use repository::git::{FirstCommit, GitAuthor, GitCommit, GitRemote, LocalChangesPolicy, NewFile};
use serde::Serialize;

use super::{DependencyKind, ScaffoldRun, check_slug};
use crate::cookiecutter::{self, OrderedMap};
use crate::dependencies::{Fetcher, unknown_version};
use crate::error::CatalogError;
use crate::repository::{INDENT, author_or_known};
use crate::step::Step;

/// The file that names the template and the values of a component or package.
const CRUFT_FILE: &str = ".cruft.json";

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
    /// The hooks of the template, which did not run.
    pub hooks: Vec<String>,
}

/// The content of `.cruft.json`.
#[derive(Serialize)]
struct Cruft<'a> {
    template: &'a str,
    commit: &'a str,
    checkout: &'a str,
    context: CruftContext<'a>,
    directory: Option<&'a str>,
}

#[derive(Serialize)]
struct CruftContext<'a> {
    cookiecutter: &'a OrderedMap,
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
    let (template, commit) = fetch_template(new, run).await?;
    let source = run.temporary.root().join("template");
    let (files, hooks) = render(new, &source, &commit)?;
    let author = author_or_known(new.author.cloned(), &template, run.report).await;
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
    Ok(CreatedDependency { folder, hooks })
}

/// Checks the template out into a temporary folder.
async fn fetch_template(
    new: &NewDependency<'_>,
    run: ScaffoldRun<'_>,
) -> Result<(GitRemote, GitCommit), CatalogError> {
    let shown = transport::address::redact_text(new.template_url);
    let context = format!("while fetching template {shown}");
    let fetcher = Fetcher { folder: run.temporary, context: run.context, force: false };
    let template = fetcher.remote(new.template_url, &context)?;
    let commit = template
        .resolve(new.template_version)
        .await
        .map_err(|error| unknown_version(error, &context, new.template_version, true))?;
    let source = run.temporary.root().join("template");
    let checked_out = template.worktree(&commit, &source, LocalChangesPolicy::Refuse).await;
    checked_out.map_err(|error| CatalogError::fetch(context, error))?;
    Ok((template, commit))
}

/// Renders the files of the template, and `.cruft.json`. Returns also the hooks of the template.
fn render(
    new: &NewDependency<'_>,
    source: &Path,
    commit: &GitCommit,
) -> Result<(Vec<NewFile>, Vec<String>), CatalogError> {
    let url = transport::address::redact_text(new.template_url);
    let failed = |source| CatalogError::Template { url: url.clone(), source: Box::new(source) };
    let mut variables = cookiecutter::variables(source, &new.chosen_values()).map_err(failed)?;
    variables.set("_template", url.as_str());
    variables.set("_commit", commit.as_str());
    let mut files = cookiecutter::render(source, &variables).map_err(failed)?;
    let cruft = Cruft {
        template: &url,
        commit: commit.as_str(),
        checkout: new.template_version,
        context: CruftContext { cookiecutter: &variables },
        directory: None,
    };
    let mut content = serde_json::to_vec_pretty(&cruft).unwrap_or_default();
    content.push(b'\n');
    files.retain(|file| file.path != CRUFT_FILE);
    files.push(NewFile { path: CRUFT_FILE.to_owned(), content, is_executable: false });
    files.sort_by(|one, other| one.path.cmp(&other.path));
    Ok((files, cookiecutter::hooks(source)))
}

impl NewDependency<'_> {
    fn chosen_values(&self) -> BTreeMap<String, String> {
        let own =
            [("slug", self.slug), ("name", self.name.unwrap_or(self.slug)), ("github_owner", self.owner)];
        let own = own.map(|(name, value)| (name.to_owned(), value.to_owned()));
        self.values.clone().into_iter().chain(own).collect()
    }
}
