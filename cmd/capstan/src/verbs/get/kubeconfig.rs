use std::{ffi::OsString, path::Path, time::Duration};

use workload::{KubeconfigRequest, KubeconfigUser};

use crate::{
    Failure, WithContext as _,
    session::Session,
    settings::{self, ServerFlags, UnsafeFields, WorkloadContext},
    suggested_commands::quoted,
    verbs::lifecycle::parse_duration,
};

/// Print the kubeconfig of a workload cluster
///
/// Prints the kubeconfig that the control plane provider stored on the management cluster. `--merge` adds it to a kubeconfig
/// instead and prints its context name. The current context and the entries of other contexts stay unchanged.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  {bin} get kubeconfig demo > demo.kubeconfig
  {bin} get kubeconfig demo -n team --wait
  kubectl --context $({bin} get kubeconfig demo --merge) get nodes")]
pub(crate) struct Kubeconfig {
    /// Workload cluster name
    #[arg(id = "workload_cluster", value_name = "NAME", required = true)]
    name: String,

    /// Namespace of the workload cluster [default: the namespace of the context]
    #[arg(short, long, value_name = "NAMESPACE")]
    namespace: Option<String>,

    /// Use the user kubeconfig of a managed control plane, with a cloud login
    #[arg(long)]
    user: bool,

    /// Wait until the kubeconfig exists
    #[arg(long)]
    wait: bool,

    /// Maximum time to wait [default: 15m]
    #[arg(long, value_name = "DURATION", requires = "wait")]
    timeout: Option<String>,

    /// Add it to a kubeconfig instead [default file: $KUBECONFIG, else ~/.kube/config]
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    merge: Option<OsString>,

    /// Name of the merged context [default: the original name]
    #[arg(long, value_name = "NAME", requires = "merge")]
    context_name: Option<String>,

    /// Also merge fields that run commands, read files, or change the proxy or TLS trust
    #[arg(long, requires = "merge")]
    allow_unsafe_fields: bool,

    #[command(flatten)]
    server: ServerFlags,
}

/// Some clouds need ten minutes to create machines.
const DEFAULT_WAIT: Duration = Duration::from_mins(15);

pub(crate) fn run(args: &Kubeconfig, session: &mut Session) -> Result<(), Failure> {
    let wait = match (args.wait, args.timeout.as_deref()) {
        (false, _) => None,
        (true, None) => Some(DEFAULT_WAIT),
        (true, Some(timeout)) => Some(parse_duration(timeout)?),
    };
    let request = KubeconfigRequest {
        namespace: args.server.kube.namespace(args.namespace.as_deref(), session.environment())?,
        cluster: args.name.clone(),
        credentials: if args.user { KubeconfigUser::User } else { KubeconfigUser::Admin },
        wait,
    };
    let cluster = settings::management_cluster(&args.server.kube, &args.server.pace, session)?;
    if wait.is_some() {
        session.messages().progress().begin(&format!("waiting for the kubeconfig of `{}`", args.name));
    }
    let mut content = session.block_on(workload::workload_kubeconfig(&cluster, &request))?;
    let Some(file) = &args.merge else {
        content.push(b'\n');
        return session.printer().write(content);
    };
    merge(args, &request, &content, Path::new(file), session)
}

fn merge(
    args: &Kubeconfig,
    request: &KubeconfigRequest,
    content: &[u8],
    file: &Path,
    session: &mut Session,
) -> Result<(), Failure> {
    let secret = request.credentials.secret_of(&request.cluster);
    let unsafe_fields = if args.allow_unsafe_fields { UnsafeFields::Allow } else { UnsafeFields::Reject };
    let name = args.context_name.as_deref().filter(|name| !name.is_empty());
    let workload = WorkloadContext::parse(content, name, unsafe_fields)
        .with_context(|| format!("cannot use the kubeconfig in Secret {}/{secret}", request.namespace))?;
    let path = settings::merge_workload(&workload, file, session.environment())?;
    let name = workload.name();
    session.messages().status(format!(
        "added context `{name}` to `{}`; switch to it with `kubectl --kubeconfig {} config use-context {}`",
        path.display(),
        quoted(&path.display().to_string(), session.environment().home()),
        quoted(name, None)
    ));
    session.printer().write(format!("{name}\n"))
}
