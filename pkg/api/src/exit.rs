/// Every exit status of the binary.
///
/// Scripts written for clusterctl know 0 and 1, so every failure of a peer verb is 1; the finer codes belong to
/// verbs and flags the peer does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum ExitStatus {
    /// All that was asked was done.
    Success = 0,
    /// Something was not done; stderr says what, why and what to do next.
    Failure = 1,
    /// What was looked at is not well; only on request.
    Unhealthy = 3,
    /// A defect of capstan itself: nothing the user can mend.
    Bug = 70,
    /// Ended by Ctrl-C.
    Interrupted = 130,
}

impl ExitStatus {
    /// All codes with their meaning, for the reference pages.
    pub const TABLE: [(ExitStatus, &'static str); 5] = [
        (ExitStatus::Success, "all that was asked was done"),
        (ExitStatus::Failure, "something was not done; stderr says what, why and what to do next"),
        (ExitStatus::Unhealthy, "what was looked at is not well; only where `--exit-status` asks for it"),
        (ExitStatus::Bug, "a defect of capstan itself"),
        (ExitStatus::Interrupted, "ended by Ctrl-C"),
    ];

    /// The number the shell sees.
    pub fn code(self) -> u8 {
        self as u8
    }
}
