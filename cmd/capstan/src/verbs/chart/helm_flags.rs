/// Flags of helm without effect on a chart, for scripts. Certificates are always checked.
#[derive(clap::Args)]
pub(super) struct HelmFlags {
    #[arg(long, hide = true, aliases = ["insecure-skip-tls-verify", "kube-insecure-skip-tls-verify"])]
    debug: bool,
    #[arg(long, hide = true, aliases = ["burst-limit", "keyring", "repository-cache", "repository-config"])]
    qps: Option<String>,
    /// A part of the connection to a cluster that capstan takes only from a kubeconfig.
    #[arg(
        long,
        hide = true,
        aliases = ["kube-apiserver", "kube-as-group", "kube-as-user", "kube-ca-file", "kube-tls-server-name"]
    )]
    pub(super) kube_token: Option<String>,
}
