//! Sandboxes by name: where each keeps its files, and whether it runs.
//!
//! ```text
//! $XDG_STATE_HOME/capstan/sandboxes/NAME/
//!   settings.json   what it was started with, so that the next start needs no flags
//!   identity.json   certificate authority and token; kubeconfigs stay good over stop and start
//!   kubeconfig      how to reach it
//!   lock            held by the process as long as it lives: what tells a running sandbox from a stale file
//!   process.json    who holds the lock, and where it listens
//!   log             what the process had to say
//!   data/           the objects, unless they are kept in memory or elsewhere
//!   tour            there when `quickstart` made it, and may remove it
//! ```

mod files;
mod folder;

pub(crate) use folder::{Folder, Home, Process, Settings};
