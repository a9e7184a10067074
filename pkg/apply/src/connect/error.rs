//! Why there is no connection.

/// Why there is no connection. Nothing was asked of the server yet.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// The context cannot be used.
    #[error("cannot use context `{context}` of the kubeconfig")]
    Context {
        /// Its name.
        context: String,
        /// Why.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A program that gives credentials failed.
    #[error("the credential plugin `{command}` of context `{context}` gave no credentials")]
    Plugin {
        /// Name of the context.
        context: String,
        /// The program.
        command: String,
        /// What its maker says about installing it.
        install_hint: Option<String>,
        /// Why.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// There is nobody of this name to act as.
    #[error("cannot act as `{name}`: that is not a name a request can carry")]
    Impersonation {
        /// The user or group.
        name: String,
    },
    /// The pod has no service account, or this runs in none.
    #[error("there is no service account of a pod to connect with")]
    InCluster(#[source] Box<dyn std::error::Error + Send + Sync>),
}
