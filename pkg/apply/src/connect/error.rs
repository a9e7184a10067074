//! Errors of connections.

/// An error before the first request to the server.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum ConnectError {
    /// The context cannot be used.
    #[error("cannot use context `{context}` of the kubeconfig")]
    Context {
        context: String,
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A credential plugin failed.
    #[error("the credential plugin `{command}` of context `{context}` gave no credentials")]
    Plugin {
        context: String,
        command: String,
        install_hint: Option<String>,
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The user or group to act as has an invalid name.
    #[error("cannot act as `{name}`: that is not a name a request can carry")]
    Impersonation { name: String },
    /// The pod has no service account, or this process does not run in a pod.
    #[error("there is no service account of a pod to connect with")]
    InCluster(#[source] Box<dyn std::error::Error + Send + Sync>),
}
