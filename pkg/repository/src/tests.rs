//! Repositories on hosts as they are: with faults, proxies, certificates and credentials, and with what was kept before.

mod certificates;
mod credentials;
mod faults;
mod kept;
pub(crate) mod lab;
mod proxies;
