//! The files of a hierarchy. Each is parsed at most once, when a target first needs it.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use manifest::Value;
use serde::Serialize;

use super::class::Class;
use super::discover::{FileKind, find_files};
use super::document::DocumentProblem;
use super::error::{InventoryError, RenderError, TargetProblem};
use super::order::KeyOrder;
use super::problem::Location;
use super::resolve::Resolver;
use super::tree::Origin;
use super::walk::Walk;
use crate::file_reading::read_file;

/// The maximum size of a file of the hierarchy.
const MAX_FILE_BYTES: u64 = 16 << 20;

/// A hierarchy of classes, with its targets. Threads may render targets of one inventory at the same time.
#[derive(Debug, Default)]
pub struct Inventory {
    files: Vec<SourceFile>,
    classes: HashMap<String, usize>,
    targets: BTreeMap<String, usize>,
    /// The folder that the paths of errors start from.
    base: PathBuf,
}

/// The treatment of classes that no file defines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum MissingClasses {
    /// A missing class is an error.
    #[default]
    Rejected,
    /// A missing class has no content.
    Ignored,
}

/// A rendered target.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Node {
    /// The applications, in order and without negations.
    pub applications: Vec<String>,
    /// The included classes, in order of precedence, as written.
    pub classes: Vec<String>,
    /// The merged parameters without references.
    pub parameters: Value,
    /// The classes that no file defines, if they are ignored.
    #[serde(skip)]
    pub missing_classes: Vec<String>,
}

/// A file of the hierarchy.
#[derive(Debug)]
pub(super) struct SourceFile {
    /// The class or target.
    pub(super) name: String,
    pub(super) path: PathBuf,
    /// The parts of the class that encloses relative names.
    pub(super) parent: Vec<String>,
    text: Option<String>,
    class: OnceLock<Result<Class, FileProblem>>,
}

/// A file that cannot be used.
#[derive(Debug)]
pub(super) enum FileProblem {
    Unreadable(String),
    Invalid(DocumentProblem),
}

impl Inventory {
    /// Finds the classes and targets in the folders `classes` and `targets`. Symbolic links are followed.
    ///
    /// # Errors
    /// A folder cannot be read, or two files define one class or target.
    pub fn read(directory: &Path) -> Result<Self, InventoryError> {
        let mut inventory = Self::default();
        for (kind, folder) in [(FileKind::Target, "targets"), (FileKind::Class, "classes")] {
            let folder = directory.join(folder);
            for (name, found) in find_files(&folder, kind)? {
                let path = folder.join(found.path);
                inventory.insert(kind, SourceFile::new(name, path, found.parent, None));
            }
        }
        Ok(inventory)
    }

    /// Makes the paths of errors and explanations start from a folder, if the inventory is below it.
    #[must_use]
    pub fn with_paths_from(mut self, folder: &Path) -> Self {
        folder.clone_into(&mut self.base);
        self
    }

    /// Makes errors name the files that links lead to, for an inventory of links that is deleted.
    #[must_use]
    pub(crate) fn with_paths_of_originals(mut self) -> Self {
        for file in &mut self.files {
            if let Ok(original) = file.path.canonicalize() {
                file.path = original;
            }
        }
        self
    }

    /// Returns the names of the targets, in order.
    pub fn targets(&self) -> impl Iterator<Item = &str> {
        self.targets.keys().map(String::as_str)
    }

    /// Returns the names of the classes, in no particular order.
    pub fn classes(&self) -> impl Iterator<Item = &str> {
        self.classes.keys().map(String::as_str)
    }

    /// Merges the classes of a target, and resolves all references.
    ///
    /// # Errors
    /// The target does not exist, or it has problems; all are reported.
    pub fn render(&self, target: &str) -> Result<Node, RenderError> {
        self.render_with(target, MissingClasses::Rejected)
    }

    /// Merges the classes of a target, and resolves all references, with a treatment of missing classes.
    ///
    /// # Errors
    /// The target does not exist, or it has problems; all are reported.
    pub(crate) fn render_with(&self, target: &str, missing: MissingClasses) -> Result<Node, RenderError> {
        let file = self.target_file(target)?;
        let failed = |problems| RenderError::Problems { target: target.to_owned(), problems };
        let walk = Walk::of(self, file, missing).map_err(failed)?;
        let parameters = Resolver::new(self, &walk.fields).resolve_all().map_err(|problems| {
            failed(problems.into_iter().map(TargetProblem::Parameter).collect::<Vec<_>>())
        })?;
        Ok(Node {
            applications: walk.applications.into_items(),
            classes: walk.classes.into_iter().collect(),
            parameters,
            missing_classes: walk.missing,
        })
    }

