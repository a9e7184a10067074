use std::time::Duration;

use api::ProviderId;
use apply::ObjectKey;
use provider::InstalledProvider;

use crate::MovePhase;

/// What happens to a management cluster. What happens to single objects are events of its server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// Releases are read.
    FetchingProviders,
    /// cert-manager is there and left alone.
    CertManagerFound,
    /// cert-manager is installed.
    InstallingCertManager {
        /// Its version.
        version: String,
    },
    /// cert-manager is to answer.
    WaitingForCertManager,
    /// It is looked whether cert-manager is to be upgraded.
    CheckingCertManager,
    /// It is not.
    CertManagerUpToDate,
    /// It is looked for newer releases of what is installed.
    CheckingReleases,
    /// An upgrade begins to write.
    PerformingUpgrade,
    /// cert-manager is replaced.
    UpgradingCertManager {
        /// What is there.
        from: String,
        /// What comes.
        to: String,
    },
    /// A provider is installed, or its new version is.
    Installing {
        /// Which one.
        provider: ProviderId,
        /// Its version.
        version: String,
        /// The namespace it goes to.
        namespace: String,
        /// Its number among the providers of the run, from 1.
        number: usize,
        /// The number of providers of the run.
        of: usize,
        /// The number of objects to write.
        objects: usize,
    },
    /// All objects of a provider are applied; they may not be ready yet.
    Applied {
        /// The provider with its version and namespace.
        installed: InstalledProvider,
        /// Its number among the providers of the run, from 1.
        number: usize,
        /// The number of providers of the run.
        of: usize,
        /// The number of objects that were applied.
        objects: usize,
        /// The time from its first to its last write.
        took: Duration,
    },
    /// A provider is deleted.
    Deleting {
        /// Which one.
        provider: ProviderId,
        /// Its version.
        version: String,
        /// Its namespace.
        namespace: String,
    },
    /// It is looked for objects of a provider's kinds.
    CheckingForObjects {
        /// Which one.
        provider: ProviderId,
        /// Its version.
        version: String,
        /// Its namespace.
        namespace: String,
    },
    /// Objects have been written and are to become ready.
    WaitingForProviders,
    /// Something was begun by an earlier run and is gone on with.
    Resuming {
        /// What, as `the upgrade begun at …`.
        what: String,
    },
    /// A move is so far.
    Moving {
        /// In this phase.
        phase: MovePhase,
        /// Objects that are done.
        done: usize,
        /// Of so many.
        of: usize,
    },
    /// A save has read so much.
    Saving {
        /// Objects that were read.
        done: usize,
        /// Of so many.
        of: usize,
    },
    /// A move waits for providers to let these objects go.
    MoveBlocked {
        /// Which ones.
        objects: Vec<ObjectKey>,
    },
    /// A move waits for controllers to say that they let these objects rest.
    MoveResting {
        /// Which ones.
        objects: Vec<ObjectKey>,
    },
    /// Something that is no error and may surprise.
    Warning {
        /// In words.
        text: String,
    },
}
