//! What happens on a management cluster, told on stderr while it happens.
//!
//! ```text
//! apply::Event, ProgressEvent ─┬─► words: the peer's log lines, retries, warnings
//!                              ├─► waiting: what is waited for, drawn on a terminal, or in lines once it has lasted
//!                              ├─► json: events of servers as progress events, one object a line, with `--progress json`
//!                              └─► Writes: how much has been done when it ends early
//! ```

mod api_warnings;
mod cluster_events;
mod json;
mod waiting;
mod words;
mod writes;

pub(crate) use api_warnings::ApiWarnings;
pub(crate) use cluster_events::{ClusterEvents, ProgressFormat};
pub(crate) use json::lease_holder;
pub(crate) use writes::Writes;