    /// Returns the order of the keys in the parameters of a target that can be rendered.
    pub(crate) fn key_order(&self, target: &str) -> KeyOrder {
        let walk = self.targets.get(target).map(|file| Walk::of(self, *file, MissingClasses::Ignored));
        match walk {
            Some(Ok(walk)) => Resolver::new(self, &walk.fields).key_order(),
            _ => KeyOrder::None,
        }
    }

    pub(super) fn target_file(&self, target: &str) -> Result<usize, RenderError> {
        self.targets.get(target).copied().ok_or_else(|| RenderError::UnknownTarget {
            target: target.to_owned(),
            similar: similar(target, self.targets()),
        })
    }

    pub(super) fn class_file(&self, class: &str) -> Option<usize> {
        self.classes.get(class).copied()
    }

    pub(super) fn file(&self, file: usize) -> &SourceFile {
        &self.files[file]
    }

    pub(super) fn location(&self, origin: Origin) -> Location {
        let file = &self.files[origin.file as usize];
        let path = file.path.strip_prefix(&self.base).unwrap_or(&file.path);
        Location { class: file.name.clone(), file: path.to_owned(), line: origin.line }
    }

    fn insert(&mut self, kind: FileKind, file: SourceFile) {
        let name = file.name.clone();
        let number = self.files.len();
        self.files.push(file);
        match kind {
            FileKind::Class => _ = self.classes.insert(name, number),
            FileKind::Target => _ = self.targets.insert(name, number),
        }
    }
}

impl SourceFile {
    fn new(name: String, path: PathBuf, parent: Vec<String>, text: Option<String>) -> Self {
        Self { name, path, parent, text, class: OnceLock::new() }
    }

    /// Returns the content, and parses it if needed. `number` is the number of the file.
    pub(super) fn class(&self, number: usize) -> Result<&Class, &FileProblem> {
        self.class
            .get_or_init(|| {
                let number = u32::try_from(number).unwrap_or(u32::MAX);
                match &self.text {
                    Some(text) => Class::parse(text, number).map_err(FileProblem::Invalid),
                    None => Class::parse(&read_text(&self.path)?, number).map_err(FileProblem::Invalid),
                }
            })
            .as_ref()
    }
}

fn read_text(path: &Path) -> Result<String, FileProblem> {
    let unreadable = |reason: String| FileProblem::Unreadable(reason);
    let bytes = read_file(path, MAX_FILE_BYTES).map_err(|error| unreadable(error.to_string()))?;
    String::from_utf8(bytes).map_err(|_| unreadable("the file is not UTF-8".to_owned()))
}

/// Returns candidates that are similar to a name.
pub(super) fn similar<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    api::similar_names(name, candidates).into_iter().map(str::to_owned).collect()
}

#[cfg(test)]
impl Inventory {
    /// Adds a class with a name such as `a.b`.
    pub(super) fn add_class(&mut self, name: &str, text: &str) -> Result<(), InventoryError> {
        self.add(FileKind::Class, name, text)
    }

    pub(super) fn add_target(&mut self, name: &str, text: &str) -> Result<(), InventoryError> {
        self.add(FileKind::Target, name, text)
    }

    fn add(&mut self, kind: FileKind, name: &str, text: &str) -> Result<(), InventoryError> {
        let (kind_name, folder, known) = match kind {
            FileKind::Class => ("class", "classes", self.classes.get(name)),
            FileKind::Target => ("node", "targets", self.targets.get(name)),
        };
        let path = |name: &str| Path::new(folder).join(name.replace('.', "/")).with_extension("yml");
        if let Some(&known) = known {
            let (first, second) = (self.files[known].path.clone(), path(name));
            return Err(InventoryError::Collision { kind: kind_name, name: name.to_owned(), first, second });
        }
        let parent = match (kind, name.rsplit_once('.')) {
            (FileKind::Class, Some((parent, _))) => parent.split('.').map(str::to_owned).collect(),
            _ => Vec::new(),
        };
        self.insert(kind, SourceFile::new(name.to_owned(), path(name), parent, Some(text.to_owned())));
        Ok(())
    }
}
