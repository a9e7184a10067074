use provider::ManagementCluster;

use crate::Failure;

/// The management cluster of the kubeconfig, for what only it knows.
/// # Errors
/// Always, in this version: says what it was needed for.
pub(crate) fn management_cluster(needed_for: &str) -> Result<Box<dyn ManagementCluster>, Failure> {
    Err(Failure::user(format!(
        "{needed_for} needs a management cluster, and this version does not talk to one yet"
    )))
}
