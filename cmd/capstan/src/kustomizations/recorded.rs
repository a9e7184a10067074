use std::{
    cell::RefCell,
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use kustomize::{Answers, Build, MemoryTree, Resolved, Tree, TreeError, TreePath};

use super::layer::OPTIONS;

/// A tree with a memory of what was read of it.
pub(super) struct Recorded<T> {
    tree: T,
    read: RefCell<BTreeMap<TreePath, Arc<[u8]>>>,
}

impl<T> Recorded<T> {
    pub(super) fn new(tree: T) -> Self {
        Self { tree, read: RefCell::default() }
    }

    /// All files that were read, by their canonical paths.
    pub(super) fn into_read(self) -> BTreeMap<TreePath, Arc<[u8]>> {
        self.read.into_inner()
    }
}

impl<T: Tree> Tree for Recorded<T> {
    fn resolve(&self, path: &TreePath) -> Result<Resolved, TreeError> {
        self.tree.resolve(path)
    }

    fn read(&self, path: &TreePath) -> Result<Arc<[u8]>, TreeError> {
        let bytes = self.tree.read(path)?;
        self.read.borrow_mut().insert(path.clone(), Arc::clone(&bytes));
        Ok(bytes)
    }
}

/// The files of a tree that the layer in this folder finds.
pub(crate) fn found_by_layer(tree: MemoryTree, folder: &TreePath) -> BTreeSet<TreePath> {
    let tree = Recorded::new(tree);
    let build = Build { tree: &tree, answers: &Answers::new(), options: OPTIONS };
    // Without what it is laid over there is much that does not fit; each file is looked for all the same.
    let _ = build.run(folder);
    tree.into_read().into_keys().collect()
}
