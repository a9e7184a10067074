use schemars::JsonSchema;
use serde::Serialize;

use crate::ExitStatus;

/// The error that ends a run, on standard error: with `-o json` in one line, with `-o yaml` as YAML, and with
/// `--progress json` as the last line, which has `event` too.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ErrorReport {
    /// The kind of error. Kinds keep their names; the words of an error may change.
    pub kind: ErrorKind,
    /// The exit code.
    pub exit_code: u8,
    /// The step that failed.
    pub message: String,
    /// The reasons, outermost first.
    pub causes: Vec<String>,
    /// The usage of the verb, if the number of arguments is wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<String>,
    /// Ways to solve it; commands are between backticks.
    pub hints: Vec<String>,
}

/// The kind of an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum ErrorKind {
    /// Something typed or configured is wrong.
    User,
    /// Files, the network, a server or a missing permission.
    Environment,
    /// Something exists already, another run is at work, or the input has changed.
    Conflict,
    /// Everything was done, and the result is not healthy.
    Unhealthy,
    /// A defect of capstan.
    Bug,
    /// Ctrl-C.
    Interrupted,
}

impl ErrorKind {
    /// Returns the exit status of a run that ends with such an error.
    pub fn exit_status(self) -> ExitStatus {
        match self {
            Self::User | Self::Environment | Self::Conflict => ExitStatus::Failure,
            Self::Unhealthy => ExitStatus::Unhealthy,
            Self::Bug => ExitStatus::Bug,
            Self::Interrupted => ExitStatus::Interrupted,
        }
    }
}
