//! Types of Cluster API that every other crate uses, and the formats of saved plans and results.
//!
//! ```text
//! ProviderType ─┐
//!               ├─► ProviderId ─► provider label (`infrastructure-aws`): folder, label value, inventory name
//! name ─────────┘
//! ProviderRef   = name[:version], as a user types it
//! Version       = semantic version that keeps its spelling
//! Metadata      = release series ─► Contract
//! ObjectKey     = group, kind, namespace and name of an object
//! plan          = the file that `--out` writes and `--plan` reads
//! output        = the results of `-o json|yaml`: a change here is visible to users
//! ExitStatus    = every exit code, with its meaning
//! ```
//!
//! ```
//! use api::{ProviderId, ProviderRef, ProviderType, Version};
//!
//! let reference = ProviderRef::parse("aws:v2.11.1")?;
//! let provider = ProviderId::new(ProviderType::Infrastructure, reference.name);
//! assert_eq!(provider.label(), "infrastructure-aws");
//!
//! let version = Version::parse(&reference.version.unwrap())?;
//! assert!(version > Version::parse("v2.9.0")?);
//! # Ok::<_, Box<dyn std::error::Error>>(())
//! ```
//!
//! Out of scope: I/O, YAML, Kubernetes clients and decisions about objects.

mod contract;
mod dns;
mod error_causes;
mod exit;
mod explain;
mod key;
mod metadata;
mod provider_id;
mod provider_ref;
mod provider_type;
mod suggestions;
mod version;

pub mod labels;
pub mod output;
pub mod plan;

pub use contract::Contract;
pub use dns::{DnsNameError, check_dns_label, check_dns_subdomain};
pub use error_causes::{shortened, tar_error, with_causes};
pub use exit::ExitStatus;
pub use explain::{
    ErrorChain, ErrorExplanation, ErrorMember, Explain, TARGET_PLACEHOLDER, error_chain, is_plain_word,
    one_of, shell_word,
};
pub use key::{GroupKind, ObjectKey};
pub use metadata::{Metadata, ReleaseSeries};
pub use provider_id::ProviderId;
pub use provider_ref::{ProviderRef, ProviderRefError};
pub use provider_type::{ProviderType, UnknownProviderType};
pub use suggestions::similar_names;
pub use version::{Version, VersionError, VersionOrLatest};
