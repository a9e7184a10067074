//! The classes and components of a working folder.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use manifest::Value;

use super::class_file::{ClassFile, plain_key};
use super::files::{MAX_FILE_BYTES, TESTS, collect};
use super::finding::LintFinding;
use crate::dependencies::split_alias;
use crate::file_reading::read_text;
use crate::working_folder::WorkingFolder;

/// The prefix of packages in lists of applications and in names of folders.
const PACKAGE_PREFIX: &str = "pkg.";
/// The folders of a checkout that compilations do not read.
const UNREAD_FOLDERS: [&str; 2] = [TESTS, "docs"];

/// The classes and components of a working folder.
pub(super) struct Hierarchy<'a> {
    /// The classes of the hierarchy and of packages.
    pub(super) classes: Vec<ClassFile>,
    /// The targets. A compilation creates one for each instance, with a reference to all its parameters.
    pub(super) targets: Vec<ClassFile>,
    /// The checked-out components and instances, by the names of their folders.
    pub(super) checkouts: BTreeMap<String, Checkout>,
    /// The component of each instance of any cluster.
    pub(super) instances: BTreeMap<String, String>,
    /// The declared components.
    pub(super) declared: BTreeSet<String>,
    /// The packages that any cluster includes.
    pub(super) packages: BTreeSet<String>,
    /// The included packages without a checkout.
    pub(super) missing_packages: Vec<String>,
    /// The files of Jsonnet libraries.
    pub(super) libraries: Vec<PathBuf>,
    /// The files whose findings are wanted. The keys are the paths without links.
    wanted: &'a BTreeMap<PathBuf, PathBuf>,
}

/// A checked-out component.
#[derive(Default)]
pub(super) struct Checkout {
    /// The files in `class`: the defaults of parameters, and the class.
    pub(super) classes: Vec<ClassFile>,
    /// All other files that a compilation may read.
    pub(super) sources: Vec<PathBuf>,
}

/// The result of one check.
#[derive(Default)]
pub(super) struct Checked {
    pub(super) findings: Vec<LintFinding>,
    /// The checks that were not possible.
    pub(super) skipped: Vec<String>,
}

impl<'a> Hierarchy<'a> {
    /// Reads a working folder. Only findings in wanted files are reported.
    pub(super) fn read(root: &Path, wanted: &'a BTreeMap<PathBuf, PathBuf>) -> Self {
        let folder = WorkingFolder::new(root);
        let mut found = Self {
            classes: classes_in(&folder.classes()),
            targets: classes_in(&folder.targets()),
            checkouts: BTreeMap::new(),
            instances: BTreeMap::new(),
            declared: BTreeSet::new(),
            packages: BTreeSet::new(),
            missing_packages: Vec::new(),
            libraries: files_in(&folder.vendor()),
            wanted,
        };
        let mut packages = BTreeSet::new();
        for (name, path) in folders_in(&folder.dependencies()) {
            if let Some(package) = name.strip_prefix(PACKAGE_PREFIX) {
                packages.insert(package.to_owned());
                found.classes.extend(classes_in(&path));
            } else if path == folder.libraries() {
                found.libraries.extend(files_in(&path));
            } else {
                found.checkouts.insert(name, Checkout::read(&path));
            }
        }
        found.find_dependencies();
        found.missing_packages = found.packages.difference(&packages).cloned().collect();
        found
    }

    /// Finds the dependencies that any class includes or declares.
    fn find_dependencies(&mut self) {
        let of_components = self.checkouts.values().flat_map(|checkout| &checkout.classes);
        for class in self.classes.iter().chain(of_components) {
            for entry in class.applications() {
                if let Some(package) = entry.strip_prefix(PACKAGE_PREFIX) {
                    self.packages.insert(package.to_owned());
                } else {
                    let (component, alias) = split_alias(entry);
                    self.instances.insert(alias.to_owned(), component.to_owned());
                }
            }
            for (_, value) in class.parameters().filter(|(key, _)| plain_key(key) == "components") {
                let names = value.as_object().into_iter().flat_map(manifest::Map::keys);
                self.declared.extend(names.map(|name| plain_key(name).to_owned()));
            }
        }
    }

