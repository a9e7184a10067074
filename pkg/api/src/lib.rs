//! The words of Cluster API that every other crate speaks, and every format that leaves the process.
//!
//! ```text
//! ProviderType ─┐
//!               ├─► ProviderId ─► provider label (`infrastructure-aws`): folder, label value, inventory name
//! name ─────────┘
//! ProviderRef   = name[:version], what a user types
//! Version       = semantic version that remembers how it was written
//! Metadata      = release series ─► Contract
//! plan          = what `--out` writes and `--plan` takes
//! output        = what `-o json|yaml` prints: a change here is a change users see
//! ExitStatus    = every exit code, with its meaning
//! ```
//!
//! Deliberately absent: I/O, YAML, Kubernetes clients, anything that decides about objects.

mod causes;
mod contract;
mod dns;
mod exit;
mod metadata;
mod near;
mod provider_id;
mod provider_ref;
mod provider_type;
mod version;

pub mod labels;
pub mod output;
pub mod plan;

pub use causes::with_causes;
pub use contract::Contract;
pub use dns::{InvalidDnsName, check_dns_label, check_dns_subdomain};
pub use exit::ExitStatus;
pub use metadata::{Metadata, ReleaseSeries};
pub use near::near_names;
pub use provider_id::ProviderId;
pub use provider_ref::{InvalidProviderRef, ProviderRef};
pub use provider_type::{ProviderType, UnknownProviderType};
pub use version::{InvalidVersion, Version, VersionOrLatest};
