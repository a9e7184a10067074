//! Tests of the whole tour, and of each of its commands.
#![cfg(unix)]

use std::{
    io::{BufRead as _, BufReader, Read as _},
    path::Path,
    process::Stdio,
};

use manifest::YamlLimits;
use snapbox::{assert_data_eq, str};
use support::binary::RunOutput;

use crate::testing::{Sandboxes, send, signal, with_small_providers};

fn quickstart(sandboxes: &Sandboxes, flags: &[&str]) -> RunOutput {
    sandboxes.world().run(["quickstart"].iter().chain(flags))
}

/// Returns the commands on lines with the given prefix. Continued lines are joined.
fn commands(text: &str, beginning: &str) -> Vec<String> {
    let text = text.replace("\\\n   ", "");
    let lines = text.lines().filter_map(|line| line.strip_prefix(beginning));
    lines.filter(|line| !line.is_empty() && !line.starts_with('#')).map(str::to_owned).collect()
}

/// Expands a word like a shell.
fn word(word: &str, sandboxes: &Sandboxes) -> String {
    match word.strip_prefix("~/") {
        Some(below_home) => sandboxes.world().home().join(below_home).display().to_string(),
        None => word.to_owned(),
    }
}

/// Runs a command line as a user would.
fn typed(line: &str, sandboxes: &Sandboxes) {
    let words: Vec<String> = line.split_whitespace().map(|text| word(text, sandboxes)).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["capstan", words @ ..] => {
            let run = sandboxes.world().run(words);
            assert_eq!(run.status, 0, "{line}\n{run}");
        }
        ["kubectl", "--kubeconfig", kubeconfig, "apply", "-f", file] => apply(Path::new(kubeconfig), file),
        ["kubectl", "--kubeconfig", kubeconfig, "wait", ..] => wait(kubeconfig, sandboxes),
        ["kubectl", "--kubeconfig", kubeconfig, "get", _] => assert!(Path::new(kubeconfig).is_file()),
        _ => panic!("nobody knows how to run {line}"),
    }
}

/// Applies new objects like kubectl.
fn apply(kubeconfig: &Path, file: &str) {
    let objects =
        manifest::read_stream(&std::fs::read(file).unwrap(), &YamlLimits::default()).unwrap().objects;
    assert!(objects.len() > 3);
    for object in objects {
        let kind = object.kind().to_lowercase();
        let plural = if kind.ends_with('s') { kind + "es" } else { kind + "s" };
        let path = format!("/apis/{}/namespaces/{}/{plural}", object.api_version(), object.namespace());
        let body = serde_json::to_string(object.as_map()).unwrap().leak();
        assert_eq!(send(kubeconfig, "POST", &path, body), 201, "{path}");
    }
}

fn wait(kubeconfig: &str, sandboxes: &Sandboxes) {
    let is_available = || {
        let describe = ["describe", "cluster", "demo", "--exit-status", "--kubeconfig", kubeconfig];
        sandboxes.world().run(describe).status == 0
    };
    assert!((0..1000).any(|_| is_available()), "the cluster does not become available");
}

/// Returns stderr without lines about waiting, which vary. Reasons of a Cluster are lines with a `*`.
fn without_waiting(tour: &RunOutput) -> String {
    let screen = tour.messages();
    let lines = screen.lines().filter(|line| !line.starts_with("waiting ") && !line.starts_with("* "));
    lines.map(|line| without_moved_count(line) + "\n").collect()
}

/// Replaces the number of moved objects, which depends on the progress of the simulated controllers.
fn without_moved_count(line: &str) -> String {
    if !line.contains(" objects on the ") && !line.contains(": moved ") {
        return line.to_owned();
    }
    let words = line.split(' ').map(|word| if word.parse::<usize>().is_ok() { "[..]" } else { word });
    words.collect::<Vec<_>>().join(" ")
}

