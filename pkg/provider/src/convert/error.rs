//! What is to be said about a conversion.

use std::fmt;

use manifest::ObjectRef;

/// Why objects cannot be converted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConvertError {
    /// In the order of the objects; never empty.
    pub faults: Vec<Fault>,
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

/// One field that cannot be converted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The object it is in.
    pub object: ObjectRef,
    /// The field, such as `spec.topology.workers.machineDeployments[0].class`.
    pub path: String,
    /// What is wrong with it.
    pub problem: Problem,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` of `{}` {}", self.path, self.object, self.problem)
    }
}

/// What is wrong with a field.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Problem {
    /// The group has no such kind.
    UnknownKind {
        /// The kinds that it has.
        known: Vec<String>,
    },
    /// The value is of another type than the field.
    WrongType {
        /// What the field takes, such as `a list`.
        expected: &'static str,
        /// What is there.
        found: &'static str,
    },
    /// The value is no duration as in `1h30m`.
    NotADuration {
        /// What is there.
        found: String,
    },
    /// The `apiVersion` of a reference has more than one `/`.
    NotAnApiVersion {
        /// What is there.
        found: String,
    },
    /// What becomes of the field is there already, as a field that v1beta1 does not know.
    Occupied {
        /// The field of v1beta2, from the type that holds the field.
        place: String,
    },
    /// The field lies deeper than fields are followed.
    TooDeep,
    /// The annotation with what v1beta1 cannot hold is no JSON object.
    BadConversionData,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownKind { .. } => f.write_str("is not a kind of `cluster.x-k8s.io/v1beta1`"),
            Self::WrongType { expected, found } => write!(f, "is {found}, expected {expected}"),
            Self::NotADuration { found } => write!(f, "is `{found}`, expected a duration such as `1h30m`"),
            Self::NotAnApiVersion { found } => write!(f, "is `{found}`, expected `group/version`"),
            Self::Occupied { place } => write!(f, "would set `{place}` of v1beta2 a second time"),
            Self::TooDeep => f.write_str("is nested too deep"),
            Self::BadConversionData => f.write_str("is not a JSON object"),
        }
    }
}

/// Something about a field that whoever asked for the conversion should see.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// The object the field is in.
    pub object: ObjectRef,
    /// The field in v1beta1.
    pub path: String,
    /// What became of it.
    pub kind: NoteKind,
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` of `{}` {}", self.path, self.object, self.kind)
    }
}

/// What became of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NoteKind {
    /// It is left out, because v1beta2 has no place for it.
    Dropped,
    /// It stays where it was, although v1beta1 does not know it.
    Unknown,
}

impl fmt::Display for NoteKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Dropped => "has no place in v1beta2 and is left out",
            Self::Unknown => "is not known in v1beta1 and is kept as it is",
        })
    }
}
