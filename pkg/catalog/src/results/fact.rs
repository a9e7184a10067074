//! Facts that the result of a target depends on, and their digests.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::{fs, io};

use data_encoding::HEXLOWER;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::file_reading::{FolderWalk, LinkPolicy, MAX_FILE_BYTES, read_file};
use crate::folder_update::mode_of;
use crate::reclass::{KeyOrders, Node};

/// The digest of a missing file, parameter or target.
const MISSING: &str = "missing";

/// A fact that the result of a target depends on.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub(crate) enum Fact {
    /// The content of a file.
    File(PathBuf),
    /// The kind of a path: file, folder or nothing.
    Kind(PathBuf),
    /// The names in a folder, with their kinds.
    Folder(PathBuf),
    /// All files below a folder, with their permissions.
    Tree(PathBuf),
    /// The names of the parameters of a target.
    ParameterNames(String),
    /// One parameter of a target.
    Parameter(String, String),
    /// A field in the parameters of a target, as a JSON pointer.
    Field(String, String),
    /// A whole target of the inventory.
    Node(String),
    /// The names of all targets.
    NodeNames,
    /// All targets of the inventory.
    Nodes,
    /// The order of the keys in all targets.
    KeyOrders,
}

/// The digests of facts as they are now. Each is computed once.
pub(crate) struct CurrentFacts<'a> {
    nodes: &'a BTreeMap<String, Node>,
    key_orders: &'a KeyOrders,
    known: Mutex<HashMap<Fact, String>>,
}

impl<'a> CurrentFacts<'a> {
    pub(crate) fn new(nodes: &'a BTreeMap<String, Node>, key_orders: &'a KeyOrders) -> Self {
        Self { nodes, key_orders, known: Mutex::default() }
    }

    /// True if a fact still has a digest.
    pub(crate) fn holds(&self, fact: &Fact, digest: &str) -> bool {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner).get(fact).cloned();
        if let Some(known) = known {
            return known == digest;
        }
        let now = match fact {
            Fact::KeyOrders => orders_digest(self.key_orders),
            fact => current_digest(fact, self.nodes),
        };
        let holds = now == digest;
        self.known.lock().unwrap_or_else(PoisonError::into_inner).insert(fact.clone(), now);
        holds
    }
}

/// Returns the digest of a fact as it is now.
pub(super) fn current_digest(fact: &Fact, nodes: &BTreeMap<String, Node>) -> String {
    let parameters = |target: &String| nodes.get(target).map(|node| &node.parameters);
    match fact {
        Fact::File(path) => content_digest(&read_file(path, MAX_FILE_BYTES)),
        Fact::Kind(path) => kind_of(path).to_owned(),
        Fact::Folder(path) => names_digest(&entries(path)),
        Fact::Tree(path) => tree_digest(path),
        Fact::ParameterNames(target) => names_digest_of(parameters(target)),
        Fact::Parameter(target, name) => value_digest(parameters(target).and_then(|all| all.get(name))),
        Fact::Field(target, pointer) => value_digest(parameters(target).and_then(|all| all.pointer(pointer))),
        Fact::Node(target) => value_digest(nodes.get(target)),
        Fact::NodeNames => digest(nodes.keys().map(String::as_bytes)),
        Fact::Nodes => {
            let mut hash = Sha256::new();
            for (name, node) in nodes {
                add(&mut hash, name.as_bytes());
                add(&mut hash, &serde_json::to_vec(node).unwrap_or_default());
            }
            HEXLOWER.encode(&hash.finalize())
        }
        Fact::KeyOrders => MISSING.to_owned(),
    }
}

/// Returns the digest of the order of the keys in all targets.
pub(super) fn orders_digest(key_orders: &KeyOrders) -> String {
    let mut hash = Sha256::new();
    for (name, order) in key_orders.all() {
        add(&mut hash, name.as_bytes());
        add(&mut hash, format!("{order:?}").as_bytes());
    }
    HEXLOWER.encode(&hash.finalize())
}

