//! Repositories with faulty hosts, proxies, certificates, credentials and caches of earlier runs.

mod cache;
mod certificates;
mod credentials;
mod faults;
mod proxies;
