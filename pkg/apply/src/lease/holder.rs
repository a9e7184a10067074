//! The run that holds a lease, and the lifetimes of leases.

use std::{fmt, time::Duration};

use jiff::Timestamp;

/// The maximum age of a confirmation when a request that writes is sent.
pub const MAX_CONFIRMATION_AGE: Duration = Duration::from_secs(15);
/// The time after the last renewal at which another run takes over.
pub const LEASE_DURATION: Duration = Duration::from_secs(45);

/// The name of a Lease object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeaseName {
    /// The namespace, which must exist.
    pub namespace: String,
    /// The name of the Lease.
    pub name: String,
}

/// The run that holds a lease.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LeaseHolder {
    /// The name of the machine.
    pub host: String,
    /// The process on the machine: its id, then `-` and a suffix that distinguishes later processes with the same id.
    pub process: String,
    /// The command, such as `upgrade apply`.
    pub verb: String,
    /// The time of acquisition, by the clock of the server.
    pub since: Option<Timestamp>,
}

/// Formats the holder for messages: `upgrade apply` on `laptop` (process 4711, since 2026-01-01T10:00:00Z).
impl fmt::Display for LeaseHolder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { host, process, verb, since } = self;
        if verb.is_empty() {
            f.write_str("another program")?;
        } else {
            write!(f, "`{verb}`")?;
        }
        write!(f, " on `{host}`")?;
        let id = process.split('-').next().filter(|id| !id.is_empty()).map(|id| format!("process {id}"));
        let since = since.map(|since| format!("since {since:.0}"));
        let details: Vec<String> = id.into_iter().chain(since).collect();
        if details.is_empty() { Ok(()) } else { write!(f, " ({})", details.join(", ")) }
    }
}
