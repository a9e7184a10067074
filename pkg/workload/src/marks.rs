//! Annotations with which moves, Cluster API and clusterctl mark objects.

/// The annotation of objects that a move paused, with the run as value. It is removed when the object is resumed.
pub const MOVE_MARK: &str = "capstan.dev/move";
/// The annotation that pauses an object.
/// Source: Cluster API v1.14, clusterv1.PausedAnnotation.
pub const PAUSED_ANNOTATION: &str = "cluster.x-k8s.io/paused";
/// The annotation of objects that a move is about to delete.
/// Source: clusterctl v1.14, clusterctlv1.DeleteForMoveAnnotation; webhooks let such deletions pass.
pub const DELETE_FOR_MOVE: &str = "clusterctl.cluster.x-k8s.io/delete-for-move";
/// The annotation of objects that block moves.
/// Source: clusterctl v1.14, clusterctlv1.BlockMoveAnnotation; any value.
pub const BLOCK_MOVE: &str = "clusterctl.cluster.x-k8s.io/block-move";
