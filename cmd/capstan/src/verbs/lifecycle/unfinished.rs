//! Unfinished runs as text and in reports for scripts.

use std::fmt::Write as _;

use api::output::{
    LeaseHolder, LeaseReport, UnfinishedInstallation, UnfinishedMove, UnfinishedProvider, UnfinishedUpgrade,
};
use apply::LeaseState;
use provider::InstalledProvider;

use crate::{events, process};

/// Converts an unfinished first installation for reports.
pub(crate) fn unfinished_init(providers: &[InstalledProvider]) -> Vec<UnfinishedInstallation> {
    let one = |installed: &InstalledProvider| UnfinishedInstallation {
        provider: installed.id.label(),
        version: installed.version.clone(),
        namespace: installed.namespace.clone(),
    };
    providers.iter().map(one).collect()
}

/// Converts a lease for reports. The lease of a process that ended on this machine counts as expired.
pub(crate) fn lease_report(lease: &LeaseState) -> LeaseReport {
    let expired = lease.is_expired || process::has_ended(&lease.holder.process);
    LeaseReport { holder: events::lease_holder(&lease.holder), expired }
}

/// Returns the text of an unfinished move, with the command that completes it.
pub(crate) fn move_text(unfinished: &UnfinishedMove) -> String {
    let UnfinishedMove { begun, phase, source, target, command } = unfinished;
    format!(
        "the move started at {begun} is unfinished ({phase}):\n  from {source}\n  to {target}\n\
         run `{command}` on the source cluster to complete it\n"
    )
}

pub(crate) fn lease_text(lease: &LeaseReport) -> String {
    let LeaseHolder { host, process, command, since } = lease.holder.clone();
    let since = since.and_then(|since| since.parse().ok());
    let holder = apply::LeaseHolder { host, process, verb: command, since };
    let state =
        if lease.expired { "stopped without releasing its lease" } else { "is writing to this cluster" };
    format!("{holder} {state}\n")
}

pub(crate) fn init_text(installations: &[UnfinishedInstallation]) -> String {
    let mut text = "an installation is unfinished:\n".to_owned();
    for UnfinishedInstallation { provider, version, namespace } in installations {
        let _ = writeln!(text, "  {provider} {version} in {namespace}");
    }
    let _ = writeln!(text, "run `capstan init` to complete it");
    text
}

/// Returns the versions of each provider in an upgrade, with a mark for finished ones.
pub(crate) fn upgrade_versions(upgrade: &UnfinishedUpgrade) -> String {
    let line = |UnfinishedProvider { provider, from, to, done }: &UnfinishedProvider| {
        let (from, to) = if upgrade.rolling_back { (to, from) } else { (from, to) };
        // A rollback changes providers from done to not done.
        let done = if *done == upgrade.rolling_back { "" } else { ", done" };
        format!("  {provider}: {from} to {to}{done}\n")
    };
    upgrade.providers.iter().map(line).collect()
}

pub(crate) fn upgrade_text(upgrade: &UnfinishedUpgrade) -> String {
    let next = if upgrade.rolling_back {
        "run `capstan upgrade resume` to complete the rollback"
    } else {
        "run `capstan upgrade resume` to complete it, or `capstan upgrade rollback` to undo it"
    };
    let versions = upgrade_versions(upgrade);
    format!(
        "{} started at {} is unfinished:\n{versions}{next}\n\
         run `capstan upgrade abort` to forget the upgrade and keep its changes\n",
        upgrade.subject(),
        upgrade.begun
    )
}
