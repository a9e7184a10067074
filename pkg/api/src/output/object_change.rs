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
    /// The version of a definition that the part belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The name of the part: a container, a resource, a key, or the path of a field.
    pub name: String,
    /// The rule of a container or field that changes, such as `--v` or `maxLength`.
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
    /// The verbs that a role allows for a resource.
    Permission,
    /// A version of a definition.
    Version,
    /// A field of a definition.
    Field,
    /// A rule for the values of a field of a definition.
    Validation,
    /// The default of a field of a definition.
    Default,
    /// A column that tables of a kind show.
    Column,
    /// A label of the object.
    Label,
    /// An annotation of the object.
    Annotation,
    /// A description in a definition.
    Description,
}

/// The effect of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum ChangeEffect {
    /// A rule becomes stricter: valid values may become invalid.
    Tightened,
    /// The part goes.
    Removed,
    /// The part comes.
    Added,
    /// The part has another value.
    Changed,
    /// A rule becomes less strict.
    Loosened,
}
