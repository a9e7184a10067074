//! What was begun and is not finished, for people and for scripts.

use std::fmt::Write as _;

use api::output::{UnfinishedInstallation, UnfinishedProvider, UnfinishedUpgrade};
use management::JournalState;
use provider::InstalledProvider;

/// A first installation that was begun, for scripts.
pub(crate) fn unfinished_init(begun: &[InstalledProvider]) -> Vec<UnfinishedInstallation> {
    let one = |installed: &InstalledProvider| UnfinishedInstallation {
        provider: installed.id.label(),
        version: installed.version.clone(),
        namespace: installed.namespace.clone(),
    };
    begun.iter().map(one).collect()
}

/// An upgrade that was begun, for scripts.
pub(crate) fn unfinished_upgrade(journal: &JournalState) -> UnfinishedUpgrade {
    let provider = |(id, from, to, done): &(api::ProviderId, String, String, bool)| UnfinishedProvider {
        provider: id.label(),
        from: from.clone(),
        to: to.clone(),
        done: *done,
    };
    UnfinishedUpgrade {
        begun: journal.begun.clone(),
        rolling_back: journal.rolling_back,
        providers: journal.providers.iter().map(provider).collect(),
    }
}

/// A first installation, and how to go on.
pub(crate) fn init_text(begun: &[UnfinishedInstallation], program: &str) -> String {
    let mut text = "an `init` was begun and is not finished:\n".to_owned();
    for UnfinishedInstallation { provider, version, namespace } in begun {
        let _ = writeln!(text, "  {provider} {version} in {namespace}");
    }
    let _ = writeln!(text, "the command it was begun with completes it; so does `{program} init`");
    text
}

/// An upgrade, how far it is, and how to go on.
pub(crate) fn upgrade_text(upgrade: &UnfinishedUpgrade, program: &str) -> String {
    let (what, goes_on) = if upgrade.rolling_back {
        ("going back from the upgrade begun at", "goes on with that")
    } else {
        ("the upgrade begun at", "goes on")
    };
    let mut text = format!("{what} {} is not finished:\n", upgrade.begun);
    for UnfinishedProvider { provider, from, to, done } in &upgrade.providers {
        let (from, to) = if upgrade.rolling_back { (to, from) } else { (from, to) };
        // Going back takes providers from done to not done.
        let done = if *done == upgrade.rolling_back { "" } else { ", done" };
        let _ = writeln!(text, "  {provider}: {from} to {to}{done}");
    }
    let _ = write!(text, "`{program} upgrade resume` {goes_on}, ");
    if !upgrade.rolling_back {
        let _ = write!(text, "`{program} upgrade rollback` goes back, ");
    }
    let _ = writeln!(text, "`{program} upgrade abort` leaves things as they are");
    text
}
