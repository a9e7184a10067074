//! Tests of kustomizations over the providers of a management cluster.
#![cfg(unix)]

use serde_json::Value;

use crate::{
    customise::{HOME, with_layer},
    lab::Lab,
    lifecycle::{INIT, interrupted},
};

fn map(name: &str) -> String {
    format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}}}\n")
}

/// Returns the status code of a request for a ConfigMap in the namespace of a provider.
fn status(lab: &Lab, provider: &str, name: &str) -> u16 {
    lab.send("GET", &format!("/api/v1/namespaces/{provider}-system/configmaps/{name}"), "")
}

// Row: D-231
#[test]
fn an_installation_is_customised_and_stays_so_with_the_next_release() {
    let lab = Lab::start(&[]);
    let layer = |text: &str| lab.world().write(format!("{HOME}/layer/kustomization.yaml"), text);
    lab.world().write(format!("{HOME}/layer/first.yaml"), map("first"));
    lab.world().write(format!("{HOME}/layer/second.yaml"), map("second"));
    lab.world().write("mine/kustomization.yaml", "resources: [mine.yaml]\n");
    lab.world().write("mine/mine.yaml", map("mine"));
    lab.world().configure(with_layer());
    layer("resources: [first.yaml]\n");
    let init = format!("{INIT} --kustomization bootstrap-kubeadm=mine");
    let plan = lab.done(&format!("plan {init}")).stdout;
    assert!(plan.contains("-system\n  kustomization: mine\n"), "{plan}");
    assert!(plan.contains("-system\n  kustomization: [HOME]/.config/cluster-api/layer\n"), "{plan}");
    assert_eq!(plan.matches("kustomization:").count(), 2, "{plan}");
    lab.done(&init);
    let own = |name| status(&lab, "infrastructure-own", name);
    assert_eq!((own("first"), status(&lab, "bootstrap-kubeadm", "mine")), (200, 200));
    layer("resources: [first.yaml, second.yaml]\n");
    let outlook = lab.done("upgrade plan");
    let named = "\nKustomizations are laid over: infrastructure-own ([HOME]/.config/cluster-api/layer)\n";
    assert!(outlook.stdout.ends_with(named), "{outlook}");
    let done: Value = serde_json::from_str(&lab.done("upgrade apply -i own:v1.1.0 -o json").stdout).unwrap();
    assert_eq!(done["providers"][0]["kustomization"], "[HOME]/.config/cluster-api/layer");
    assert_eq!((own("first"), own("second")), (200, 200));
}

#[test]
fn a_saved_plan_is_carried_out_with_the_kustomization_it_was_made_with() {
    let lab = Lab::start(&[]);
    let layer = |folder: &str, name: &str| {
        lab.world().write(format!("{folder}/kustomization.yaml"), "resources: [map.yaml]\n");
        lab.world().write(format!("{folder}/map.yaml"), map(name));
    };
    let own = |name| status(&lab, "infrastructure-own", name);
    let other_folder = lab.world().current_dir().join("other");
    std::fs::create_dir(&other_folder).unwrap();
    let carried_out = |arguments: &str| {
        let run = lab.run_in(&other_folder, arguments);
        assert!(run.status.success(), "{arguments}\n{}", String::from_utf8_lossy(&run.stderr));
    };
    layer("mine", "mine");
    layer(&format!("{HOME}/layer"), "configured");
    lab.world().configure(with_layer());
    lab.done(&format!("{INIT} --kustomization own=mine --out plan.json"));
    carried_out("init --plan ../plan.json");
    assert_eq!((own("mine"), own("configured")), (200, 404));

    lab.done("upgrade apply -i own:v1.1.0 --kustomization mine --out plan.json");
    layer("mine", "changed");
    let changed = lab.run("upgrade apply --plan plan.json");
    assert!(changed.status != 0 && changed.stderr.contains("the plan no longer holds"), "{changed}");
    std::fs::remove_dir_all(lab.world().current_dir().join("mine")).unwrap();
    layer("moved", "mine");
    carried_out("upgrade apply --plan ../plan.json --kustomization own=../moved");
    assert_eq!((own("mine"), own("configured"), own("changed")), (200, 404, 404));
}

#[test]
fn an_upgrade_goes_on_with_the_kustomization_it_was_begun_with_and_not_without_any() {
    let lab = Lab::start(&["--fault", "latency:40ms"]);
    lab.world().write("mine/kustomization.yaml", "resources: [map.yaml]\n");
    lab.world().write("mine/map.yaml", map("mine"));
    lab.done(INIT);
    let upgrade = "upgrade apply --contract v1beta2 --kustomization own=mine";
    let (code, rest) = interrupted(&lab, upgrade, "Installing provider=\"bootstrap-kubeadm\"");
    assert_eq!(code, Some(130), "{rest}");
    for without in ["upgrade resume", "upgrade apply --contract v1beta2"] {
        let refused = lab.run(without);
        assert!(
            refused
                .stderr
                .contains(" cannot go on without the kustomization `mine` of `infrastructure-own`\n"),
            "{refused}"
        );
        assert!(refused.stderr.contains("`--kustomization infrastructure-own=DIR`"), "{refused}");
    }
    lab.done("upgrade resume --kustomization own=mine");
    assert_eq!(status(&lab, "infrastructure-own", "mine"), 200);
}
