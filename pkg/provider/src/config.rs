//! `clusterctl.yaml`: the user's configuration, overridden by the environment.
//!
//! ```text
//! ConfigFile ─► tree with lower-case keys ─┐
//!                                          ├─► Config ─► providers, cert-manager, images, overrides folder, tokens, hosts, cache
//! Environment ─────────────────────────────┘          └► Variables ─► value and origin of `${NAME}`
//! ```

mod built_in;
mod cache;
mod cert_manager;
mod dotenv;
mod environment;
mod error;
mod file;
mod hosts;
mod images;
mod patches;
mod providers;
mod reader;
mod signatures;
#[cfg(test)]
mod tests;
mod text;
mod unknown_keys;
mod url;
mod variables;

pub use cache::{CacheConfig, CacheFolder};
pub use cert_manager::{CertManager, CertManagerMode};
pub use environment::Environment;
pub use error::{ConfigError, ProviderProblem};
pub use file::{ConfigFile, ConfigFormat, UndecodableConfig};
pub use images::{ArgumentImages, ImageOverrides, UnusedImageRule};
pub use providers::{ProviderConfig, UnknownProvider};
pub(crate) use reader::clean_path;
pub use reader::{Config, Setting, environment_variable};
pub use unknown_keys::UnknownKey;
pub use variables::{CommandLineValue, ResolvedVariable, Variables};
