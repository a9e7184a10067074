//! `alpha rollout`: the list.

mod change;
mod pause;
mod restart;
mod resume;
mod status;
mod target;

use crate::{Failure, session::Session};

/// Manage rollouts of machine deployments, machine pools and control planes
///
/// A resource is TYPE/NAME. Types are machinedeployment (md), kubeadmcontrolplane (kcp), machinepool (mp), and those of the
/// control planes of other providers, as rke2controlplane.
#[derive(clap::Subcommand)]
pub(crate) enum Rollout {
    Restart(restart::Restart),
    Pause(pause::Pause),
    Resume(resume::Resume),
    Status(status::Status),
}

impl Rollout {
    pub(crate) fn run(self, session: &mut Session) -> Result<(), Failure> {
        match self {
            Self::Restart(args) => restart::run(&args, session),
            Self::Pause(args) => pause::run(&args, session),
            Self::Resume(args) => resume::run(&args, session),
            Self::Status(args) => status::run(&args, session),
        }
    }
}
