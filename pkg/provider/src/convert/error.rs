//! Errors and notes of a conversion.

use std::fmt;

use manifest::ObjectRef;

/// A failed conversion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConvertError {
    /// The faults, in the order of the objects. Never empty.
    pub faults: Vec<ConversionFault>,
}

impl std::error::Error for ConvertError {}

impl fmt::Display for ConvertError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, fault) in self.faults.iter().enumerate() {
            let before = if index == 0 { "" } else { "; " };
            write!(f, "{before}{fault}")?;
        }
        Ok(())
    }
}

/// A field that cannot be converted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConversionFault {
    /// The object that contains the field.
    pub object: ObjectRef,
    /// The path of the field, such as `spec.topology.workers.machineDeployments[0].class`.
    pub path: String,
    /// The reason why the field cannot be converted.
    pub problem: ConversionProblem,
}

impl fmt::Display for ConversionFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` of `{}` {}", self.path, self.object, self.problem)
    }
}

/// The reason why a field cannot be converted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConversionProblem {
    /// The group has no such kind.
    UnknownKind {
        /// The kinds of the group.
        known: Vec<String>,
    },
    /// The value has the wrong type.
    WrongType {
        /// The expected type, such as `a list`.
        expected: &'static str,
        /// The actual type.
        found: &'static str,
    },
    /// The value is not a duration such as `1h30m`.
    NotADuration {
        /// The value.
        found: String,
    },
    /// The `apiVersion` of a reference has more than one `/`.
    NotAnApiVersion {
        /// The value.
        found: String,
    },
    /// The target field exists already in the object, although v1beta1 has no such field.
    AlreadySet {
        /// The v1beta2 field, relative to the type that contains it.
        path: String,
    },
    /// The field is nested too deeply.
    TooDeep,
    /// The conversion annotation, which preserves v1beta2 data in v1beta1 objects, is not a JSON object.
    BadConversionData,
}

impl fmt::Display for ConversionProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownKind { .. } => f.write_str("is not a kind of `cluster.x-k8s.io/v1beta1`"),
            Self::WrongType { expected, found } => write!(f, "is {found}, expected {expected}"),
            Self::NotADuration { found } => write!(f, "is `{found}`, expected a duration such as `1h30m`"),
            Self::NotAnApiVersion { found } => write!(f, "is `{found}`, expected `group/version`"),
            Self::AlreadySet { path: place } => write!(f, "would set `{place}` of v1beta2 a second time"),
            Self::TooDeep => f.write_str("is nested too deeply"),
            Self::BadConversionData => f.write_str("is not a JSON object"),
        }
    }
}

/// A message about a field for the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConversionNote {
    /// The object that contains the field.
    pub object: ObjectRef,
    /// The path of the field in v1beta1.
    pub path: String,
    /// The treatment of the field.
    pub kind: ConversionNoteKind,
}

impl fmt::Display for ConversionNote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` of `{}` {}", self.path, self.object, self.kind)
    }
}

/// The treatment of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ConversionNoteKind {
    /// The field was dropped, because v1beta2 has no such field.
    Dropped,
    /// The field was kept in place, although v1beta1 has no such field.
    Unknown,
}

impl fmt::Display for ConversionNoteKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Dropped => "has no equivalent in v1beta2 and is dropped",
            Self::Unknown => "is unknown in v1beta1 and is kept unchanged",
        })
    }
}
