//! The reaction to the answer of a write. Pure.

use crate::{ApiError, ObjectKey, plan::may_be_recreated};

/// The next step after a failed write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ErrorReaction {
    /// The object differs from the expected one: read it and decide again.
    Reread,
    /// The object must be deleted and created again.
    Recreate,
    /// The error is final.
    GiveUp,
}

/// The type of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WriteOperation {
    /// A write that creates the object.
    Create,
    /// A write that changes the object.
    Update,
}

impl ErrorReaction {
    pub(super) fn after(error: &ApiError, write: WriteOperation, key: &ObjectKey) -> Self {
        let lost = write == WriteOperation::Update && error.is_not_found();
        if lost || error.is_conflict() || error.is_already_exists() {
            Self::Reread
        } else if write == WriteOperation::Update
            && may_be_recreated(&key.group, &key.kind)
            && is_immutable(error)
        {
            Self::Recreate
        } else {
            Self::GiveUp
        }
    }
}

/// Texts of refusals because a field cannot be changed.
/// Source: Kubernetes 1.36, apimachinery/pkg/api/validation, pkg/apis/core, apps, rbac, scheduling and storage
/// validation.
const IMMUTABLE_MESSAGES: [&str; 5] = [
    "field is immutable",
    "cannot change roleRef",
    "may not change once set",
    // PriorityClass.
    "may not be changed in an update",
    // StatefulSet, and StorageClass before 1.36.
    "updates to ",
];

fn is_immutable(error: &ApiError) -> bool {
    let ApiError::Status { code: 422, message, causes, .. } = error else { return false };
    let says = |text: &str| IMMUTABLE_MESSAGES.iter().any(|words| text.contains(words));
    // An object with other problems as well is not deleted: the existing object is better than none.
    if causes.is_empty() { says(message) } else { causes.iter().all(|cause| says(&cause.message)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::StatusCause;

    fn refusal(code: u16, reason: &str, causes: &[&str]) -> ApiError {
        let cause = |message: &&str| StatusCause { field: "spec".to_owned(), message: (*message).to_owned() };
        ApiError::Status {
            action: "apply Deployment ns/name".to_owned(),
            code,
            reason: reason.to_owned(),
            message: causes.join(", "),
            causes: causes.iter().map(cause).collect(),
            retry_after: None,
        }
    }

    fn key(group: &str, kind: &str) -> ObjectKey {
        ObjectKey { group: group.to_owned(), kind: kind.to_owned(), ..ObjectKey::default() }
    }

    #[test]
    fn an_unexpected_object_is_read_again() {
        let deployment = key("apps", "Deployment");
        for (code, reason, write, next) in [
            (409, "Conflict", WriteOperation::Create, ErrorReaction::Reread),
            (409, "AlreadyExists", WriteOperation::Create, ErrorReaction::Reread),
            (409, "Conflict", WriteOperation::Update, ErrorReaction::Reread),
            (404, "NotFound", WriteOperation::Update, ErrorReaction::Reread),
            // The namespace or the kind does not exist.
            (404, "NotFound", WriteOperation::Create, ErrorReaction::GiveUp),
            (403, "Forbidden", WriteOperation::Update, ErrorReaction::GiveUp),
        ] {
            assert_eq!(
                ErrorReaction::after(&refusal(code, reason, &[]), write, &deployment),
                next,
                "{code} {write:?}"
            );
        }
    }

    #[test]
    fn only_objects_without_data_are_recreated_for_immutable_fields() {
        let immutable = &["Invalid value: {}: field is immutable"];
        for (group, kind, next) in [
            ("apps", "Deployment", ErrorReaction::Recreate),
            ("rbac.authorization.k8s.io", "RoleBinding", ErrorReaction::Recreate),
            ("", "Service", ErrorReaction::Recreate),
            ("", "ConfigMap", ErrorReaction::Recreate),
            ("", "Secret", ErrorReaction::Recreate),
            ("storage.k8s.io", "StorageClass", ErrorReaction::Recreate),
            ("scheduling.k8s.io", "PriorityClass", ErrorReaction::Recreate),
            ("networking.k8s.io", "IngressClass", ErrorReaction::Recreate),
            ("node.k8s.io", "RuntimeClass", ErrorReaction::Recreate),
            ("apiextensions.k8s.io", "CustomResourceDefinition", ErrorReaction::GiveUp),
            ("", "Namespace", ErrorReaction::GiveUp),
            ("", "PersistentVolumeClaim", ErrorReaction::GiveUp),
            ("example.org", "Deployment", ErrorReaction::GiveUp),
        ] {
            let error = refusal(422, "Invalid", immutable);
            assert_eq!(
                ErrorReaction::after(&error, WriteOperation::Update, &key(group, kind)),
                next,
                "{kind}"
            );
        }
    }

    #[test]
    fn immutable_fields_are_recognised_for_every_kind() {
        for (group, kind, message, next) in [
            (
                "storage.k8s.io",
                "StorageClass",
                "updates to parameters are forbidden.",
                ErrorReaction::Recreate,
            ),
            (
                "scheduling.k8s.io",
                "PriorityClass",
                "may not be changed in an update.",
                ErrorReaction::Recreate,
            ),
            (
                "apps",
                "StatefulSet",
                "updates to statefulset spec for fields other than",
                ErrorReaction::Recreate,
            ),
            (
                "storage.k8s.io",
                "StorageClass",
                "must contain at least one key/value pair",
                ErrorReaction::GiveUp,
            ),
        ] {
            let error = refusal(422, "Invalid", &[message]);
            assert_eq!(
                ErrorReaction::after(&error, WriteOperation::Update, &key(group, kind)),
                next,
                "{kind}: {message}"
            );
        }
    }

    #[test]
    fn an_object_with_other_errors_is_not_recreated() {
        let error = refusal(422, "Invalid", &["field is immutable", "must be at least 0"]);
        assert_eq!(
            ErrorReaction::after(&error, WriteOperation::Update, &key("apps", "Deployment")),
            ErrorReaction::GiveUp
        );
        let making = refusal(422, "Invalid", &["field is immutable"]);
        assert_eq!(
            ErrorReaction::after(&making, WriteOperation::Create, &key("apps", "Deployment")),
            ErrorReaction::GiveUp
        );
    }
}
