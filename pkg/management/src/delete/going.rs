use apply::{ApplySet, Item};

/// What goes beside what always does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Going {
    /// CustomResourceDefinitions.
    pub(super) definitions: bool,
    /// The Namespace of the provider.
    pub(super) namespace: bool,
}

impl Going {
    /// The objects of a provider that go.
    pub(super) fn of(self, set: &ApplySet, namespace: &str) -> ApplySet {
        let items = set.items.iter().filter(|item| self.takes(item, namespace));
        ApplySet { items: items.cloned().collect() }
    }

    fn takes(self, item: &Item, namespace: &str) -> bool {
        if item.key.is("apiextensions.k8s.io", "CustomResourceDefinition") {
            self.definitions
        } else if item.key.is("", "Namespace") {
            self.namespace && item.key.name == namespace
        } else {
            true
        }
    }
}
