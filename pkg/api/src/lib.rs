//! Types of Cluster API that every other crate uses, and the formats of saved plans and results.
//!
//! ```text
//! ProviderType ─┐
//!               ├─► ProviderId ─► provider label (`infrastructure-aws`): folder, label value, inventory name
//! name ─────────┘
//! ProviderRef   = name[:version], as a user types it
//! Version       = semantic version that keeps its spelling
//! Metadata      = release series ─► Contract
//! plan          = the file that `--out` writes and `--plan` reads
//! output        = the results of `-o json|yaml`: a change here is visible to users
//! ExitStatus    = every exit code, with its meaning
//! ```
//!
//! Out of scope: I/O, YAML, Kubernetes clients and decisions about objects.

mod causes;
mod contract;
mod dns;
mod exit;
mod explain;
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
pub use explain::{
    Explain, Explained, Explanation, Member, TARGET, explained, is_plain_word, one_of, shell_word,
};
pub use metadata::{Metadata, ReleaseSeries};
pub use near::near_names;
pub use provider_id::ProviderId;
pub use provider_ref::{InvalidProviderRef, ProviderRef};
pub use provider_type::{ProviderType, UnknownProviderType};
pub use version::{InvalidVersion, Version, VersionOrLatest};
