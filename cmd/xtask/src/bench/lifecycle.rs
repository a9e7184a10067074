//! A management cluster from its first provider to its last, by both programs, on sandboxes of their own.

use std::{fs, path::Path};

use anyhow::{Context as _, Result};
use sandbox::Switches;
use serde_json::json;
use support::fixture::Fixture;

use super::{
    sample::{self, Sample},
    table::{mib, milliseconds},
};
use crate::beside;

/// What the verbs are run on.
#[derive(Clone, Copy)]
struct World {
    name: &'static str,
    fault: Option<&'static str>,
    /// Definitions and Secrets that have nothing to do with providers.
    unrelated: (usize, usize),
}

const WORLDS: [World; 3] = [
    World { name: "", fault: None, unrelated: (0, 0) },
    World { name: ", 20 ms a request", fault: Some("latency:20ms"), unrelated: (0, 0) },
    World { name: ", beside 300 CRDs and 5,000 Secrets", fault: None, unrelated: (300, 5_000) },
];

/// A command line of a journey.
struct Verb {
    name: &'static str,
    arguments: &'static [&'static str],
    waits: Waits,
    /// Share of the peer's time, and requests.
    target: &'static str,
}

/// Whether a verb ends before what it wrote is ready. The two programs do different things when they are told nothing.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Waits {
    /// Neither has a flag for it.
    AsEver,
    No,
    Yes,
}

impl Waits {
    fn flag(self, is_peer: bool) -> Option<&'static str> {
        match (self, is_peer) {
            (Self::No, false) => Some("--no-wait"),
            (Self::Yes, true) => Some("--wait-providers"),
            _ => None,
        }
    }
}

const INIT_4: &[&str] = &[
    "init",
    "--core",
    "cluster-api:v1.13.5",
    "--bootstrap",
    "kubeadm:v1.13.5",
    "--control-plane",
    "kubeadm:v1.13.5",
    "--infrastructure",
    "docker:v1.13.5",
];
const INIT_5: &[&str] = &[
    "init",
    "--core",
    "cluster-api:v1.13.5",
    "--bootstrap",
    "kubeadm:v1.13.5",
    "--control-plane",
    "kubeadm:v1.13.5",
    "--infrastructure",
    "docker:v1.13.5,aws:v2.11.1",
];
const UPGRADE: &[&str] = &["upgrade", "apply", "--contract", "v1beta2"];

/// Each on a cluster of its own.
const JOURNEYS: [&[Verb]; 3] = [
    &[
        Verb { name: "init, 4 providers", arguments: INIT_4, waits: Waits::No, target: "1/4, 180" },
        Verb { name: "upgrade plan", arguments: &["upgrade", "plan"], waits: Waits::AsEver, target: "-" },
        Verb { name: "upgrade, 4 providers", arguments: UPGRADE, waits: Waits::No, target: "1/4, 300" },
    ],
    &[
        Verb { name: "init, 5 providers", arguments: INIT_5, waits: Waits::No, target: "1/5 at 20 ms" },
        Verb {
            name: "delete, 5 providers",
            arguments: &["delete", "--all"],
            waits: Waits::AsEver,
            target: "1/3, 150",
        },
    ],
    &[
        Verb { name: "init, 4 providers, until ready", arguments: INIT_4, waits: Waits::Yes, target: "-" },
        Verb {
            name: "upgrade, 4 providers, until ready",
            arguments: UPGRADE,
            waits: Waits::Yes,
            target: "-",
        },
    ],
];

/// Who is measured.
#[derive(Clone, Copy)]
struct Program<'a> {
    path: &'a Path,
    is_peer: bool,
}

/// What a verb took of the program and of the server.
struct Figures {
    sample: Sample,
    requests: usize,
}

/// Measures every verb of the journey in every world; none where there is no corpus.
///
/// # Errors
/// When a verb fails: a figure for half of the work would be worthless.
pub(super) fn run(binary: &Path, peer: Option<&Path>, folder: &Path) -> Result<Option<String>> {
    let corpus = beside("CAPSTAN_CORPUS", "corpus").join("providers");
    if !corpus.is_dir() {
        return Ok(None);
    }
    let config = configuration(&corpus.canonicalize()?, folder)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let mut text = format!(
        "\n{:<66} {:>24} {:>22} {:>22} {:>14}   target\n",
        "", "wall: ours, theirs", "cpu: ours, theirs", "memory: ours, theirs", "requests"
    );
    let ours = Program { path: binary, is_peer: false };
    let peer = peer.map(|path| Program { path, is_peer: true });
    for world in WORLDS {
        for verbs in JOURNEYS {
            let measured = |program| runtime.block_on(journey(program, world, verbs, &config, folder));
            let ours = measured(ours)?;
            let theirs = peer.map(measured).transpose()?;
            for (index, (verb, ours)) in verbs.iter().zip(&ours).enumerate() {
                let theirs = theirs.as_ref().map(|figures| &figures[index]);
                text.push_str(&row(verb, world, ours, theirs));
            }
        }
    }
    Ok(Some(text))
}

