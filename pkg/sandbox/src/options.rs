//! What a sandbox is started with.

use std::path::PathBuf;

use crate::{admission::ServiceWebhooks, controllers::Switches, faults::Fault, store::DEFAULT_HISTORY};

/// What a sandbox is started with.
#[derive(Clone, Debug)]
pub struct Options {
    /// Where its objects are kept; `None` keeps them in memory alone.
    pub data_dir: Option<PathBuf>,
    /// The number of this process, told to others that want the same data directory.
    pub process: Option<u32>,
    /// How many changes it remembers: a watch or a list that wants to go further back is answered with 410.
    pub history: usize,
    /// How many requests the audit log keeps.
    pub audited: usize,
    /// Which controllers are played.
    pub controllers: Switches,
    /// What becomes of admission webhooks behind a service.
    pub service_webhooks: ServiceWebhooks,
    /// Trouble from the start.
    pub faults: Vec<Fault>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            data_dir: None,
            process: None,
            history: DEFAULT_HISTORY,
            audited: 100_000,
            controllers: Switches::default(),
            service_webhooks: ServiceWebhooks::default(),
            faults: Vec::new(),
        }
    }
}
