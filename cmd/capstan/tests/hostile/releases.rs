//! Tests of hostile releases, release lists and configurations.

use snapbox::{assert_data_eq, str};
use support::host::{FakeHost, GitHubRelease, Reply};

use super::{ESCAPE, MEMORY_MEBIBYTES, ends_quietly};
use crate::{
    lifecycle::INIT,
    testing::{Lab, releases::ROOT},
    world,
};

const REPOSITORY: &str = "kubernetes-sigs/cluster-api-provider-aws";
const METADATA: &str = "apiVersion: clusterctl.cluster.x-k8s.io/v1alpha3
kind: Metadata
releaseSeries: [{major: 2, minor: 0, contract: v1beta2}]
";
const COMPONENTS: &str = "apiVersion: v1\nkind: Namespace\nmetadata: {name: capa-system}\n";
/// Release names that are not versions.
const NAMES: [&str; 5] =
    ["v2.0.9/../../x", "v99999999999999999999.0.0", "v2.0.9\u{1b}[2J", "v2.0.9-\u{202e}", "../v2.0.9"];

#[test]
fn hostile_lists_of_versions_never_become_a_version() {
    let host = FakeHost::internet();
    let release = GitHubRelease::new(REPOSITORY, "v2.0.0").file("metadata.yaml", METADATA);
    release.file("infrastructure-components.yaml", COMPONENTS).publish(&host);
    let proxy = format!("proxy.golang.org/github.com/{REPOSITORY}");
    host.on(format!("{proxy}/@v/list"), Reply::text(""));
    host.on(format!("{proxy}/v2/@v/list"), Reply::text(format!("{}\nv2.0.0\n", NAMES.join("\n"))));
    let world = world();
    let authority = world.write("ca.pem", host.ca_pem());
    let world = world.env("HTTPS_PROXY", host.proxy_url()).env("SSL_CERT_FILE", authority);
    let run = world.run_in_memory("generate provider -i aws --describe", MEMORY_MEBIBYTES);
    ends_quietly(&run, 0, "list");
    assert_data_eq!(
        run.to_string(),
        str![[r#"
exit 0
--- stdout
Name:               aws
Type:               InfrastructureProvider
URL:                https://github.com/kubernetes-sigs/cluster-api-provider-aws/releases/
Version:            v2.0.0
File:               infrastructure-components.yaml
TargetNamespace:    capa-system


"#]]
    );
    let run = world.run(["generate", "provider", "-i", &format!("aws:{}", NAMES[0])]);
    ends_quietly(&run, 1, "pin");
    host.on(format!("{proxy}/v2/@v/list"), Reply::text("v2.0.0\n".repeat(1_500_000)));
    let run = world.run_in_memory("generate provider -i aws --describe --refresh", MEMORY_MEBIBYTES);
    ends_quietly(&run, 1, "long list");
}

#[test]
fn hostile_metadata_of_a_release_is_refused() {
    let series = |text: &str| METADATA.replace("{major: 2, minor: 0, contract: v1beta2}", text);
    let laughs = format!("a: &a [{}]\nb: &b [{}]\n", "x,".repeat(100_000), "*a,".repeat(10_000));
    let rows = [
        series("{major: 99999999999999999999, minor: 0, contract: v1beta2}"),
        series("{major: -1, minor: 0, contract: v1beta2}"),
        series("{major: 2, minor: 0, contract: \"\\e[2J\"}"),
        format!("{METADATA}{ESCAPE}: [\n"),
        format!("{METADATA}{laughs}"),
        "[".repeat(200_000),
    ];
    let world = world();
    let folder = "repository/infrastructure-own/v2.0.0";
    world.write(format!("{folder}/infrastructure-components.yaml"), COMPONENTS);
    let url = world.current_dir().join(folder).join("infrastructure-components.yaml");
    world.configure(format!(
        "providers: [{{name: own, type: InfrastructureProvider, url: \"{}\"}}]\n",
        url.display()
    ));
    for row in rows {
        world.write(format!("{folder}/metadata.yaml"), &row);
        let run = world.run_in_memory("generate provider -i own:v2.0.0", MEMORY_MEBIBYTES);
        ends_quietly(&run, 1, &row[..row.len().min(200)]);
    }
}

#[test]
fn configured_names_cannot_control_the_terminal() {
    let world = world();
    let rows = [
        "providers: [{name: \"\\e[2J\", type: InfrastructureProvider, url: /x/v1.0.0/c.yaml}]\n",
        "providers: [{name: own, type: \"\\e[2J\", url: /x/v1.0.0/c.yaml}]\n",
        "providers: [{name: own, type: InfrastructureProvider, url: \"/x/\\e[2J/v1.0.0/c.yaml\"}]\n",
        "\u{1b}[2J: [\n",
    ];
    for row in rows {
        world.configure(row);
        for line in ["config repositories", "provider list"] {
            let run = world.run_line(line);
            ends_quietly(&run, 1, row);
        }
    }
}

#[test]
fn upgrade_plan_skips_hostile_release_names() {
    let lab = Lab::start(&[]);
    assert_eq!(lab.run(INIT).status, 0);
    let before = lab.run("upgrade plan -o json");
    for name in NAMES.iter().filter(|name| !name.contains('/')) {
        lab.world().write(format!("{ROOT}/infrastructure-own/{name}/metadata.yaml"), METADATA);
        lab.world()
            .write(format!("{ROOT}/infrastructure-own/{name}/infrastructure-components.yaml"), COMPONENTS);
    }
    let plan = lab.run("upgrade plan -o json");
    ends_quietly(&plan, 0, "upgrade plan");
    assert_eq!(plan.stdout, before.stdout);
}
