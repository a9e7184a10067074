mod documents;
mod protos;
mod resources;
mod shapes;

use std::{fs, path::PathBuf};

use anyhow::{Context as _, Result};

use crate::{print::print_line, workspace};
use documents::Documents;
use protos::Protos;

/// Write the tables of the sandbox's built-in kinds from the API description of a real API server.
#[derive(clap::Args)]
pub(crate) struct BuiltinKinds {
    /// The kubeconfig of a kube-apiserver. It is queried with `kubectl get --raw`.
    #[arg(long, value_name = "FILE")]
    server: PathBuf,
    /// The kubectl to use.
    #[arg(long, value_name = "FILE", default_value = "kubectl")]
    kubectl: PathBuf,
    /// Folders with the `generated.proto` files of the same release (the Go modules k8s.io/api, k8s.io/apimachinery,
    /// k8s.io/apiextensions-apiserver and k8s.io/kube-aggregator).
    #[arg(long, value_name = "FOLDER", required = true, num_args = 1..)]
    protos: Vec<PathBuf>,
}

/// Queries the server and writes both tables.
pub(crate) fn run(args: &BuiltinKinds) -> Result<bool> {
    let documents = Documents::fetch(&args.kubectl, &args.server)?;
    let protos = Protos::read(&args.protos)?;
    for (name, text) in [
        ("pkg/sandbox/src/builtin/resources.txt", resources::table(&documents)?),
        ("pkg/manifest/src/builtin/shapes.txt", shapes::table(&documents, &protos)?),
    ] {
        let path = workspace::root().join(name);
        fs::write(&path, &text).with_context(|| format!("cannot write `{}`", path.display()))?;
        print_line(&format!("{name}: {} lines, {} bytes", text.lines().count(), text.len()));
    }
    Ok(true)
}