    /// Returns the classes of the hierarchy and of all components.
    pub(super) fn all_classes(&self) -> impl Iterator<Item = &ClassFile> {
        let of_components = self.checkouts.values().flat_map(|checkout| &checkout.classes);
        self.classes.iter().chain(of_components)
    }

    /// Returns a class with the path of the command line, if its findings are wanted.
    pub(super) fn shown_path(&self, class: &ClassFile) -> Option<&PathBuf> {
        self.wanted.get(&class.path.canonicalize().ok()?)
    }

    /// The component whose parameters a key has, by the name of the component or of an instance. None for other keys.
    pub(super) fn component_of_key(&self, key: &str) -> Option<&str> {
        let has_key = |name: &&str| name.replace('-', "_") == key;
        let aliases = self.instances.iter().find(|(alias, _)| has_key(&alias.as_str()));
        let names = self.instances.values().chain(&self.declared).map(String::as_str);
        names.into_iter().find(has_key).or_else(|| aliases.map(|(_, component)| component.as_str()))
    }

    /// Returns the checkouts of a component: its own, and those of its instances with another version.
    pub(super) fn checkouts_of(&self, component: &str) -> Vec<&Checkout> {
        let names = self.instances.iter().filter(|(_, of)| *of == component).map(|(alias, _)| alias.as_str());
        let names: BTreeSet<&str> = names.chain([component]).collect();
        names.into_iter().filter_map(|name| self.checkouts.get(name)).collect()
    }

    /// The included components without a checkout.
    pub(super) fn missing_components(&self) -> Vec<&str> {
        let names: BTreeSet<&str> = self.instances.values().map(String::as_str).collect();
        names.into_iter().filter(|name| self.checkouts_of(name).is_empty()).collect()
    }
}

impl Checkout {
    fn read(folder: &Path) -> Self {
        let mut checkout = Self::default();
        for path in files_in(folder) {
            let is_class = path.parent().is_some_and(|parent| parent.ends_with("class"));
            match ClassFile::read(&path).filter(|_| is_class) {
                Some(class) => checkout.classes.push(class),
                None => checkout.sources.push(path),
            }
        }
        checkout
    }

    /// Returns the values that the classes of the component set below a key.
    pub(super) fn values_of<'c>(&'c self, key: &'c str) -> impl Iterator<Item = &'c Value> {
        let parameters = self.classes.iter().flat_map(ClassFile::parameters);
        parameters.filter(move |(name, _)| plain_key(name) == key).map(|(_, value)| value)
    }
}

/// Reads the classes below a folder. Links, which lead to components and packages, are not followed.
fn classes_in(folder: &Path) -> Vec<ClassFile> {
    files_in(folder).iter().filter_map(|path| ClassFile::read(path)).collect()
}

/// Lists the files below a folder that a compilation may read, without links and documentation.
fn files_in(folder: &Path) -> Vec<PathBuf> {
    let is_wanted = |path: &Path| {
        let is_text = path.extension().is_none_or(|extension| extension != "md" && extension != "adoc");
        !path.is_symlink() && is_text && !UNREAD_FOLDERS.iter().any(|name| path.ends_with(name))
    };
    let mut files = Vec::new();
    if folder.is_dir() {
        collect(folder, 0, &is_wanted, &mut files);
    }
    files
}

/// Returns the folders in a folder, except for hidden ones.
fn folders_in(folder: &Path) -> Vec<(String, PathBuf)> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let named = entries.filter_map(|entry| Some((entry.file_name().into_string().ok()?, entry.path())));
    let mut folders: Vec<_> = named.filter(|(name, path)| !name.starts_with('.') && path.is_dir()).collect();
    folders.sort();
    folders
}

/// Reads a file as text. None if it is large or no text.
pub(super) fn read_source(path: &Path) -> Option<String> {
    read_text(path, MAX_FILE_BYTES).ok()
}
