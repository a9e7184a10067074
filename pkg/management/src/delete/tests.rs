mod server;

use inventory::ProviderInventory;
use provider::InstalledProvider;
use snapbox::{assert_data_eq, str};

use super::*;
use crate::testing::{asked, bootstrap, control_plane, core, docker, installed};

fn inventory(providers: Vec<InstalledProvider>) -> ProviderInventory {
    ProviderInventory { providers, is_defined: true, ..ProviderInventory::default() }
}

fn all() -> ProviderInventory {
    let ids = [core(), docker(), bootstrap(), control_plane()];
    inventory(ids.iter().map(|id| installed(id, "v1.14.0")).collect())
}

fn labels(chosen: &[InstalledProvider]) -> Vec<String> {
    chosen.iter().map(|one| one.id.label()).collect()
}

// Row: D-118
#[test]
fn providers_are_deleted_in_reverse_installation_order() {
    let everything = ["infrastructure-docker", "control-plane-kubeadm", "bootstrap-kubeadm", "cluster-api"];
    assert_eq!(labels(&choose_providers(&all(), None).unwrap()), everything);
    let request = asked(&[(core(), ""), (core(), ""), (docker(), "v1.14.0")]);
    assert_eq!(
        labels(&choose_providers(&all(), Some(&request)).unwrap()),
        ["infrastructure-docker", "cluster-api"],
        "core last, each once"
    );
}

// Row: D-123
#[test]
fn unknown_providers_are_reported_with_the_installed_ones() {
    let mut inventory = all();
    inventory.providers.remove(2);
    inventory
        .providers
        .push(InstalledProvider { namespace: "other".to_owned(), ..installed(&docker(), "v1.14.0") });
    let request = asked(&[(bootstrap(), ""), (docker(), ""), (core(), "v1.13.5"), (control_plane(), "")]);
    let error = choose_providers(&inventory, Some(&request)).unwrap_err();
    let DeleteError::UnknownProviders { providers, installed } = error else { panic!("{error}") };
    assert_data_eq!(
        providers.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"),
        str![[r#"
`bootstrap-kubeadm` is not installed
`infrastructure-docker` is installed in several namespaces: `infrastructure-docker-system`, `other`
`cluster-api` has version v1.14.0, not v1.13.5
"#]]
    );
    assert_eq!(installed[0], "cluster-api-system/cluster-api v1.14.0");
    assert_eq!(installed.len(), 4);
}

#[test]
fn nothing_installed_is_nothing_to_delete() {
    assert_eq!(choose_providers(&ProviderInventory::default(), None).unwrap(), []);
}
