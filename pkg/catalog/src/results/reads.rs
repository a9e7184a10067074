//! The reads of a target: files and parameters, each with its digest at the time of the read.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::{fs, io, mem};

use serde_json::Value;

use super::fact::{self, Fact};
use crate::file_reading::{MAX_FILE_BYTES, read_file};
use crate::reclass::{KeyOrders, Node};

/// Reads files for a target, and records what was read.
///
/// Files in the output of the run are not recorded: they follow from other facts.
#[derive(Debug, Default)]
pub(crate) struct Reads {
    /// The folder with the output of the run, in all its spellings. Empty to record nothing.
    output: Vec<PathBuf>,
    facts: Mutex<BTreeMap<Fact, String>>,
    has_unknown: AtomicBool,
    digests: Arc<NodeDigests>,
}

/// The digests of all targets, computed once for a run.
#[derive(Debug, Default)]
pub(crate) struct NodeDigests {
    nodes: OnceLock<String>,
    key_orders: OnceLock<String>,
}

impl Reads {
    /// Records the reads of files outside of a folder. All targets of a run share the digest of all nodes.
    pub(crate) fn outside(output: PathBuf, digests: &Arc<NodeDigests>) -> Self {
        let real = fs::canonicalize(&output).ok().filter(|real| *real != output);
        let output = [output].into_iter().chain(real).collect();
        Self { output, digests: Arc::clone(digests), ..Self::default() }
    }

    /// Returns the recorded facts, and forgets them. None if the result also depends on something else.
    pub(crate) fn take_facts(&self) -> Option<BTreeMap<Fact, String>> {
        let facts = mem::take(&mut *self.facts.lock().unwrap_or_else(PoisonError::into_inner));
        (!self.output.is_empty() && !self.has_unknown.load(Ordering::Relaxed)).then_some(facts)
    }

    /// Notes that the result depends on something that is not recorded, such as a program or the time.
    pub(crate) fn note_unknown(&self) {
        self.has_unknown.store(true, Ordering::Relaxed);
    }

    /// Reads a file.
    pub(crate) fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        let content = read_file(path, MAX_FILE_BYTES);
        self.note(path, Fact::File, || fact::content_digest(&content));
        content
    }

    /// Reads a text.
    pub(crate) fn read_text(&self, path: &Path) -> io::Result<String> {
        let invalid = |_| io::Error::new(io::ErrorKind::InvalidData, "stream did not contain valid UTF-8");
        String::from_utf8(self.read(path)?).map_err(invalid)
    }

    /// Notes a file whose content was read.
    pub(crate) fn note_content(&self, path: &Path, content: &[u8]) {
        self.note(path, Fact::File, || fact::bytes_digest(content));
    }

    /// True if a path is a file.
    pub(crate) fn is_file(&self, path: &Path) -> bool {
        self.kind(path) == "file"
    }

    /// True if a path is a folder.
    pub(crate) fn is_folder(&self, path: &Path) -> bool {
        self.kind(path) == "folder"
    }

    /// True if a path is a file or a folder.
    pub(crate) fn exists(&self, path: &Path) -> bool {
        matches!(self.kind(path), "file" | "folder")
    }

    /// True if a path is a file, a folder, or a link to nothing.
    pub(crate) fn has_entry(&self, path: &Path) -> bool {
        matches!(self.kind(path), "file" | "folder" | "link")
    }

    fn kind(&self, path: &Path) -> &'static str {
        let kind = fact::kind_of(path);
        self.note(path, Fact::Kind, || kind.to_owned());
        kind
    }

    /// Returns the names in a folder, sorted. The flag tells folders from files.
    pub(crate) fn entries(&self, folder: &Path) -> io::Result<Vec<(String, bool)>> {
        let entries = fact::entries(folder);
        self.note(folder, Fact::Folder, || fact::names_digest(&entries));
        entries
    }

    /// Notes that all files below a folder are read.
    pub(crate) fn note_tree(&self, folder: &Path) {
        self.note(folder, Fact::Tree, || fact::tree_digest(folder));
    }

    /// Notes paths that were looked up: files with their contents, folders with their names, and missing ones.
    pub(crate) fn note_paths(&self, paths: &[PathBuf]) {
        for path in paths {
            if self.is_file(path) {
                self.note(path, Fact::File, || fact::content_digest(&read_file(path, MAX_FILE_BYTES)));
            } else if self.is_folder(path) {
                self.note(path, Fact::Folder, || fact::names_digest(&fact::entries(path)));
            }
        }
    }

    /// Notes the read of a parameter of a target.
    pub(crate) fn note_parameter(&self, target: &str, name: &str, value: Option<&Value>) {
        let fact = Fact::Parameter(target.to_owned(), name.to_owned());
        self.add(fact, || fact::value_digest(value));
    }

    /// Notes the read of a field in the parameters of a target, by its JSON pointer.
    pub(crate) fn note_field(&self, target: &str, pointer: &str, value: Option<&Value>) {
        self.add(Fact::Field(target.to_owned(), pointer.to_owned()), || fact::value_digest(value));
    }

    /// Notes the read of the names of the parameters of a target.
    pub(crate) fn note_parameter_names(&self, target: &str, parameters: Option<&Value>) {
        self.add(Fact::ParameterNames(target.to_owned()), || fact::names_digest_of(parameters));
    }

    /// Notes the read of a whole target.
    pub(crate) fn note_node(&self, target: &str, node: Option<&Node>) {
        self.add(Fact::Node(target.to_owned()), || fact::value_digest(node));
    }

    /// Notes the read of all targets. Their digest is computed once for all targets of a run.
    pub(crate) fn note_nodes(&self, nodes: &BTreeMap<String, Node>) {
        let digest = || fact::current_digest(&Fact::Nodes, nodes);
        self.add(Fact::Nodes, || self.digests.nodes.get_or_init(digest).clone());
    }

    /// Notes the read of the order of the keys in all targets.
    pub(crate) fn note_key_orders(&self, key_orders: &KeyOrders) {
        let digest = || fact::orders_digest(key_orders);
        self.add(Fact::KeyOrders, || self.digests.key_orders.get_or_init(digest).clone());
    }

    /// Notes the read of the names of all targets.
    pub(crate) fn note_node_names(&self, nodes: &BTreeMap<String, Node>) {
        self.add(Fact::NodeNames, || fact::current_digest(&Fact::NodeNames, nodes));
    }

    fn note(&self, path: &Path, fact: impl FnOnce(PathBuf) -> Fact, digest: impl FnOnce() -> String) {
        if !self.output.iter().any(|output| path.starts_with(output)) {
            self.add(fact(path.to_owned()), digest);
        }
    }

    /// Adds a fact. A fact that changes between two reads cannot be relied on.
    fn add(&self, fact: Fact, digest: impl FnOnce() -> String) {
        if self.output.is_empty() {
            return;
        }
        let mut facts = self.facts.lock().unwrap_or_else(PoisonError::into_inner);
        let is_file = matches!(fact, Fact::File(_) | Fact::Kind(_) | Fact::Folder(_) | Fact::Tree(_));
        if !is_file && facts.contains_key(&fact) {
            return;
        }
        let digest = digest();
        if facts.get(&fact).is_some_and(|known| *known != digest) {
            self.note_unknown();
        }
        facts.insert(fact, digest);
    }
}