fn row(verb: &Verb, world: World, ours: &Figures, theirs: Option<&Figures>) -> String {
    let pair =
        |of: &dyn Fn(&Figures) -> String| format!("{}, {}", of(ours), theirs.map_or("-".to_owned(), of));
    format!(
        "{:<66} {:>24} {:>22} {:>22} {:>14}   {}\n",
        format!("{}{}", verb.name, world.name),
        pair(&|figures| milliseconds(figures.sample.wall)),
        pair(&|figures| milliseconds(figures.sample.cpu)),
        pair(&|figures| format!("{} MiB", mib(figures.sample.memory))),
        pair(&|figures| figures.requests.to_string()),
        verb.target
    )
}

/// Runs the verbs one after the other on a fresh sandbox in this process.
async fn journey(
    program: Program<'_>,
    world: World,
    verbs: &[Verb],
    config: &str,
    folder: &Path,
) -> Result<Vec<Figures>> {
    let mut builder = Fixture::builder().controllers(Switches::default());
    if let Some(fault) = world.fault {
        builder = builder.fault(fault);
    }
    let fixture = builder.start().await;
    fill(&fixture, world.unrelated).await;
    let kubeconfig = fixture.kubeconfig().await.display().to_string();
    let mut figures = Vec::new();
    for verb in verbs {
        let flags = verb.arguments.iter().copied().chain(verb.waits.flag(program.is_peer));
        let settings = ["--config", config, "--kubeconfig", &kubeconfig];
        let arguments: Vec<_> = flags.chain(settings).map(str::to_owned).collect();
        let before = requests_of_clients(&fixture);
        let (path, folder) = (program.path.to_owned(), folder.to_owned());
        let run = move || sample::once(&path, &arguments, &folder);
        let sample = tokio::task::spawn_blocking(run).await?;
        let sample = sample.with_context(|| format!("`{}`{}", verb.name, world.name))?;
        figures.push(Figures { sample, requests: requests_of_clients(&fixture) - before });
        fixture.settled().await;
    }
    Ok(figures)
}

/// How many requests have come through the wire, the controllers' own apart.
fn requests_of_clients(fixture: &Fixture) -> usize {
    let is_theirs = |client: &str| ["capstan/", "clusterctl/"].iter().any(|name| client.starts_with(name));
    fixture.sandbox().audit().since(0).iter().filter(|request| is_theirs(&request.client)).count()
}

async fn fill(fixture: &Fixture, (definitions, secrets): (usize, usize)) {
    for index in 0..definitions {
        fixture.apply(&definition(index)).await;
    }
    for index in 0..secrets {
        let secret = json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": format!("unrelated-{index}")},
            "data": {"value": "A".repeat(2_000)}});
        fixture.apply(&secret.to_string()).await;
    }
}

fn definition(index: usize) -> String {
    let group = format!("g{}.example.org", index % 30);
    json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("unrelated{index}s.{group}")},
        "spec": {"group": group, "scope": "Namespaced",
            "names": {"plural": format!("unrelated{index}s"), "singular": format!("unrelated{index}"),
                "kind": format!("Unrelated{index}"), "listKind": format!("Unrelated{index}List")},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {
                "type": "object", "x-kubernetes-preserve-unknown-fields": true}}}]}})
    .to_string()
}

/// Writes a configuration over the corpus for both programs.
fn configuration(corpus: &Path, folder: &Path) -> Result<String> {
    let provider = |label: &str, name: &str, provider_type: &str, version: &str, file: &str| {
        let corpus = corpus.display();
        format!("- {{name: {name}, type: {provider_type}, url: {corpus}/{label}/{version}/{file}}}\n")
    };
    let text = [
        "providers:\n".to_owned(),
        provider("cluster-api", "cluster-api", "CoreProvider", "v1.14.0", "core-components.yaml"),
        provider("bootstrap-kubeadm", "kubeadm", "BootstrapProvider", "v1.14.0", "bootstrap-components.yaml"),
        provider(
            "control-plane-kubeadm",
            "kubeadm",
            "ControlPlaneProvider",
            "v1.14.0",
            "control-plane-components.yaml",
        ),
        provider(
            "infrastructure-docker",
            "docker",
            "InfrastructureProvider",
            "v1.14.0",
            "infrastructure-components.yaml",
        ),
        provider(
            "infrastructure-aws",
            "aws",
            "InfrastructureProvider",
            "v2.11.1",
            "infrastructure-components.yaml",
        ),
        format!("cert-manager: {{url: {}/cert-manager/v1.21.1/cert-manager.yaml}}\n", corpus.display()),
        "AWS_B64ENCODED_CREDENTIALS: bm9uZQ==\n".to_owned(),
    ];
    let path = folder.join("lifecycle.yaml");
    fs::write(&path, text.concat())?;
    Ok(path.display().to_string())
}
