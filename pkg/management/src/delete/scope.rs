use apply::{ApplySet, ApplySetItem};

/// The optional objects of a deletion.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct DeletionScope {
    /// True if CustomResourceDefinitions are deleted.
    pub(super) definitions: bool,
    /// True if the Namespace of the provider is deleted.
    pub(super) namespace: bool,
}

impl DeletionScope {
    /// Returns the objects of a provider to delete.
    pub(super) fn select(self, set: &ApplySet, namespace: &str) -> ApplySet {
        let items = set.items.iter().filter(|item| self.includes(item, namespace));
        ApplySet { items: items.cloned().collect() }
    }

    fn includes(self, item: &ApplySetItem, namespace: &str) -> bool {
        if item.key.is_crd() {
            self.definitions
        } else if item.key.is_namespace() {
            self.namespace && item.key.name == namespace
        } else {
            true
        }
    }
}
