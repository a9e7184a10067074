use schemars::JsonSchema;
use serde::Serialize;

/// One change of an object, in the terms of its kind.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ObjectChange {
    /// The part that changes.
    pub part: ChangedPart,
    /// The effect of the change.
    pub effect: ChangeEffect,
    /// The version of the CustomResourceDefinition that the part belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The name of the part: a container, a resource, a key, or the path of a field.
    pub name: String,
    /// The changed rule of a container or field, such as `--v` or `maxLength`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// The value before; absent for an addition.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// The value after; absent for a removal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
}

/// A part of an object that changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum ChangedPart {
    /// The image of a container.
    Image,
    /// An argument of a container.
    Argument,
    /// An environment variable of a container.
    Environment,
    /// The verbs that a role grants for a resource.
    Permission,
    /// A version of a CustomResourceDefinition.
    Version,
    /// A field of a CustomResourceDefinition.
    Field,
    /// A validation rule for a field of a CustomResourceDefinition.
    Validation,
    /// The default value of a field of a CustomResourceDefinition.
    Default,
    /// A printer column of a CustomResourceDefinition.
    Column,
    /// A label of the object.
    Label,
    /// An annotation of the object.
    Annotation,
    /// A description in a CustomResourceDefinition.
    Description,
}

/// The effect of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum ChangeEffect {
    /// A rule becomes stricter: valid values may become invalid.
    Tightened,
    /// The part is removed.
    Removed,
    /// The part is added.
    Added,
    /// The part has a different value.
    Changed,
    /// A rule becomes less strict.
    Loosened,
}
