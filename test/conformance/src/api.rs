//! Cases of the Kubernetes API, written once and asked of any server.
//!
//! ```text
//! api/*.md ─► page (cases, steps) ─► run (requests, watches) ─► normal (what differs every time gets a name) ─► text
//!                                      │                                                                     │
//!                                    server (HTTPS or in process)                    compared with the page, or recorded in it
//! ```
//!
//! A page is Markdown: prose, and fenced blocks that are the steps. `api/README.md` tells how to write one.

pub mod departures;
mod normal;
mod page;
mod path;
mod request;
mod run;
mod server;

pub use page::{Action, Ask, Case, Page, PageError, Step, Until};
pub use path::Cut;
pub use run::{Broken, Difference, Report, compare, record};
pub use server::{Https, InProcess, Reply, Server, ServerError};
