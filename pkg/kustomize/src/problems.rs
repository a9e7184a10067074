//! What is wrong with a build: all of it, each with the files that led there.

use std::collections::BTreeSet;
use std::fmt;

use crate::fields::FieldProblem;
use crate::generators::GeneratorProblem;
use crate::helm::HelmProblem;
use crate::kustomization::DecodeProblem;
use crate::order::OrderProblem;
use crate::output::metadata::MetadataProblem;
use crate::patches::PatchProblem;
use crate::plugins::PluginProblem;
use crate::references::ReferenceProblem;
use crate::schema::SchemaProblem;
use crate::selector::SelectorProblem;
use crate::transform::images::ImageProblem;
use crate::transform::namespace::NamespaceProblem;
use crate::transform::replacements::ReplacementProblem;
use crate::transform::replicas::ReplicaProblem;
use crate::vars::VarProblem;
use crate::{Request, ResId, TreeError, TreePath};

/// Says which names may be meant; nothing where there are none.
pub(crate) fn meant(near: &[impl AsRef<str>]) -> String {
    let names: Vec<String> = near.iter().map(|name| format!("`{}`", name.as_ref())).collect();
    if names.is_empty() { String::new() } else { format!("; is {} meant?", names.join(" or ")) }
}

/// Why a build failed: every problem that could be found in one run.
#[derive(Debug, thiserror::Error)]
pub struct BuildErrors {
    /// In the order of the build; never empty.
    pub problems: Vec<Problem>,
    /// What the author of the kustomizations should know besides.
    pub warnings: Vec<Problem>,
}

/// One problem, or one warning, and where it is.
#[derive(Debug, thiserror::Error)]
#[error("{place}: {}", self.message())]
pub struct Problem {
    /// Where.
    pub place: Place,
    /// What.
    pub kind: ProblemKind,
}

/// A place in a build.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The files that led there, outermost first, and last the one the problem is in; never empty.
    pub files: Vec<TreePath>,
    /// The field in that file, such as `resources[2]`; empty for the file as a whole.
    pub field: String,
}

