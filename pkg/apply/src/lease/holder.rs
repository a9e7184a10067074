//! The run that holds a lease, and how long it does.

use std::{fmt, time::Duration};

use jiff::Timestamp;

/// A request that writes is sent at most this long after a confirmation of the lease.
pub const FRESH: Duration = Duration::from_secs(15);
/// Another run takes over this long after the last renewal.
pub const EXPIRY: Duration = Duration::from_secs(45);

/// The name of a Lease object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeaseName {
    /// Its namespace, which must exist.
    pub namespace: String,
    /// Its name.
    pub name: String,
}

/// The run that holds a lease.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LeaseHolder {
    /// Name of the machine.
    pub host: String,
    /// The process on it: its id, and after a `-` what tells it from later processes of the same id.
    pub process: String,
    /// The command, such as `upgrade apply`.
    pub verb: String,
    /// The time it acquired the lease, by the clock of the server.
    pub since: Option<Timestamp>,
}

/// As in messages: `upgrade apply` on `laptop` (process 4711, since 2026-01-01T10:00:00Z).
impl fmt::Display for LeaseHolder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { host, process, verb, since } = self;
        let id = process.split('-').next().unwrap_or_default();
        write!(f, "`{verb}` on `{host}` (process {id}")?;
        if let Some(since) = since {
            write!(f, ", since {since:.0}")?;
        }
        f.write_str(")")
    }
}