/// Returns the digest of a file that was read.
pub(super) fn content_digest(content: &io::Result<Vec<u8>>) -> String {
    match content {
        Ok(bytes) => digest([&**bytes]),
        // The kind matters: a file that cannot be read may become readable.
        Err(error) => format!("{MISSING}: {:?}", error.kind()),
    }
}

/// Returns the digest of bytes that were read.
pub(super) fn bytes_digest(content: &[u8]) -> String {
    digest([content])
}

/// Returns the digest of a value or target.
pub(super) fn value_digest(value: Option<&impl Serialize>) -> String {
    let text = value.map(|value| serde_json::to_vec(value).unwrap_or_default());
    text.map_or_else(|| MISSING.to_owned(), |text| digest([&*text]))
}

/// Returns the digest of the names of parameters.
pub(super) fn names_digest_of(parameters: Option<&Value>) -> String {
    let names = parameters.and_then(Value::as_object);
    names.map_or_else(|| MISSING.to_owned(), |names| digest(names.keys().map(String::as_bytes)))
}

/// Returns the kind of a path, in a word.
pub(super) fn kind_of(path: &Path) -> &'static str {
    match fs::metadata(path) {
        Ok(metadata) if metadata.is_dir() => "folder",
        Ok(_) => "file",
        Err(_) if fs::symlink_metadata(path).is_ok() => "link",
        Err(_) => MISSING,
    }
}

/// Returns the names in a folder with the kinds of their targets, sorted.
pub(super) fn entries(folder: &Path) -> io::Result<Vec<(String, bool)>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        found.push((entry.file_name().to_string_lossy().into_owned(), entry.path().is_dir()));
    }
    found.sort();
    Ok(found)
}

pub(super) fn names_digest(entries: &io::Result<Vec<(String, bool)>>) -> String {
    match entries {
        Ok(entries) => {
            digest(entries.iter().flat_map(|(name, is_folder)| {
                [name.as_bytes(), if *is_folder { b"folder" } else { b"file" }]
            }))
        }
        Err(error) => format!("{MISSING}: {:?}", error.kind()),
    }
}

/// Returns the digest of all files below a folder, or of a file.
pub(super) fn tree_digest(path: &Path) -> String {
    let mut hash = Sha256::new();
    match add_tree(path, &mut hash) {
        Ok(()) => HEXLOWER.encode(&hash.finalize()),
        Err(error) => format!("{MISSING}: {:?}", error.kind()),
    }
}

fn add_tree(path: &Path, hash: &mut Sha256) -> io::Result<()> {
    if !fs::metadata(path)?.is_dir() {
        return add_file(path, hash);
    }
    for entry in FolderWalk::new(path, LinkPolicy::Follow, &|_| true).map_err(|failed| failed.error)? {
        let entry = entry.map_err(|failed| failed.error)?;
        add(hash, entry.name().as_bytes());
        add(hash, if entry.is_folder { b"folder" } else { b"file" });
        if entry.is_folder {
            continue;
        }
        // A link to nothing has no content.
        match add_file(&entry.path, hash) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => add(hash, MISSING.as_bytes()),
            added => added?,
        }
    }
    Ok(())
}

fn add_file(path: &Path, hash: &mut Sha256) -> io::Result<()> {
    add(hash, &read_file(path, MAX_FILE_BYTES)?);
    add(hash, &mode_of(&fs::metadata(path)?).to_le_bytes());
    Ok(())
}

fn digest<'b>(parts: impl IntoIterator<Item = &'b [u8]>) -> String {
    let mut hash = Sha256::new();
    parts.into_iter().for_each(|part| add(&mut hash, part));
    HEXLOWER.encode(&hash.finalize())
}

/// Adds a part with its length, so that no two lists of parts are alike.
fn add(hash: &mut Sha256, part: &[u8]) {
    hash.update((part.len() as u64).to_le_bytes());
    hash.update(part);
}
