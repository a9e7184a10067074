//! Shows the events of a management cluster on stderr.
//!
//! ```text
//! apply::Event, ProgressEvent ─┬─► words: log lines of clusterctl, retries, warnings
//!                              ├─► waiting: blockers, drawn on a terminal, or as lines after some time
//!                              ├─► json: events of servers as progress events, one per line, with `--progress json`
//!                              └─► Writes: the number of finished writes, for interrupted runs
//! ```

mod api_warnings;
mod cluster_events;
mod event_text;
mod json;
mod wait_log;
mod writes;

pub(crate) use api_warnings::ApiWarnings;
pub(crate) use cluster_events::{ClusterEvents, ProgressFormat};
pub(crate) use json::lease_holder;
pub(crate) use writes::Writes;
