//! The proof that a run holds a lease: the time of the last confirmation, and the loss of the lease.

use std::{
    sync::{Mutex, OnceLock, PoisonError},
    time::{Duration, SystemTime},
};

use tokio::time::Instant;

use super::LeaseHolder;
use crate::ApiError;

/// A moment by both clocks of this machine. Only the wall clock runs while the machine is suspended.
#[derive(Clone, Copy, Debug)]
pub struct ClockReading {
    monotonic: Instant,
    wall: SystemTime,
}

impl ClockReading {
    /// Reads both clocks.
    pub fn now(wall_clock: fn() -> SystemTime) -> Self {
        Self { monotonic: Instant::now(), wall: wall_clock() }
    }

    /// Returns the time since then: the longer one of both clocks. None if the wall clock was set back.
    pub fn age(self, wall_clock: fn() -> SystemTime) -> Option<Duration> {
        let wall = wall_clock().duration_since(self.wall).ok()?;
        Some(wall.max(self.monotonic.elapsed()))
    }
}

/// A proof that senders of requests and their connections share.
#[derive(Debug)]
pub(crate) struct LeaseConfirmation {
    wall_clock: fn() -> SystemTime,
    confirmed: Mutex<ClockReading>,
    /// The permanent loss of the lease, with the new holder if known.
    lost_to: OnceLock<Option<LeaseHolder>>,
}

impl LeaseConfirmation {
    pub(super) fn new(wall_clock: fn() -> SystemTime, confirmed: ClockReading) -> Self {
        Self { wall_clock, confirmed: Mutex::new(confirmed), lost_to: OnceLock::new() }
    }

    pub(super) fn now(&self) -> ClockReading {
        ClockReading::now(self.wall_clock)
    }

    pub(super) fn confirm(&self, at: ClockReading) {
        *self.confirmed.lock().unwrap_or_else(PoisonError::into_inner) = at;
    }

    /// True if the lease was confirmed within a span of time, and is not lost.
    pub(crate) fn is_confirmed_within(&self, span: Duration) -> bool {
        let confirmed = *self.confirmed.lock().unwrap_or_else(PoisonError::into_inner);
        self.lost_to.get().is_none() && confirmed.age(self.wall_clock).is_some_and(|age| age < span)
    }

    /// Notes the permanent loss of the lease. Returns the error for all later requests.
    pub(super) fn mark_lost(&self, to: Option<LeaseHolder>) -> ApiError {
        lease_lost(self.lost_to.get_or_init(|| to).as_ref())
    }

    /// Returns the error of every request that writes, once the lease is lost.
    pub(super) fn loss_error(&self) -> Option<ApiError> {
        self.lost_to.get().map(|holder| lease_lost(holder.as_ref()))
    }
}

fn lease_lost(holder: Option<&LeaseHolder>) -> ApiError {
    ApiError::LeaseLost { holder: holder.cloned().map(Box::new) }
}
