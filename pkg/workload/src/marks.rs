//! Annotations by which moves, Cluster API and clusterctl know what happens to an object.

/// The annotation on what a move paused: its value is the run. Taken off when it is resumed.
pub const MARK: &str = "capstan.dev/move";
/// Source: Cluster API v1.14, clusterv1.PausedAnnotation.
pub const PAUSED: &str = "cluster.x-k8s.io/paused";
/// Source: clusterctl v1.14, clusterctlv1.DeleteForMoveAnnotation; webhooks let such deletions pass.
pub const DELETE_FOR_MOVE: &str = "clusterctl.cluster.x-k8s.io/delete-for-move";
/// Source: clusterctl v1.14, clusterctlv1.BlockMoveAnnotation; any value.
pub const BLOCK_MOVE: &str = "clusterctl.cluster.x-k8s.io/block-move";
