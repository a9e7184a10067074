//! What the server does with resources: a file a verb.
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
//! A write goes the way it goes in the real server: decode, defaults, managed fields, mutating admission, what the
//! server decides itself, checks, validating admission, commit. A write that lost a race begins again from what is
//! stored by then.

pub(crate) mod admission;
pub(crate) mod answer;
mod call;
pub(crate) mod collection;
pub(crate) mod continue_token;
pub(crate) mod create;
pub(crate) mod decode;
pub(crate) mod definitions;
pub(crate) mod delete;
pub(crate) mod dispatch;
mod grace;
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
pub(crate) mod webhooks;
pub(crate) mod written;

pub(crate) use call::{Call, resource_name};
