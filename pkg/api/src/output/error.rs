use schemars::JsonSchema;
use serde::Serialize;

use crate::ExitStatus;

/// The error that ends a run, on standard error.
///
/// `-o json` prints one line, and `-o yaml` prints YAML. `--progress json` prints the error as the last line,
/// with the additional field `event`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ErrorReport {
    /// The kind of error. Kinds never change; messages may change.
    pub kind: ErrorKind,
    /// The exit code.
    pub exit_code: u8,
    /// The step that failed.
    pub message: String,
    /// The reasons, outermost first.
    pub causes: Vec<String>,
    /// The usage of the command, if the number of arguments is wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<String>,
    /// Possible solutions; commands are in backticks.
    pub hints: Vec<String>,
}

/// The kind of an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum ErrorKind {
    /// An error in the command line or the configuration.
    User,
    /// An error of files, the network or a server, or a missing permission.
    Environment,
    /// An object or file already exists, another run is active, or the input has changed.
    Conflict,
    /// The run is complete, but the result is not healthy.
    Unhealthy,
    /// A defect of capstan.
    Bug,
    /// The run was interrupted by Ctrl-C.
    Interrupted,
}

impl ErrorKind {
    /// Returns the exit status of a run that ends with this kind of error.
    pub fn exit_status(self) -> ExitStatus {
        match self {
            Self::User | Self::Environment | Self::Conflict => ExitStatus::Failure,
            Self::Unhealthy => ExitStatus::Unhealthy,
            Self::Bug => ExitStatus::Bug,
            Self::Interrupted => ExitStatus::Interrupted,
        }
    }
}
