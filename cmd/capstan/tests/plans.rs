//! Tests of dry runs, and of the final line of writing verbs.
#![cfg(unix)]

use snapbox::{assert_data_eq, str};

use crate::{lifecycle::INIT, lifecycle_interrupted::interrupted, testing::Lab};

const UPGRADE: &str = "upgrade apply --contract v1beta2";

fn json(text: &str) -> serde_json::Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// Returns the last line of the screen.
fn closing(lab: &Lab, arguments: &str) -> String {
    let screen = lab.done(arguments).to_string();
    format!("{}\n", screen.lines().last().unwrap_or_default())
}

/// Returns a lab whose upgrade was interrupted after the first provider.
fn cut_off() -> Lab {
    let lab = Lab::start(&["--fault", "latency:40ms"]);
    lab.done(INIT);
    let cut = interrupted(&lab, UPGRADE, "Installing provider=\"bootstrap-kubeadm\"");
    assert_eq!(cut.status, 130, "{cut}");
    lab
}

#[test]
fn a_diff_starts_with_images_and_full_shows_every_line() {
    let lab = Lab::start(&[]);
    lab.done(INIT);
    assert_data_eq!(
        lab.done(&format!("{UPGRADE} --diff")).stdout,
        str![[r#"
cert-manager: stays at v1.0.0

cluster-api: v1.0.0 to v1.1.0 in cluster-api-system
  update Deployment cluster-api-system/cluster-api-manager
    ~ image cluster-api: v1.0.0 to v1.1.0
  4 unchanged

bootstrap-kubeadm: v1.0.0 to v1.1.0 in bootstrap-kubeadm-system
  update Deployment bootstrap-kubeadm-system/bootstrap-kubeadm-manager
    ~ image bootstrap-kubeadm: v1.0.0 to v1.1.0
  3 unchanged

control-plane-kubeadm: v1.0.0 to v1.1.0 in control-plane-kubeadm-system
  update Deployment control-plane-kubeadm-system/control-plane-kubeadm-manager
    ~ image control-plane-kubeadm: v1.0.0 to v1.1.0
  3 unchanged

infrastructure-own: v1.0.0 to v1.1.0 in infrastructure-own-system
  update Deployment infrastructure-own-system/infrastructure-own-manager
    ~ image infrastructure-own: v1.0.0 to v1.1.0
  4 unchanged

objects: 4 to update
`!` marks stricter validation; `--diff=full` shows every line

"#]]
    );
    let full = lab.done(&format!("{UPGRADE} --diff=full")).stdout;
    assert!(full.contains("image: registry.example.com/cluster-api:v1.1.0\n"), "{full}");
    let report = json(&lab.done(&format!("{UPGRADE} --diff -o json")).stdout);
    let steps = report["providers"][0]["steps"].as_array().unwrap();
    let deployment = steps.iter().find(|step| step["object"]["kind"] == "Deployment").unwrap();
    assert_eq!(deployment["changes"][0]["part"], "image");
    assert_eq!(deployment["changes"][0]["after"], "registry.example.com/cluster-api:v1.1.0");
    assert!(deployment["diff"].as_str().unwrap().starts_with("@@ "));
    let unknown = lab.run(&format!("{UPGRADE} --diff=some"));
    assert_eq!((unknown.status, unknown.stdout.as_str()), (1, ""), "{unknown}");
}

#[test]
fn the_diff_of_a_first_installation_includes_cert_manager() {
    let lab = Lab::start(&[]);
    assert_data_eq!(
        lab.done(&format!("{INIT} --diff")).stdout,
        str![[r#"
cert-manager: install v1.0.0
  create Deployment cert-manager/cert-manager-manager
    + image of manager: registry.example.com/cert-manager:v1.0.0
  create ClusterRole cert-manager-manager
    + permission to get secrets
  create CustomResourceDefinition issuers.cert-manager.io
    + version v1: served, storage
  create CustomResourceDefinition certificates.cert-manager.io
    + version v1: served, storage
  create Namespace cert-manager
  create Secret cert-manager/cert-manager-credentials

cluster-api: install v1.0.0 in cluster-api-system
  create Deployment cluster-api-system/cluster-api-manager
    + image of manager: registry.example.com/cluster-api:v1.0.0
  create ClusterRole cluster-api-manager
    + permission to get secrets
  create CustomResourceDefinition clusters.cluster.x-k8s.io
    + version v1beta2: served, storage
  create Namespace cluster-api-system
  create Secret cluster-api-system/cluster-api-credentials

bootstrap-kubeadm: install v1.0.0 in bootstrap-kubeadm-system
  create Deployment bootstrap-kubeadm-system/bootstrap-kubeadm-manager
    + image of manager: registry.example.com/bootstrap-kubeadm:v1.0.0
  create ClusterRole bootstrap-kubeadm-manager
    + permission to get secrets
  create Namespace bootstrap-kubeadm-system
  create Secret bootstrap-kubeadm-system/bootstrap-kubeadm-credentials

control-plane-kubeadm: install v1.0.0 in control-plane-kubeadm-system
  create Deployment control-plane-kubeadm-system/control-plane-kubeadm-manager
    + image of manager: registry.example.com/control-plane-kubeadm:v1.0.0
  create ClusterRole control-plane-kubeadm-manager
    + permission to get secrets
  create Namespace control-plane-kubeadm-system
  create Secret control-plane-kubeadm-system/control-plane-kubeadm-credentials

infrastructure-own: install v1.0.0 in infrastructure-own-system
  create Deployment infrastructure-own-system/infrastructure-own-manager
    + image of manager: registry.example.com/infrastructure-own:v1.0.0
  create ClusterRole infrastructure-own-manager
    + permission to get secrets
  create CustomResourceDefinition ownclusters.infrastructure.cluster.x-k8s.io
    + version v1beta2: served, storage
  create Namespace infrastructure-own-system
  create Secret infrastructure-own-system/infrastructure-own-credentials

objects: 24 to create
`!` marks stricter validation; `--diff=full` shows every line

"#]]
    );
    let report = json(&lab.done(&format!("{INIT} --dry-run -o json")).stdout);
    let steps = report["certManager"]["steps"].as_array().unwrap();
    assert_eq!(steps.iter().filter(|step| step["action"] == "create").count(), steps.len());
    assert!(steps.iter().any(|step| step["object"]["kind"] == "Deployment"), "{report}");
}

#[test]
fn dry_runs_of_an_unfinished_upgrade_write_nothing() {
    let lab = cut_off();
    let before = lab.writes();
    let state = lab.done("status -o json").stdout;

    let resume = json(&lab.done("upgrade resume --dry-run -o json").stdout);
    assert_eq!((&resume["command"], &resume["carriedOut"]), (&"upgrade resume".into(), &false.into()));
    assert_eq!(resume["providers"][3]["to"], "v1.1.0");
    let rollback = json(&lab.done("upgrade rollback --dry-run -o json").stdout);
    assert_eq!((&rollback["command"], &rollback["carriedOut"]), (&"upgrade rollback".into(), &false.into()));
    assert_eq!(rollback["providers"][3]["to"], "v1.0.0");
    let abort = json(&lab.done("upgrade abort --dry-run -o json").stdout);
    assert_eq!(abort["carriedOut"], false);
    assert_eq!(abort["upgrade"]["providers"][0]["done"], true);
    let rollback = json(&lab.done("upgrade rollback --diff -o json").stdout);
    let steps = rollback["providers"][3]["steps"].as_array().unwrap();
    let deployment = steps.iter().find(|step| step["object"]["kind"] == "Deployment").unwrap();
    assert_eq!(deployment["changes"][0]["after"], "registry.example.com/cluster-api:v1.0.0");
    assert_data_eq!(
        lab.done("upgrade abort --dry-run").to_string(),
        str![[r#"
exit 0
--- stdout
would forget the upgrade started at [..]:
  cluster-api: v1.0.0 to v1.1.0, done
  bootstrap-kubeadm: v1.0.0 to v1.1.0
  control-plane-kubeadm: v1.0.0 to v1.1.0
  infrastructure-own: v1.0.0 to v1.1.0

"#]]
    );

    assert_eq!(lab.writes(), before);
    assert_eq!(lab.done("status -o json").stdout, state);
}

#[test]
fn unfinished_upgrades_are_reported_as_json() {
    let lab = cut_off();
    let resumed = json(&lab.done("upgrade resume -o json").stdout);
    assert_eq!((&resumed["command"], &resumed["carriedOut"]), (&"upgrade resume".into(), &true.into()));
    let back = json(&lab.done("upgrade rollback -o json").stdout);
    assert_eq!((&back["command"], &back["carriedOut"]), (&"upgrade rollback".into(), &true.into()));
    assert_eq!(back["providers"][3]["to"], "v1.0.0");
    let cut = interrupted(&lab, UPGRADE, "Installing provider=\"bootstrap-kubeadm\"");
    assert_eq!(cut.status, 130, "{cut}");
    let forgotten = json(&lab.done("upgrade abort -o json").stdout);
    assert_eq!(forgotten["carriedOut"], true);
    let none = lab.run("upgrade abort --dry-run -o json");
    assert_eq!((none.status, none.stdout.as_str()), (1, ""), "{none}");
}

// Row: D-326
#[test]
fn every_writing_command_ends_with_its_result() {
    let lab = Lab::start(&[]);
    let results = [
        "delete --all",
        INIT,
        INIT,
        UPGRADE,
        UPGRADE,
        "upgrade rollback",
        "delete --infrastructure own",
        "delete --all",
        "delete --all",
    ]
    .map(|arguments| closing(&lab, arguments));
    assert_data_eq!(
        results.concat(),
        str![[r#"
done in [..]: nothing to delete
done in [..]: installed cert-manager v1.0.0 and 4 providers; 24 objects created
done in [..]: nothing to install
done in [..]: upgraded 4 providers; 4 objects changed
done in [..]: nothing to upgrade
done in [..]: rolled back 4 providers; 14 objects changed
done in [..]: deleted 1 provider; 3 objects deleted
done in [..]: deleted 3 providers; 9 objects deleted
done in [..]: nothing to delete

"#]]
    );
    let quiet = lab.done("delete --all --quiet");
    assert_eq!((quiet.stdout.as_str(), quiet.stderr.as_str()), ("", ""));
    let scripts = lab.done("delete --all --progress json");
    let last = json(scripts.stderr.lines().last().unwrap());
    assert_eq!(last["event"], "done");
    assert_data_eq!(last["text"].as_str().unwrap(), str!["nothing to delete"]);
    assert!(last["milliseconds"].is_u64(), "{scripts}");
}

// Row: D-328
#[test]
fn progress_counts_providers_and_their_objects() {
    let lab = Lab::start(&[]);
    lab.done(INIT);
    let steps = lab.done(&format!("{UPGRADE} --progress json")).stderr;
    let steps: Vec<serde_json::Value> = steps.lines().map(json).collect();
    let last = steps.iter().rfind(|line| line["step"] == "applied").unwrap();
    assert_eq!((&last["counts"]["number"], &last["counts"]["of"]), (&4.into(), &4.into()));
}

/// Returns the steps of a report: the action, and the object as `resource namespace/name`.
fn steps(report: &serde_json::Value) -> Vec<(String, String)> {
    let steps = |owner: &serde_json::Value| owner["steps"].as_array().cloned().unwrap_or_default();
    let providers = report["providers"].as_array().unwrap().iter().flat_map(steps);
    let reported = |step: serde_json::Value| {
        let text = |field: &str| step["object"][field].as_str().unwrap_or_default();
        let resource = format!("{}s", text("kind").to_lowercase());
        let object = format!("{resource} {}/{}", text("namespace"), text("name"));
        (step["action"].as_str().unwrap().to_owned(), object)
    };
    steps(&report["certManager"]).into_iter().chain(providers).map(reported).collect()
}

/// Converts a logged request to the form of steps, from `patch /apis/apps/v1/namespaces/ns/deployments/a?force=true`.
/// `None` for a record of the program itself.
fn written(request: &str) -> Option<(String, String)> {
    let (verb, path) = request.split_once(' ').unwrap();
    let path = path.split('?').next().unwrap().trim_start_matches("/apis/").trim_start_matches("/api/");
    let parts: Vec<&str> = path.split('/').collect();
    let (namespace, rest) = match parts.iter().position(|part| *part == "namespaces") {
        Some(at) if parts.len() > at + 2 => (parts[at + 1], &parts[at + 2..]),
        Some(at) => ("", &parts[at..]),
        None => ("", &parts[parts.len() - 2..]),
    };
    let (resource, name) = (rest[0], rest.get(1).copied().unwrap_or_default());
    let is_own = matches!(resource, "leases" | "providers")
        || name == "providers.clusterctl.cluster.x-k8s.io"
        || resource == "configmaps" && name.starts_with("capstan.")
        || resource == "secrets" && (name.is_empty() || name.starts_with("capstan-upgrade"));
    (!is_own).then(|| (verb.to_owned(), format!("{resource} {namespace}/{name}")))
}

#[test]
fn every_write_was_planned() {
    let lab = Lab::start(&[]);
    let deployment = "/apis/apps/v1/namespaces/cluster-api-system/deployments/cluster-api-manager";
    for verb in [
        INIT,
        INIT,
        UPGRADE,
        "upgrade rollback",
        UPGRADE,
        "delete --all",
        INIT,
        "delete --all --include-crd --include-namespace",
    ] {
        let deleted =
            (verb == "delete --all").then_some("deployments cluster-api-system/cluster-api-manager");
        if deleted.is_some() {
            assert_eq!(lab.send("DELETE", deployment, ""), 200);
        }
        let planned = steps(&json(&lab.done(&format!("{verb} --dry-run -o json")).stdout));
        let before = lab.writes().len();
        let done = steps(&json(&lab.done(&format!("{verb} -o json")).stdout));
        assert_eq!(planned, done, "{verb}");
        let mut writes: Vec<_> =
            lab.writes()[before..].iter().filter_map(|request| written(request)).collect();
        let request_of = |(action, object): &(String, String)| {
            let request = match action.as_str() {
                "create" | "update" | "adopt" => "patch",
                "delete" if deleted == Some(object.as_str()) => None?,
                "delete" => "delete",
                _ => None?,
            };
            Some((request.to_owned(), object.clone()))
        };
        let mut expected: Vec<_> = planned.iter().filter_map(request_of).collect();
        writes.sort();
        expected.sort();
        assert_eq!(writes, expected, "{verb}");
    }
}
