/// Every exit status of the binary.
///
/// Scripts written for clusterctl know 0 and 1, so every failure of a clusterctl command is 1. The other
/// codes belong to commands and flags that clusterctl does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum ExitStatus {
    /// The command succeeded.
    Success = 0,
    /// The command failed; stderr shows the failed step, the reason and the next step.
    Failure = 1,
    /// The inspected objects are unhealthy.
    Unhealthy = 3,
    /// A defect of capstan itself; the user cannot fix it.
    Bug = 70,
    /// Interrupted by Ctrl-C.
    Interrupted = 130,
    /// Interrupted by SIGTERM.
    Terminated = 143,
}

impl ExitStatus {
    /// All codes with their meaning, for the reference pages.
    pub const TABLE: [(ExitStatus, &'static str); 6] = [
        (ExitStatus::Success, "the command succeeded"),
        (
            ExitStatus::Failure,
            "the command failed; stderr shows the failed step, the reason and the next step",
        ),
        (ExitStatus::Unhealthy, "the inspected objects are unhealthy"),
        (ExitStatus::Bug, "a bug in capstan"),
        (ExitStatus::Interrupted, "interrupted by Ctrl-C"),
        (ExitStatus::Terminated, "interrupted by SIGTERM, in the same way as by Ctrl-C"),
    ];

    /// Returns the number that the shell sees.
    pub fn code(self) -> u8 {
        self as u8
    }
}
