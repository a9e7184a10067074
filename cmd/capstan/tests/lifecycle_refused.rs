//! Tests of errors of `init`, `upgrade`, `delete` and `status` before any request, or with an unreachable cluster.

use snapbox::{assert_data_eq, str};
use support::binary::TestEnvironment;

use crate::{repository::with_repository, world};

/// A kubeconfig with an unreachable server: no program listens on port 1.
const KUBECONFIG: &str = r#"apiVersion: v1
kind: Config
current-context: prod
clusters: [{name: c, cluster: {server: "https://127.0.0.1:1"}}]
users: [{name: u, user: {token: hidden}}]
contexts:
- {name: prod, context: {cluster: c, user: u}}
- {name: staging, context: {cluster: c, user: u}}
"#;

fn near_a_dead_server() -> TestEnvironment {
    let world = with_repository();
    world.write("kubeconfig", KUBECONFIG);
    world.env("KUBECONFIG", "kubeconfig").env("TOKEN", "x")
}

fn refused(arguments: &str) -> String {
    near_a_dead_server().run_expecting_failure(arguments)
}

const VERBS: [&str; 5] =
    ["init -i own", "upgrade plan", "upgrade apply --contract v1beta2", "delete --all", "status"];

// Row: D-93
#[test]
fn a_mistyped_context_is_refused_by_every_verb_even_inside_a_pod() {
    let world = near_a_dead_server().env("KUBERNETES_SERVICE_HOST", "127.0.0.1");
    assert_data_eq!(
        world.screens(VERBS.map(|verb| format!("{verb} --kubeconfig-context stagin"))),
        str![[r#"
$ capstan init -i own --kubeconfig-context stagin
exit 1
--- stderr
error: the kubeconfig has no context `stagin`
hint: did you mean `staging`?

$ capstan upgrade plan --kubeconfig-context stagin
exit 1
--- stderr
error: the kubeconfig has no context `stagin`
hint: did you mean `staging`?

$ capstan upgrade apply --contract v1beta2 --kubeconfig-context stagin
exit 1
--- stderr
error: the kubeconfig has no context `stagin`
hint: did you mean `staging`?

$ capstan delete --all --kubeconfig-context stagin
exit 1
--- stderr
error: the kubeconfig has no context `stagin`
hint: did you mean `staging`?

$ capstan status --kubeconfig-context stagin
exit 1
--- stderr
error: the kubeconfig has no context `stagin`
hint: did you mean `staging`?

"#]]
    );
}

#[test]
fn a_missing_kubeconfig_lists_the_searched_paths() {
    assert_data_eq!(
        world().run(["status"]).to_string(),
        str![[r#"
exit 1
--- stderr
error: cannot find a kubeconfig
hint: use `--kubeconfig FILE` or `--sandbox NAME`, or set KUBECONFIG (these files do not exist: [HOME]/.kube/config)

"#]]
    );
}

// Row: D-94
#[test]
fn an_unreachable_server_is_reported_at_once_without_secrets() {
    let screens = near_a_dead_server().screens(VERBS);
    assert!(!screens.contains("hidden"), "{screens}");
    assert_data_eq!(
        screens,
        str![[r#"
$ capstan init -i own
exit 1
--- stderr
error: cannot create Lease kube-system/capstan: no answer from https://127.0.0.1:1
  cause: the connection was refused
hint: start the cluster, or name another with `--kubeconfig` and `--kubeconfig-context`

$ capstan upgrade plan
exit 1
--- stderr
error: cannot determine the Cluster API contract of the cluster
  cause: cannot get CustomResourceDefinition clusters.cluster.x-k8s.io: no answer from https://127.0.0.1:1
  cause: the connection was refused
hint: start the cluster, or name another with `--kubeconfig` and `--kubeconfig-context`

$ capstan upgrade apply --contract v1beta2
exit 1
--- stderr
error: cannot create Lease kube-system/capstan: no answer from https://127.0.0.1:1
  cause: the connection was refused
hint: start the cluster, or name another with `--kubeconfig` and `--kubeconfig-context`

$ capstan delete --all
exit 1
--- stderr
error: cannot create Lease kube-system/capstan: no answer from https://127.0.0.1:1
  cause: the connection was refused
hint: start the cluster, or name another with `--kubeconfig` and `--kubeconfig-context`

$ capstan status
exit 1
--- stderr
error: cannot read or write the provider inventory
  cause: cannot get CustomResourceDefinition providers.clusterctl.cluster.x-k8s.io: no answer from https://127.0.0.1:1
  cause: the connection was refused
hint: start the cluster, or name another with `--kubeconfig` and `--kubeconfig-context`

"#]]
    );
}

// Row: D-108
#[test]
fn upgrade_targets_must_be_given_exactly_once() {
    assert_data_eq!(
        refused("upgrade apply"),
        str![[r#"
error: the upgrade target is missing
hint: use `--contract v1beta2`, or name providers and versions, such as `--infrastructure aws:v2.11.1`

"#]]
    );
    assert_data_eq!(
        refused("upgrade apply --contract v1beta2 -i own:v1.1.0"),
        str![[r#"
error: `--contract` cannot be combined with provider flags

"#]]
    );
    assert_data_eq!(
        refused("upgrade apply --contract v1beta1"),
        str![[r#"
error: cannot upgrade to contract `v1beta1`
hint: use `--contract v1beta2`

"#]]
    );
    assert_data_eq!(
        refused("upgrade apply -i own"),
        str![[r#"
error: invalid value `own` for `--infrastructure`
  cause: `own` is not of the form [namespace/]name:version
hint: add the target version, such as `NAME:VERSION`

"#]]
    );
}

#[test]
fn a_misspelt_provider_is_reported_before_its_version() {
    assert_data_eq!(
        near_a_dead_server().screens(["upgrade apply -i dokcer", "generate cluster demo -i dokcer"]),
        str![[r#"
$ capstan upgrade apply -i dokcer
exit 1
--- stderr
error: invalid value `dokcer` for `--infrastructure`
  cause: there is no InfrastructureProvider named `dokcer`
hint: did you mean `docker`?

$ capstan generate cluster demo -i dokcer
exit 1
--- stderr
error: there is no InfrastructureProvider named `dokcer`
hint: did you mean `docker`?

"#]]
    );
}

// Row: D-319
#[test]
fn a_kubeconfig_with_http_for_https_fails_at_once() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    // A TLS server answers plain HTTP with an alert.
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            use std::io::{Read as _, Write as _};
            let _ = stream.read(&mut [0; 1024]);
            let _ = stream.write_all(&[0x15, 0x03, 0x03, 0x00, 0x02, 0x02, 0x46]);
        }
    });
    let world = near_a_dead_server();
    world.write("http", KUBECONFIG.replace("https://127.0.0.1:1", &format!("http://{address}")));
    assert_data_eq!(
        world.run_line("status --kubeconfig http").to_string(),
        str![[r#"
exit 1
--- stderr
error: cannot read or write the provider inventory
  cause: cannot get CustomResourceDefinition providers.clusterctl.cluster.x-k8s.io: no answer from http://127.0.0.1:[..]
  cause: it does not speak HTTP
hint: set `server` in the kubeconfig to an `https://` address

"#]]
    );
}

#[test]
fn deletion_targets_must_be_given_exactly_once() {
    assert_data_eq!(
        refused("delete"),
        str![[r#"
error: the providers to delete are missing
hint: use `--all`, or name providers, such as `--infrastructure aws`

"#]]
    );
    assert_data_eq!(
        refused("delete --all -i own"),
        str![[r#"
error: `--all` cannot be combined with provider flags

"#]]
    );
}

#[test]
fn invalid_flag_values_are_reported() {
    assert_data_eq!(
        near_a_dead_server().screens([
            "init --timeout 10",
            "init --wait-provider-timeout -5",
            "init --no-wait --wait-providers",
            "init --core -",
            "init -i own:v1:v2",
            "init --validate=perhaps",
            "status --max-in-flight 0",
            "delete --all -o xml",
        ]),
        str![[r#"
$ capstan init --timeout 10
exit 1
--- stderr
error: invalid value `10` for `--timeout`
  cause: expected a duration such as 90s or 10m

$ capstan init --wait-provider-timeout -5
exit 1
--- stderr
error: invalid value `-5` for `--wait-provider-timeout`
  cause: expected a number of seconds

$ capstan init --no-wait --wait-providers
exit 1
--- stderr
error: `--no-wait` cannot be combined with `--wait-providers`

$ capstan init --core -
exit 1
--- stderr
error: `--core -` is not allowed: every installation needs the core provider
hint: use `--core cluster-api:VERSION`

$ capstan init -i own:v1:v2
exit 1
--- stderr
error: invalid value `own:v1:v2` for `--infrastructure`
  cause: `own:v1:v2` has several colons; use the form name[:version]

$ capstan init --validate=perhaps
exit 1
--- stderr
error: invalid value `perhaps` for `--validate`
  cause: expected true or false

$ capstan status --max-in-flight 0
exit 1
--- stderr
error: invalid value `0` for `--max-in-flight`
  cause: expected a number from 1 to 256

$ capstan delete --all -o xml
exit 1
--- stderr
error: invalid output format `xml`
hint: use `--output` with text, yaml or json

"#]]
    );
}

#[test]
fn a_saved_plan_is_read_before_any_request() {
    let world = near_a_dead_server();
    world.write("text.json", "no plan");
    world.write("later.json", r#"{"format": 7}"#);
    world.write(
        "deletion.json",
        r#"{"format": 2, "cluster": "u", "certManager": {"action": "keep"}, "providers": [],
            "request": {"verb": "delete", "providers": null, "includeCrds": false, "includeNamespaces": false}}"#,
    );
    let run = |file| world.run(["init", "--plan", file]).stderr;
    assert_data_eq!(
        run("text.json"),
        str![[r#"
error: cannot execute the plan `text.json`
  cause: the file is not a saved plan
  cause: expected ident at line 1 column 2

"#]]
    );
    assert_data_eq!(
        run("later.json"),
        str![[r#"
error: cannot execute the plan `later.json`
  cause: the plan has format 7; this version of capstan reads format 2

"#]]
    );
    assert_data_eq!(
        run("deletion.json"),
        str![[r#"
error: cannot execute the plan `deletion.json`
  cause: the plan is for `delete`
hint: execute it with `capstan delete --plan deletion.json`

"#]]
    );
    world.write(
        "upgrade.json",
        r#"{"format": 2, "cluster": "u", "certManager": {"action": "keep"}, "providers": [],
            "request": {"verb": "upgrade", "contract": null,
                "providers": [{"provider": {"type": "InfrastructureProvider", "name": "own"}, "version": null}],
                "options": {"allowDowngrade": false, "allowSkip": false, "keepReplicas": false,
                    "keepPlacement": false, "skipCertManager": false}}}"#,
    );
    assert_data_eq!(
        world.screens(["upgrade apply --plan upgrade.json", "delete --all --plan deletion.json"]),
        str![[r#"
$ capstan upgrade apply --plan upgrade.json
exit 1
--- stderr
error: the plan has no version for `infrastructure-own`

$ capstan delete --all --plan deletion.json
exit 1
--- stderr
error: `--plan` cannot be combined with provider flags, `--include-crd` or `--include-namespace`

"#]]
    );
}

// Row: D-127
#[test]
fn a_provider_named_twice_is_refused() {
    assert_data_eq!(
        refused("init -i own,own:v1.0.0"),
        str![[r#"
error: the provider `infrastructure-own` is given twice

"#]]
    );
}

#[test]
fn an_invalid_kubeconfig_is_refused_without_its_lines() {
    let world = near_a_dead_server();
    world.write("syntax", KUBECONFIG.replace("contexts:", " contexts:"));
    world.write("type", KUBECONFIG.replace("token: hidden", "token: [hidden]"));
    world.write("empty", "");
    assert_data_eq!(
        world.screens(["syntax", "type", "empty"].map(|file| format!("status --kubeconfig {file}"))),
        str![[r#"
$ capstan status --kubeconfig syntax
exit 1
--- stderr
error: cannot read the kubeconfig `[CWD]/syntax`
  cause: line 6, column 2: did not find expected key
hint: use another file with `--kubeconfig FILE`

$ capstan status --kubeconfig type
exit 1
--- stderr
error: cannot read the kubeconfig `[CWD]/type`
  cause: line 5, column 33: a value has the wrong type, or a field is missing
hint: use another file with `--kubeconfig FILE`

$ capstan status --kubeconfig empty
exit 1
--- stderr
error: the kubeconfig has no current context
hint: the file has no contexts; use another one with `--kubeconfig FILE`

"#]]
    );
}
