//! The server: the state that requests share, and the entry point of requests.
//!
//! ```text
//! tower service ─► service: route, admit, answer ─┬► verbs      (resources)
//!                                                 └► documents  (discovery, OpenAPI, version, health)
//! Server: store, kinds ◄── definitions (custom resources come and go)
//! ```

pub(crate) mod bootstrap;
mod documents;
mod fault_injection;
mod service;
mod shared;
mod start;
#[cfg(test)]
mod tests;

pub use self::start::{Sandbox, StartError};
pub(crate) use self::{
    bootstrap::api_service,
    fault_injection::forbidden,
    service::audit_entry,
    shared::{CLEANUP, DefinitionOrigin, ServedDefinition, Server},
};