#[test]
fn the_tour_moves_a_cluster_and_can_be_repeated() {
    let sandboxes = Sandboxes::new();
    let tour = quickstart(&sandboxes, &[]);
    assert_eq!(tour.status, 0, "{tour}");
    assert_eq!(tour.stdout.matches("Cluster default/demo, v1.35.0").count(), 2, "{tour}");
    assert_eq!(
        tour.stdout.matches("3/3      3         3     3          True   Available").count(),
        2,
        "{tour}"
    );
    let screen = without_waiting(&tour);
    assert_data_eq!(
        screen.as_str(),
        str![[r#"
exit 0
--- stderr
sandbox `tour-a` serves at https://127.0.0.1:[..] (process [..])
Fetching providers
Installing cert-manager version="v1.0.0"
Waiting for cert-manager to be available...
Installing provider="cluster-api" version="v1.1.0" targetNamespace="capi-system"
applied cluster-api v1.1.0 (1 of 4): 19 objects in [..]
Installing provider="bootstrap-kubeadm" version="v1.1.0" targetNamespace="capi-kubeadm-bootstrap-system"
applied bootstrap-kubeadm v1.1.0 (2 of 4): 13 objects in [..]
Installing provider="control-plane-kubeadm" version="v1.1.0" targetNamespace="capi-kubeadm-control-plane-system"
applied control-plane-kubeadm v1.1.0 (3 of 4): 13 objects in [..]
Installing provider="infrastructure-sandbox" version="v1.1.0" targetNamespace="sandbox-system"
applied infrastructure-sandbox v1.1.0 (4 of 4): 18 objects in [..]
Waiting for providers to be available...

Your management cluster has been initialized successfully!

You can now create your first workload cluster by running the following:

  capstan generate cluster [name] --kubernetes-version [version] --sandbox tour-a --config ~/state/capstan/quickstart/clusterctl.yaml | kubectl --kubeconfig ~/state/capstan/sandboxes/tour-a/kubeconfig apply -f -

done in [..]: installed cert-manager v1.0.0 and 4 providers; 72 objects created
applied ClusterClass default/quick-start
applied SandboxClusterTemplate default/quick-start-cluster
applied KubeadmControlPlaneTemplate default/quick-start-control-plane
applied SandboxMachineTemplate default/quick-start-control-plane
applied SandboxMachineTemplate default/quick-start-default-worker
applied KubeadmConfigTemplate default/quick-start-default-worker
applied Cluster default/demo
cluster `demo` is available
sandbox `tour-b` serves at https://127.0.0.1:[..] (process [..])
Fetching providers
Installing cert-manager version="v1.0.0"
Waiting for cert-manager to be available...
Installing provider="cluster-api" version="v1.1.0" targetNamespace="capi-system"
applied cluster-api v1.1.0 (1 of 4): 19 objects in [..]
Installing provider="bootstrap-kubeadm" version="v1.1.0" targetNamespace="capi-kubeadm-bootstrap-system"
applied bootstrap-kubeadm v1.1.0 (2 of 4): 13 objects in [..]
Installing provider="control-plane-kubeadm" version="v1.1.0" targetNamespace="capi-kubeadm-control-plane-system"
applied control-plane-kubeadm v1.1.0 (3 of 4): 13 objects in [..]
Installing provider="infrastructure-sandbox" version="v1.1.0" targetNamespace="sandbox-system"
applied infrastructure-sandbox v1.1.0 (4 of 4): 18 objects in [..]
Waiting for providers to be available...

Your management cluster has been initialized successfully!

You can now create your first workload cluster by running the following:

  capstan generate cluster [name] --kubernetes-version [version] --sandbox tour-b --config ~/state/capstan/quickstart/clusterctl.yaml | kubectl --kubeconfig ~/state/capstan/sandboxes/tour-b/kubeconfig apply -f -

done in [..]: installed cert-manager v1.0.0 and 4 providers; 72 objects created
paused 2 Clusters and ClusterClasses
created [..] objects on the target
verified [..] objects on the target
deleted [..] objects on the source
resumed 2 Clusters and ClusterClasses
done in [..]: moved [..] objects
cluster `demo` is available

"#]]
    );
    assert_eq!(
        commands(&tour.stdout, "$ "),
        commands(&quickstart(&sandboxes, &["--print"]).stdout, ""),
        "what is printed is what ran"
    );
    let left = sandboxes.world().run(["describe", "cluster", "demo", "--sandbox", "tour-a"]);
    assert_eq!(left.status, 1, "{left}");
    let next = commands(tour.stdout.split_once("# Both").unwrap().1, "  ");
    let [path, look @ .., remove] = next.as_slice() else { panic!("{tour}") };
    assert!(path.starts_with("export PATH=\"/") && look.len() == 3, "{tour}");
    for line in look {
        typed(line, &sandboxes);
    }

    let again = quickstart(&sandboxes, &[]);
    assert_eq!(again.status, 0, "{again}");
    assert_data_eq!(
        again.messages().lines().take(5).collect::<Vec<_>>().join("\n"),
        str![[r#"
exit 0
--- stderr
removing the last tour
done in [..]: deleted sandbox `tour-a`
done in [..]: deleted sandbox `tour-b`
"#]]
    );

    typed(remove, &sandboxes);
    assert_eq!(sandboxes.world().files(), Vec::<String>::new());
    assert_data_eq!(
        quickstart(&sandboxes, &["--remove"]).to_string(),
        str![[r#"
exit 0
--- stderr
nothing to remove

"#]]
    );
}

#[test]
fn every_printed_command_of_the_tour_works() {
    let sandboxes = Sandboxes::new();
    let script = quickstart(&sandboxes, &["--print"]);
    assert_eq!((script.status, script.stderr.as_str()), (0, ""), "{script}");
    assert_data_eq!(
        script.stdout.clone(),
        str![[r#"
# Create a management cluster with cert-manager, Cluster API and providers
...
# Afterwards: capstan sandbox delete tour-a; capstan sandbox delete tour-b; capstan quickstart --remove

"#]]
    );
    assert_eq!(sandboxes.pid("tour-a"), None);
    let lines = commands(&script.stdout, "");
    assert_eq!(lines.len(), 9, "{script}");
    for line in &lines {
        typed(line, &sandboxes);
    }
}

#[test]
fn a_failed_tour_leaves_no_sandboxes() {
    let sandboxes = Sandboxes::new();
    let failed = quickstart(&sandboxes, &["--flavor", "nosuch"]);
    assert_data_eq!(
        failed.messages(),
        str![[r#"
exit 1
--- stderr
error: the tour failed at `capstan generate cluster`
  cause: cannot read `cluster-template-nosuch.yaml` of `infrastructure-sandbox` v1.1.0
  cause: cannot find file `cluster-template-nosuch.yaml` in release `v1.1.0` of `[HOME]/state/capstan/quickstart/repository/infrastructure-sandbox`
hint: looked at [HOME]/state/capstan/quickstart/repository/infrastructure-sandbox/v1.1.0/cluster-template-nosuch.yaml
hint: select a flavor of the release with `--flavor`: `development`
hint: the sandboxes and files of the tour are removed; re-run `capstan quickstart` for another tour

"#]]
    );
    assert_eq!(sandboxes.world().files(), Vec::<String>::new());
}

#[test]
fn an_interrupted_tour_leaves_no_sandboxes() {
    let sandboxes = Sandboxes::new();
    let mut command = sandboxes.world().command(["quickstart"]);
    let mut tour =
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut stdout = BufReader::new(tour.stdout.take().unwrap());
    let mut line = String::new();
    while !line.starts_with("$ capstan generate") {
        line.clear();
        assert_ne!(stdout.read_line(&mut line).unwrap(), 0);
    }
    signal("INT", tour.id().into());
    // A closed reader does not end the tour.
    stdout.read_to_string(&mut line).unwrap();
    let ended = tour.wait_with_output().unwrap();
    assert_data_eq!(
        sandboxes.world().to_output(&ended).messages(),
        str![[r#"
exit 130
--- stderr
error: interrupted during the tour
hint: the sandboxes and files of the tour are removed; re-run `capstan quickstart` for another tour

"#]]
    );
    assert_eq!(sandboxes.world().files(), Vec::<String>::new());
}

#[test]
fn the_tour_never_uses_a_sandbox_of_the_user() {
    let sandboxes = Sandboxes::new();
    sandboxes.run(&["start", "tour-b", "--in-memory"]);
    assert_data_eq!(
        quickstart(&sandboxes, &[]).to_string(),
        str![[r#"
exit 1
--- stderr
error: sandbox `tour-b` already exists, and no tour created it
hint: if you no longer need the sandbox, delete it with `capstan sandbox delete tour-b`

"#]]
    );
    assert_data_eq!(
        quickstart(&sandboxes, &["--remove"]).to_string(),
        str![[r#"
exit 0
--- stderr
nothing to remove

"#]]
    );
    assert!(sandboxes.pid("tour-b").is_some() && !sandboxes.file("tour-a", "").exists());
}

#[test]
fn the_tour_uses_the_named_providers() {
    let sandboxes = Sandboxes::of(with_small_providers());
    let script = quickstart(&sandboxes, &["-i", "own:v1.0.0", "--bootstrap", "-", "--print"]);
    let lines = commands(&script.stdout, "");
    assert_eq!(
        lines[0], "capstan init --sandbox tour-a --bootstrap - --infrastructure own:v1.0.0",
        "{script}"
    );
    let generate = "capstan generate cluster demo --sandbox tour-a --infrastructure own --kubernetes-version";
    assert!(lines[1].starts_with(generate), "{script}");
    typed(&lines[0], &sandboxes);
    typed(&lines[1], &sandboxes);
}

#[test]
fn an_ambiguous_configuration_requires_a_named_provider() {
    assert_data_eq!(
        quickstart(&Sandboxes::new(), &["--config", "mine.yaml"]).to_string(),
        str![[r#"
exit 1
--- stderr
error: the infrastructure provider is missing
hint: add a configured provider with `--infrastructure NAME`

"#]]
    );
}

#[test]
fn the_tour_of_components_needs_no_controller() {
    let sandboxes = Sandboxes::new();
    let tour = quickstart(&sandboxes, &["--components"]);
    assert_data_eq!(
        tour.to_string(),
        str![[r#"
exit 0
--- stdout
# Start a Kubernetes API server on this machine
$ capstan sandbox start tour-a

# Apply two Components: a database, and a web server that depends on it
$ capstan component apply -f ~/state/capstan/quickstart/components --sandbox tour-a

# List the Components
$ capstan component list --sandbox tour-a
NAMESPACE   NAME       STATE     REASON    OBJECTS   REVISION
shop        database   Ready     Ready     1         3a6c8454da2a48e00d7ce08dd2a949de8ab052e86a2abb4f1ac0c79a06a9f209
shop        web        Ready     Ready     1         5bac2d875d5599fbfb9cba8ec68feee6b27a38cbd8cb6091492768428ad259ed

# Edit one: the new file has 3 replicas. Show what would change
$ capstan component diff -f ~/state/capstan/quickstart/edited/web.yaml --sandbox tour-a
shop/web at 5bac2d875d5599fbfb9cba8ec68feee6b27a38cbd8cb6091492768428ad259ed
  update Deployment shop/web
       progressDeadlineSeconds: 600
    -  replicas: 1
    +  replicas: 3
       revisionHistoryLimit: 10
  ~ annotation component-operator.cs.sap.com/digest: 4f142249e9697680d85844fdff15379f0ed760ac6f3b6c37f2cba11d540d… to 33ecf5982099250e40fc989d87c28f7c3c1a63257c11c5bfcdcb488a9e79… (one object)


# Apply the change
$ capstan component apply -f ~/state/capstan/quickstart/edited/web.yaml --sandbox tour-a

# Show the objects of a Component
$ capstan component status web -n shop --sandbox tour-a
shop/web: Ready
  Ready: Dependent resources successfully reconciled
  revision: 5bac2d875d5599fbfb9cba8ec68feee6b27a38cbd8cb6091492768428ad259ed
  KIND         OBJECT     PHASE     STATUS
  Deployment   shop/web   Ready     Current

# Delete both, the dependent one first
$ capstan component delete -f ~/state/capstan/quickstart/components --sandbox tour-a

# No Component is left
$ capstan component list --sandbox tour-a
there are no Components

# The sandbox keeps running. Explore it, or let a controller do the work:
  export PATH="[..]/target/debug:$PATH"
  capstan component render -f ~/state/capstan/quickstart/components --sandbox tour-a
  capstan sandbox start lab --with controller

# Remove everything:
  capstan quickstart --remove
--- stderr
sandbox `tour-a` serves at https://127.0.0.1:[..] (process [..])
use the sandbox with: export KUBECONFIG=$(capstan sandbox kubeconfig tour-a)
done in [..]: started sandbox `tour-a`
done in [..]: applied 2 Components; 3 objects created
done in [..]: applied 1 Component; 1 object changed
done in [..]: deleted 2 Components

"#]]
    );
    let printed = quickstart(&sandboxes, &["--components", "--print"]);
    assert_eq!(printed.status, 0, "{printed}");
    let typed_commands = commands(&printed.stdout, "capstan ");
    assert_eq!(typed_commands.len(), 8, "{printed}");
    for line in typed_commands {
        typed(&format!("capstan {line}"), &sandboxes);
    }
    let removed = quickstart(&sandboxes, &["--remove"]);
    assert_data_eq!(
        removed.to_string(),
        str![[r#"
exit 0
--- stderr
done in [..]: deleted sandbox `tour-a`
done in [..]: deleted sandbox `tour-b`

"#]]
    );
}