/// What is wrong. Each step of a build adds its own error as a transparent variant.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProblemKind {
    /// A file cannot be read.
    #[error(transparent)]
    Tree(#[from] TreeError),
    /// A file or a piece of text is no YAML.
    #[error("`{file}` cannot be read: {reason}")]
    Yaml {
        /// The file.
        file: TreePath,
        /// What is wrong in it, with line and column; it holds no value of the file.
        reason: String,
    },
    /// A kustomization does not have the form of one.
    #[error(transparent)]
    Decode(#[from] DecodeProblem),
    /// The objects cannot be put into the order that is asked for.
    #[error(transparent)]
    Order(#[from] OrderProblem),
    /// A ConfigMap or Secret cannot be generated.
    #[error(transparent)]
    Generator(#[from] GeneratorProblem),
    /// A chart cannot be rendered.
    #[error(transparent)]
    Helm(#[from] HelmProblem),
    /// An entry of `images` cannot be used.
    #[error(transparent)]
    Image(#[from] ImageProblem),
    /// An entry of `replicas` hits nothing.
    #[error(transparent)]
    Replica(#[from] ReplicaProblem),
    /// An entry of `buildMetadata` means nothing: a warning.
    #[error(transparent)]
    Metadata(#[from] MetadataProblem),
    /// A plugin cannot be run.
    #[error(transparent)]
    Plugin(#[from] PluginProblem),
    /// A variable cannot be used, or is not.
    #[error(transparent)]
    Var(#[from] VarProblem),
    /// A field spec, or a field it leads to, cannot be as it is.
    #[error(transparent)]
    Field(#[from] FieldProblem),
    /// Objects cannot all be moved into a namespace.
    #[error(transparent)]
    Namespace(#[from] NamespaceProblem),
    /// It cannot be told which object is referred to.
    #[error(transparent)]
    Reference(#[from] ReferenceProblem),
    /// A patch cannot be read or applied.
    #[error(transparent)]
    Patch(#[from] PatchProblem),
    /// A selector cannot be read.
    #[error(transparent)]
    Selector(#[from] SelectorProblem),
    /// The schema that says how lists are merged cannot be used.
    #[error(transparent)]
    Schema(#[from] SchemaProblem),
    /// A replacement cannot be made.
    #[error(transparent)]
    Replacement(#[from] ReplacementProblem),
    /// A folder holds no kustomization.
    #[error("`{0}` holds none of `kustomization.yaml`, `kustomization.yml`, `Kustomization`")]
    NoKustomization(TreePath),
    /// A folder holds several kustomizations.
    #[error("`{folder}` holds several kustomizations ({}): keep one", found.join(", "))]
    SeveralKustomizations {
        /// The folder.
        folder: TreePath,
        /// Their names.
        found: Vec<&'static str>,
    },
    /// A path leads nowhere.
    #[error("`{entry}` is not there: neither a file nor a folder at `{path}`")]
    Missing {
        /// The path as it is written.
        entry: String,
        /// Where it leads.
        path: TreePath,
    },
    /// A file stands where only a folder can.
    #[error("`{0}` is a file; a component is a folder with a kustomization")]
    NotAFolder(String),
    /// A folder stands where only a file can.
    #[error("`{0}` is a folder, a file is needed")]
    NotAFile(String),
    /// A file outside the folder of the kustomization that names it.
    #[error("`{file}` lies outside `{root}`")]
    Outside {
        /// The file, after links.
        file: TreePath,
        /// The folder it must be in.
        root: TreePath,
    },
    /// A folder by an absolute path.
    #[error("`{0}` is absolute; a folder is named by a relative path")]
    Absolute(String),
    /// A root is visited from within itself.
    #[error("`{candidate}` contains `{visited}`, which led here")]
    Cycle {
        /// The root that would be entered.
        candidate: TreePath,
        /// The root on the way there.
        visited: TreePath,
    },
    /// Roots within roots, without an end in sight.
    #[error("folders lead to folders more than {limit} levels deep")]
    TooDeep {
        /// The limit.
        limit: usize,
    },
    /// A component among `resources`.
    #[error("`{0}` is of kind Component: list it under `components`")]
    ComponentAsResource(TreePath),
    /// A kustomization among `components`.
    #[error("`{path}` is of kind {found}, a Component is needed here: list it under `resources`")]
    NotAComponent {
        /// The folder.
        path: TreePath,
        /// Its kind.
        found: String,
    },
    /// An object that cannot be told from others.
    #[error("object {index} of `{file}` has no {missing}")]
    Nameless {
        /// The file.
        file: TreePath,
        /// Its number in the file, from 1.
        index: usize,
        /// `kind` or `metadata.name`.
        missing: &'static str,
    },
    /// An item of a list that cannot be an object.
    #[error("item {index} of a list in `{file}` is {found}; an object is a mapping")]
    NotAnItem {
        /// The file.
        file: TreePath,
        /// Its number in the list, from 1.
        index: usize,
        /// What it is, with its article.
        found: &'static str,
    },
    /// Two objects with one id.
    #[error("`{id}` is there twice: from {first} and from {second}")]
    Duplicate {
        /// The id both have.
        id: Box<ResId>,
        /// Where the one that was there comes from.
        first: String,
        /// Where the other comes from.
        second: String,
    },
    /// A request that came to nothing.
    #[error("`{entry}` cannot be {done}: {reason}")]
    Unanswered {
        /// The entry.
        entry: String,
        /// What was to be done with it: `fetched` or `rendered`.
        done: &'static str,
        /// Why.
        reason: String,
    },
    /// A field that is deprecated: a warning.
    #[error("`{field}` is deprecated: use `{instead}`")]
    Deprecated {
        /// The field.
        field: &'static str,
        /// The one that took its place.
        instead: &'static str,
    },
}

impl ProblemKind {
    /// Whether it says that an object is not there, which means nothing where one could not be loaded.
    pub(crate) fn misses_an_object(&self) -> bool {
        matches!(
            self,
            Self::Patch(PatchProblem::NoObject { .. })
                | Self::Replacement(ReplacementProblem::NotFound { .. })
                | Self::Replica(ReplicaProblem::NothingNamed { .. })
                | Self::Generator(GeneratorProblem::NothingThere { .. })
        )
    }
}

impl Problem {
    /// What is wrong, for who knows the place: the file the problem is in is not named again.
    pub fn message(&self) -> String {
        let text = self.kind.to_string();
        let Some(file) = self.place.files.last() else { return text };
        let own = format!("`{file}`");
        match text.strip_prefix(&own) {
            Some(rest) => rest.trim_start().to_owned(),
            None => {
                [" of ", " in "].iter().fold(text, |text, word| text.replace(&format!("{word}{own}"), ""))
            }
        }
    }
}

/// Collects what a build finds on its way. A step reports, and goes on where what follows still means something.
#[derive(Debug, Default)]
pub(crate) struct Problems {
    pub(crate) errors: Vec<Problem>,
    pub(crate) warnings: Vec<Problem>,
    pub(crate) wanted: BTreeSet<Request>,
}

impl fmt::Display for Place {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.files.iter().map(TreePath::as_str).collect();
        formatter.write_str(&names.join(" > "))?;
        if self.field.is_empty() { Ok(()) } else { write!(formatter, ": {}", self.field) }
    }
}

impl fmt::Display for BuildErrors {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.problems.iter().enumerate() {
            let separator = if index > 0 { "; " } else { "" };
            write!(formatter, "{separator}{problem}")?;
        }
        Ok(())
    }
}
