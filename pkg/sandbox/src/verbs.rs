//! The verbs of resources, one per file.
//!
//! ```text
//! HTTP ─► request ─┐                  ┌► read: get, list      continue_token
//!                  ├─► Call ─► answer ┼► watch
//! controllers ─► client ─┘            ├► create ─┐
//!                                     ├► update ─┼► admission ─► kind: defaults, checks ─► object ─► store
//!                                     ├► patch ──┘
//!                                     └► delete, collection; scale, pods, reviews, tokens
//! ```
//!
//! A write follows the order of the real server: decoding, defaults, managed fields, mutating admission, server-set
//! fields, validation, validating admission, commit. After a conflict, the write restarts from the stored object.

pub(crate) mod admission;
pub(crate) mod call;
pub(crate) mod create;
pub(crate) mod decode;
pub(crate) mod definitions;
pub(crate) mod delete;
pub(crate) mod dispatch;
pub(crate) mod kind;
pub(crate) mod managed;
pub(crate) mod object;
pub(crate) mod patch;
pub(crate) mod pods;
pub(crate) mod read;
pub(crate) mod reviews;
pub(crate) mod scale;
pub(crate) mod update;
pub(crate) mod watch;

pub(crate) use call::{Call, resource_name};
