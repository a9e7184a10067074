//! Logins at the API: tokens of an identity provider by OpenID Connect, and their cache.
//!
//! ```text
//! cached token ─► still valid ─► used
//!             └─► refresh token ─► provider ─┬─► tokens ─► cache
//!   link for the browser ─► code ─► provider ┘
//! ```
//!
//! Source: Commodore 1.35 login.py and tokencache.py; RFC 6749, RFC 7636 and RFC 8252.
//! Differs: each login has a state and a code challenge; endpoints without encryption are refused.

mod cache;
mod error;
mod provider;
mod tokens;

pub use cache::TokenCache;
pub use error::LoginError;
pub use provider::{LoginRequest, OidcClient, Provider};
pub use tokens::Tokens;
