//! Who set which field, step by step of what makes objects of the files of a provider.

use std::sync::Arc;

use manifest::{
    Object,
    provenance::{Setter, Trace},
};

/// What a step is called where its settings stand in the configuration of the user.
pub const CONFIGURATION: &str = "configuration";
/// Fields as the Go types of Kubernetes write them, which is how the peer prints objects.
pub(crate) const TYPED: &str = "form of the kind";

/// The namespace everything of a provider or cluster goes to.
pub(crate) const TARGET_NAMESPACE: &str = "target namespace";

/// Accounts, where that is kept, for what a step changed; objects that are new were made by it.
pub fn account<'a>(trace: Trace, file: &str, field: &str, objects: impl IntoIterator<Item = &'a mut Object>) {
    if trace == Trace::Off {
        return;
    }
    let setter = Arc::new(Setter { file: file.to_owned(), field: field.to_owned(), ..Setter::default() });
    for object in objects {
        if object.provenance().is_some() {
            object.set_by(&setter);
        } else {
            object.trace(&setter);
        }
    }
}
