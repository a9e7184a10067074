//! Test cases for the Kubernetes API that run against any server.
//!
//! ```text
//! api/*.md ─► page (cases, steps) ─► run (requests, watches) ─► normal (varying values become names) ─► text
//!                                      │                                                                     │
//!                                    server (HTTPS or in process)                    compared with the page, or recorded in it
//! ```
//!
//! A page is Markdown: prose, and fenced blocks for the steps. `api/README.md` describes the format.

pub mod known_differences;
mod page;
mod path;
mod placeholders;
mod request;
mod run;
mod server;

pub use page::{Action, Case, Page, PageError, RequestTemplate, Step, WaitCondition};
pub use path::BodyFilter;
pub use run::{CaseFailure, Difference, Report, compare, record};
pub use server::{Https, InProcess, Reply, Server, ServerError};
