//! Shards: the Components of one of several controllers that work at the same time.
//!
//! ```text
//! Lease of this shard ─► other Leases ─┬─ none, or all expired: delete them ─► work
//!          ▲                           └─ held: release, wait ─┐
//!          └───────────────────────────────────────────────────┘
//! ```
//!
//! Two divisions, such as `0/2` and `2/3`, would have Components in common, and so would a controller and a command that applies
//! Components. A controller therefore holds its Lease before it looks for the others. A command holds the Lease of commands
//! before it looks for controllers. At least one of two writers sees the other.

use std::{fmt, str::FromStr, time::Duration};

use apply::{
    ApiError, Event, GroupKind, Lease, LeaseEnd, LeaseError, LeaseHolder, LeaseName, LeaseRequest, ListQuery,
    Server, end_expired_lease, lease::MAX_CONFIRMATION_AGE, lease_state,
};
use component::{ComponentKey, RECONCILER};
use sha2::{Digest as _, Sha256};
use tokio::time::sleep;

use crate::ControllerEvent;

/// The limit of shards.
pub const MAX_SHARDS: u16 = 256;
/// The shortest pause before another look for other divisions.
const RETRY_EVERY: Duration = Duration::from_secs(2);

/// One part of the Components of a cluster. The default is all Components.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    index: u16,
    count: u16,
}

/// A text that names no shard.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "expected INDEX/COUNT such as `0/3`, with an index below the count, and a count of at most {MAX_SHARDS}"
)]
pub struct ShardError;

impl Default for Shard {
    fn default() -> Self {
        Self { index: 0, count: 1 }
    }
}

impl FromStr for Shard {
    type Err = ShardError;

    fn from_str(text: &str) -> Result<Self, ShardError> {
        let (index, count) = text.split_once('/').ok_or(ShardError)?;
        let number = |text: &str| text.parse::<u16>().map_err(|_| ShardError);
        let shard = Self { index: number(index)?, count: number(count)? };
        if shard.index < shard.count && shard.count <= MAX_SHARDS { Ok(shard) } else { Err(ShardError) }
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.index, self.count)
    }
}

impl Shard {
    /// Returns all shards of a division into `count` shards.
    pub fn all(count: u16) -> impl Iterator<Item = Self> {
        (0..count).map(move |index| Self { index, count })
    }

    /// The position of this shard, which is below the count.
    pub fn index(self) -> u16 {
        self.index
    }

    /// True if this shard has all Components.
    pub fn is_whole(self) -> bool {
        self.count == 1
    }

    /// True if a Component is in this shard. If the count changes from n to n + 1, one of n + 1 Components changes its
    /// shard.
    pub fn contains(self, component: &ComponentKey) -> bool {
        self.is_whole() || (0..self.count).max_by_key(|index| weight(*index, component)) == Some(self.index)
    }

    /// Returns the name of the Lease of the controllers of this shard.
    pub fn lease_name(self, namespace: &str) -> LeaseName {
        let suffix =
            if self.is_whole() { String::new() } else { format!("-{}-of-{}", self.index, self.count) };
        LeaseName { namespace: namespace.to_owned(), name: format!("{RECONCILER}{suffix}") }
    }

    /// Returns the division of the Lease of a controller: its count of shards. None for Leases of other programs.
    fn count_of(lease: &str) -> Option<u16> {
        match lease.strip_prefix(RECONCILER)? {
            "" => Some(1),
            suffix => {
                let (index, count) = suffix.strip_prefix('-')?.split_once("-of-")?;
                format!("{index}/{count}").parse().ok().map(|shard: Self| shard.count)
            }
        }
    }
}

/// Returns the weight of a shard for a Component. The shard with the highest weight has the Component.
fn weight(index: u16, component: &ComponentKey) -> [u8; 32] {
    Sha256::digest(format!("{index}/{component}")).into()
}

/// The start of the names of commands that write Components.
const COMPONENT_COMMANDS: &str = "component ";

/// Acquires the lease of a shard, once no controller of another division and no command for Components works. `commands` is
/// the Lease of commands. `waiting` receives each writer that this controller waits for.
/// # Errors
/// Errors of [`Lease::acquire`].
pub async fn acquire_shard(
    server: &Server,
    request: &LeaseRequest,
    shard: Shard,
    commands: &LeaseName,
    waiting: impl Fn(&ControllerEvent),
) -> Result<Lease, LeaseError> {
    let mut known = None;
    loop {
        let lease = Lease::acquire(server, request).await?;
        let holder = match other_writer(server, &request.name.namespace, shard, commands).await {
            Ok(None) => return Ok(lease),
            Ok(Some(holder)) => holder,
            Err(error) => {
                lease.release().await;
                return Err(error.into());
            }
        };
        lease.release().await;
        if known.as_ref() != Some(&holder) {
            waiting(&ControllerEvent::Waiting { holder: holder.to_string() });
            known = Some(holder);
        }
        // Two controllers that start at the same time must not stay in step.
        sleep(RETRY_EVERY.mul_f64(1.0 + fastrand::f64())).await;
    }
}

/// Returns a controller that works on the Components of a cluster, in any namespace. Ends expired leases, and waits until their
/// former holders write no longer.
/// # Errors
/// The failure of the server.
pub async fn working_controller(server: &Server) -> Result<Option<LeaseHolder>, ApiError> {
    controller_with_lease(server, None, |_| true).await
}

/// Returns a controller of another division, or a command that writes Components.
async fn other_writer(
    server: &Server,
    namespace: &str,
    shard: Shard,
    commands: &LeaseName,
) -> Result<Option<LeaseHolder>, ApiError> {
    let other = controller_with_lease(server, Some(namespace), |count| count != shard.count).await?;
    if other.is_some() {
        return Ok(other);
    }
    match lease_state(server, commands).await? {
        Some(state) if state.holder.verb.starts_with(COMPONENT_COMMANDS) => {
            end_expired_leases(server, [commands.clone()]).await
        }
        _ => Ok(None),
    }
}

/// Returns a controller that holds its lease and has one of the wanted counts of shards.
async fn controller_with_lease(
    server: &Server,
    namespace: Option<&str>,
    is_wanted: impl Fn(u16) -> bool,
) -> Result<Option<LeaseHolder>, ApiError> {
    let kind = server.kind(&GroupKind::new("coordination.k8s.io", "Lease")).await?;
    let list = ListQuery { namespace: namespace.map(str::to_owned), ..ListQuery::default() };
    let leases = server.list(&kind, &list).await?;
    let wanted = leases.iter().filter(|lease| Shard::count_of(lease.name()).is_some_and(&is_wanted));
    let names = wanted
        .map(|lease| LeaseName { namespace: lease.namespace().to_owned(), name: lease.name().to_owned() });
    end_expired_leases(server, names).await
}

/// Returns the holder of the first lease that has not expired. Expired leases are deleted, so that their holders cannot renew
/// them, and this waits until they write no longer.
async fn end_expired_leases(
    server: &Server,
    names: impl IntoIterator<Item = LeaseName>,
) -> Result<Option<LeaseHolder>, ApiError> {
    let (mut holder, mut has_ended) = (None, false);
    for name in names {
        match end_expired_lease(server, &name).await? {
            LeaseEnd::Free => {}
            LeaseEnd::Ended(holder) => {
                server.events().send(&Event::TookOverLease { holder });
                has_ended = true;
            }
            LeaseEnd::Held(found) => holder = holder.or(Some(found)),
        }
    }
    if has_ended {
        sleep(MAX_CONFIRMATION_AGE).await;
    }
    Ok(holder)
}

#[cfg(test)]
mod tests;
