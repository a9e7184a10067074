//! Repositories with faulty hosts, proxies, certificates, credentials and caches of earlier runs.

mod certificates;
mod credentials;
mod faults;
mod kept;
pub(crate) mod lab;
mod proxies;
