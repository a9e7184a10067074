//! Labels and annotations of the clusterctl contract. Objects on clusters carry them, so they never change.

/// Label on every object of a provider; the value is the provider label.
pub const PROVIDER: &str = "cluster.x-k8s.io/provider";
/// Label on every object installed by clusterctl or capstan; the value is empty.
pub const CLUSTERCTL: &str = "clusterctl.cluster.x-k8s.io";
