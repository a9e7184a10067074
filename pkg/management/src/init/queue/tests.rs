use ProviderType::{Bootstrap, ControlPlane};
use snapbox::{assert_data_eq, str};

use super::*;
use crate::{
    WaitOptions,
    testing::{
        NEW_VERSION, OLD_VERSION, Releases, asked, bootstrap, control_plane, core, docker, init_of, installed,
    },
};

fn request(providers: &[(ProviderId, &str)], declined: &[ProviderType]) -> InitRequest {
    let wait = WaitOptions { timeout: None, must_be_ready: false };
    InitRequest { declined: declined.to_vec(), ..init_of(providers, wait) }
}

fn inventory(providers: &[ProviderId]) -> ProviderInventory {
    let providers = providers.iter().map(|id| installed(id, OLD_VERSION)).collect();
    ProviderInventory { providers, is_defined: true, ..ProviderInventory::default() }
}

fn chosen(inventory: &ProviderInventory, request: &InitRequest) -> Vec<String> {
    let short = |wanted: WantedProvider| match wanted.version {
        Some(version) => format!("{}:{version}", wanted.id),
        None => wanted.id.to_string(),
    };
    select_providers(inventory, request).wanted.into_iter().map(short).collect()
}

#[test]
fn a_first_installation_adds_default_providers() {
    let talos = ProviderId::new(Bootstrap, "talos");
    let cases = [
        (request(&[], &[]), "cluster-api bootstrap-kubeadm control-plane-kubeadm"),
        (
            request(&[(docker(), ""), (core(), OLD_VERSION)], &[]),
            "cluster-api:v1.13.5 bootstrap-kubeadm control-plane-kubeadm infrastructure-docker",
        ),
        (request(&[], &[Bootstrap]), "cluster-api control-plane-kubeadm"),
        (request(&[], &[Bootstrap, ControlPlane]), "cluster-api"),
        (request(&[(talos.clone(), "")], &[]), "cluster-api bootstrap-talos control-plane-kubeadm"),
        (request(&[(talos, "")], &[Bootstrap]), "cluster-api bootstrap-talos control-plane-kubeadm"),
    ];
    for (request, expected) in cases {
        assert_eq!(chosen(&inventory(&[]), &request).join(" "), expected);
        assert_eq!(chosen(&ProviderInventory::default(), &request).join(" "), expected);
    }
}

#[test]
fn a_later_installation_adds_no_providers() {
    let complete = inventory(&[core(), bootstrap(), control_plane()]);
    assert_eq!(chosen(&complete, &request(&[], &[])), [""; 0]);
    assert_eq!(
        chosen(&complete, &request(&[(docker(), NEW_VERSION)], &[])),
        ["infrastructure-docker:v1.14.0"]
    );
    assert!(!is_first_installation(&complete));
}

#[test]
fn an_unfinished_installation_is_completed_with_its_own_versions() {
    let begun = [core(), bootstrap(), docker()].map(|id| installed(&id, OLD_VERSION));
    let mut inventory = inventory(&[core()]);
    inventory.unfinished = Some(begun.to_vec());
    assert!(is_first_installation(&inventory));
    let all = "cluster-api:v1.13.5 bootstrap-kubeadm:v1.13.5 infrastructure-docker:v1.13.5";
    for same in [
        request(&[], &[]),
        request(&[(docker(), "")], &[]),
        request(&[(docker(), OLD_VERSION)], &[ControlPlane]),
    ] {
        let selection = select_providers(&inventory, &same);
        assert_eq!(chosen(&inventory, &same).join(" "), all);
        assert_eq!(selection.warnings, [""; 0]);
        assert_eq!(selection.wanted[2].namespace.as_deref(), Some("infrastructure-docker-system"));
    }
}

#[test]
fn a_new_selection_wins_and_warns_about_the_abandoned_providers() {
    let mut inventory = inventory(&[core()]);
    inventory.unfinished = Some([core(), docker()].map(|id| installed(&id, OLD_VERSION)).to_vec());
    let aws = ProviderId::new(ProviderType::Infrastructure, "aws");
    let other = request(&[(aws, ""), (core(), NEW_VERSION)], &[]);
    assert_eq!(chosen(&inventory, &other), ["cluster-api:v1.14.0", "infrastructure-aws"]);
    assert_data_eq!(
        select_providers(&inventory, &other).warnings.join("\n"),
        str![
            "`infrastructure-docker` v1.13.5 in namespace `infrastructure-docker-system` is partly installed but not selected now; its objects stay"
        ]
    );
}

// Row: D-100
#[test]
fn an_interrupted_clusterctl_init_is_reported_with_completing_flags() {
    let warnings =
        |there: &[ProviderId], request: &InitRequest| select_providers(&inventory(there), request).warnings;
    assert_data_eq!(
        warnings(&[core()], &request(&[(docker(), "")], &[])).join("\n"),
        str![
            "the core provider is installed but no bootstrap or control plane provider is, as after an interrupted installation: complete it with `--bootstrap kubeadm --control-plane kubeadm`"
        ]
    );
    let one = warnings(&[core(), bootstrap()], &request(&[], &[]));
    assert_data_eq!(
        one.join("\n"),
        str![
            "the core provider is installed but no control plane provider is, as after an interrupted installation: complete it with `--control-plane kubeadm`"
        ]
    );
    for reported in
        [request(&[], &[Bootstrap, ControlPlane]), request(&[(bootstrap(), ""), (control_plane(), "")], &[])]
    {
        assert_eq!(warnings(&[core()], &reported), [""; 0]);
    }
}

#[tokio::test]
async fn installed_providers_are_dropped_unless_the_version_differs() {
    let releases = Releases::small();
    let asked = asked(&[(core(), OLD_VERSION), (docker(), NEW_VERSION)]);
    let rendered = releases.sources().render(&asked, None).await.unwrap();
    let left = |inventory: &ProviderInventory| {
        let left = drop_installed(inventory, &BTreeSet::new(), rendered.clone());
        left.into_iter().map(|provider| provider.id.to_string()).collect::<Vec<_>>()
    };
    let both = inventory(&[core(), docker()]);
    assert_eq!(left(&both), ["infrastructure-docker"]);
    assert_eq!(left(&inventory(&[])), ["cluster-api", "infrastructure-docker"]);
    let unfinished = ProviderInventory { unfinished: Some(vec![installed(&core(), OLD_VERSION)]), ..both };
    assert_eq!(left(&unfinished), ["cluster-api", "infrastructure-docker"]);
    let rest = without_queued(&unfinished, &rendered);
    assert_eq!(rest.providers, [installed(&docker(), OLD_VERSION)]);
}

#[test]
fn the_target_namespace_applies_to_all_providers() {
    let request = InitRequest { target_namespace: Some("all".to_owned()), ..request(&[], &[]) };
    let selection = select_providers(&ProviderInventory::default(), &request);
    assert!(selection.wanted.iter().all(|wanted| wanted.namespace.as_deref() == Some("all")));
}
