//! Tests of hostile hosts and servers that attack the time or the terminal of a run.

use std::{fmt::Write as _, net::TcpListener, process::Stdio, time::Duration};

use serde_json::json;
use snapbox::{assert_data_eq, str};
use support::{
    binary::TestEnvironment,
    git::GitForge,
    host::{FakeHost, Reply},
};

use super::{ESCAPE, causes, ends_quietly};
use crate::world;

/// Returns a world that reaches the fake host under internet host names.
fn connected(host: &FakeHost) -> TestEnvironment {
    let world = world();
    let authority = world.write("ca.pem", host.ca_pem());
    world.env("HTTPS_PROXY", host.proxy_url()).env("SSL_CERT_FILE", authority)
}

/// Returns a kubeconfig for a server, without credentials.
fn kubeconfig(server: &str) -> String {
    format!(
        "apiVersion: v1
kind: Config
clusters: [{{name: lab, cluster: {{server: \"{server}\"}}}}]
contexts: [{{name: lab, context: {{cluster: lab, user: lab}}}}]
users: [{{name: lab}}]
current-context: lab
"
    )
}

#[test]
fn slow_and_silent_hosts_time_out() {
    let host = FakeHost::internet();
    let slow = Reply::file("x".repeat(100_000)).trickle(Duration::from_secs(1));
    for address in [
        "127.0.0.1/base.yaml",
        "127.0.0.1/v2/team/infrastructure-slow/manifests/v1.0.0",
        "127.0.0.1/base.git/info/refs?service=git-upload-pack",
        "files.example.org/infrastructure-slow/v1.0.0/metadata.yaml",
    ] {
        host.on(address, slow.clone());
    }
    // This host never accepts the connections.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let (slow, silent) = (host.address().to_string(), silent.local_addr().unwrap().to_string());
    let world = connected(&host).env("NO_PROXY", "127.0.0.1").env("PATH", "/usr/bin:/bin");
    world.write("slow/kustomization.yaml", format!("resources: [\"http://{slow}/base.yaml\"]\n"));
    world.write("silent/kustomization.yaml", format!("resources: [\"http://{silent}/base.yaml\"]\n"));
    for (name, host) in [("slow-git", &slow), ("silent-git", &silent)] {
        let url = format!("git::http://{host}/base.git?timeout=2");
        world.write(format!("{name}/kustomization.yaml"), format!("resources: [\"{url}\"]\n"));
    }
    world.write("silent-server", kubeconfig(&format!("http://{silent}")));
    world.write("silent-tls-server", kubeconfig(&format!("https://{silent}")));
    world.configure(format!(
        "hosts: {{\"{slow}\": {{plainHttp: true}}, \"{silent}\": {{plainHttp: true}}}}
providers:
- {{name: slow, type: InfrastructureProvider, url: \"https://files.example.org/infrastructure-slow/v1.0.0/infrastructure-components.yaml\"}}
- {{name: slow-oci, type: InfrastructureProvider, url: \"oci://{slow}/team/infrastructure-slow:v1.0.0\"}}
- {{name: silent-oci, type: InfrastructureProvider, url: \"oci://{silent}/team/infrastructure-silent:v1.0.0\"}}
"
    ));
    let rows = [
        "kustomize build slow",
        "kustomize build silent",
        "kustomize build slow-git",
        "kustomize build silent-git",
        "generate provider -i slow:v1.0.0",
        "generate provider -i slow-oci:v1.0.0",
        "generate provider -i silent-oci:v1.0.0",
        "status --kubeconfig silent-server",
        "status --kubeconfig silent-tls-server",
        "describe cluster demo --kubeconfig silent-server",
    ];
    // The commands run concurrently, because each takes as long as the timeout of a silent host.
    let start = |row: &str| {
        let mut command = world.command(row.split(' '));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let started = rows.map(|row| (row, start(row)));
    let mut reported = String::new();
    for (row, child) in started {
        let run = world.to_output(&child.wait_with_output().unwrap());
        ends_quietly(&run, 1, row);
        let causes = causes(&run).replace(&slow, "[SLOW]").replace(&silent, "[SILENT]");
        let _ = writeln!(reported, "{row}: {causes}");
    }
    assert_data_eq!(
        reported,
        str![[r#"
kustomize build slow: slow/kustomization.yaml: resources[0]: cannot fetch `http://[SLOW]/base.yaml`: received only [..] bytes within [..] seconds
kustomize build silent: silent/kustomization.yaml: resources[0]: cannot fetch `http://[SILENT]/base.yaml`: no data received for 30s
kustomize build slow-git: slow-git/kustomization.yaml: resources[0]: cannot fetch `git::http://[SLOW]/base.git?timeout=2`: the fetch exceeded the timeout of 2s
kustomize build silent-git: silent-git/kustomization.yaml: resources[0]: cannot fetch `git::http://[SILENT]/base.git?timeout=2`: the fetch exceeded the timeout of 2s
generate provider -i slow:v1.0.0: cannot read `metadata.yaml` of `infrastructure-slow` v1.0.0: cannot fetch `https://files.example.org/infrastructure-slow/v1.0.0/metadata.yaml`: received only [..] bytes within [..] seconds
generate provider -i slow-oci:v1.0.0: cannot read `metadata.yaml` of `infrastructure-slow-oci` v1.0.0: cannot fetch `http://[SLOW]/v2/team/infrastructure-slow/manifests/v1.0.0`: received only [..] bytes within [..] seconds
generate provider -i silent-oci:v1.0.0: cannot read `metadata.yaml` of `infrastructure-silent-oci` v1.0.0: cannot fetch `http://[SILENT]/v2/team/infrastructure-silent/manifests/v1.0.0`: no data received for 30s
status --kubeconfig silent-server: cannot get CustomResourceDefinition providers.clusterctl.cluster.x-k8s.io: no answer from http://[SILENT]: no data received within 30s
status --kubeconfig silent-tls-server: cannot get CustomResourceDefinition providers.clusterctl.cluster.x-k8s.io: no answer from https://[SILENT]: no data received within 10s
describe cluster demo --kubeconfig silent-server: no data received within 30s

"#]]
    );
}

#[test]
fn server_messages_cannot_control_the_terminal() {
    let host = FakeHost::start(&[]);
    let status = json!({
        "kind": "Status", "apiVersion": "v1", "status": "Failure", "code": 403, "reason": ESCAPE,
        "message": format!("{ESCAPE}\r\nerror: forged\n{}", "x".repeat(1 << 20)),
        "details": {"causes": [{"field": ESCAPE, "message": format!("{ESCAPE}\r\n")}]},
    });
    // A header cannot contain control characters.
    let warning = |number| format!("299 - \"warning {number} \\\\e[2J {}\"", "y".repeat(1000));
    let refusal = (0..90).fold(Reply::json(403, status.to_string()), |reply, number| {
        reply.header("warning", &warning(number))
    });
    for path in [
        "apis/apiextensions.k8s.io/v1/customresourcedefinitions/providers.clusterctl.cluster.x-k8s.io",
        "apis/clusterctl.cluster.x-k8s.io/v1alpha3/providers?limit=500",
        "apis/coordination.k8s.io/v1/namespaces/kube-system/leases/capstan",
        "apis/coordination.k8s.io/v1/namespaces/kube-system/leases",
        "api/v1/namespaces/default/secrets/demo-kubeconfig",
        "apis",
        "api",
    ] {
        host.on(format!("127.0.0.1/{path}"), refusal.clone());
    }
    let world = world();
    world.write("kubeconfig", kubeconfig(&format!("http://{}", host.address())));
    for row in ["status", "get kubeconfig demo", "alpha rollout restart machinedeployment/demo"] {
        let run = world.run(format!("{row} --kubeconfig kubeconfig").split(' '));
        ends_quietly(&run, 1, row);
        assert!(run.stderr.len() < 200_000, "{row}");
    }
}

// Row: D-22
#[test]
fn the_gitlab_token_goes_to_no_host_that_a_fetched_file_names() {
    let (host, forge) = (FakeHost::internet(), GitForge::new());
    let object = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ";
    for (address, name) in [
        ("gitlab.com/own.yaml", "own"),
        ("gitlab.com/other.yaml", "other"),
        ("gitlab.example.org/far.yaml", "far"),
    ] {
        host.on(address, Reply::text(format!("{object}{name}}}\n")));
    }
    let base = "resources: [\"https://gitlab.com/other.yaml\", \"https://gitlab.example.org/far.yaml\"]\n";
    forge.commit("r", &[("base/kustomization.yaml", base)]);
    let world = connected(&host).env("GITLAB_ACCESS_TOKEN", "glpat-secret").env("PATH", "/usr/bin:/bin");
    let repository = format!("file://{}//base", forge.repository("r").display());
    world.write(
        "own/kustomization.yaml",
        format!("resources: [\"https://gitlab.com/own.yaml\", \"{repository}\"]\n"),
    );
    world.run_expecting_success("kustomize build own");
    let shown: Vec<(String, bool)> = host
        .received()
        .iter()
        .filter(|request| request.method == "GET")
        .map(|request| (request.address(), request.header("authorization") == Some("Bearer glpat-secret")))
        .collect();
    for (address, expected) in [
        ("gitlab.com/own.yaml", true),
        ("gitlab.com/other.yaml", true),
        ("gitlab.example.org/far.yaml", false),
    ] {
        assert!(shown.contains(&(address.to_owned(), expected)), "{address}: {shown:?}");
    }
}
