//! The trees in `fixtures`, each overlay with the output of kustomize v5.8.1, which equals that of kubectl v1.36.3.

use std::fs;
use std::path::{Path, PathBuf};

use snapbox::{assert_data_eq, str};

use super::corpus::read_folder;
use crate::{Build, BuildOptions, FetchResults, MemoryTree, TreePath};

fn folder_of(fixture: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(fixture)
}

fn build(fixture: &str, overlay: &str) -> Result<String, String> {
    let mut tree = MemoryTree::default();
    read_folder(&folder_of(fixture), &TreePath::new("/"), &mut tree);
    let build = Build { tree: &tree, fetch_results: &FetchResults::new(), options: BuildOptions::default() };
    build
        .run(&TreePath::new("/overlays").join(overlay))
        .map(|output| output.text())
        .map_err(|report| report.to_string())
}

fn assert_printed(fixture: &str, overlay: &str) -> String {
    let expected = folder_of(fixture).join("expected").join(overlay).with_extension("yaml");
    let (expected, text) = (fs::read_to_string(expected).unwrap(), build(fixture, overlay).unwrap());
    assert_eq!(text, expected, "{fixture}/{overlay}");
    text
}

// Row: KUS-04, KUS-32, KUS-40, KUS-44
#[test]
fn a_community_edition_is_a_base_with_a_database_and_without_robots() {
    let text = assert_printed("editions", "community");
    let hashed = text.lines().find_map(|line| line.strip_prefix("  name: settings-")).unwrap();
    assert!(text.contains(&format!("configMap:\n          name: settings-{hashed}\n")), "{text}");
}

// Row: KUS-34, KUS-41
#[test]
fn an_enterprise_edition_has_a_directory_instead() {
    assert_printed("editions", "enterprise");
}

// Row: KUS-42
#[test]
fn a_development_edition_omits_one_part() {
    assert_eq!(assert_printed("editions", "dev"), assert_printed("editions", "community"));
}

// Row: KUS-10
#[test]
fn the_part_that_is_listed_last_puts_its_volume_first() {
    let places =
        |text: &str| ["secretName: db-login", "secretName: robots"].map(|mark| text.find(mark).unwrap());
    let [database, robots] = places(&assert_printed("editions", "community"));
    assert!(robots < database);
    let [database, robots] = places(&assert_printed("editions", "community-reversed"));
    assert!(database < robots);
}

// Row: KUS-07, KUS-09, KUS-47
#[test]
fn parts_of_parts_on_overlays_of_overlays_come_together() {
    for overlay in ["dev-login", "dev-disk-login", "prod-login", "prod-disk-login", "both"] {
        assert_printed("composition", overlay);
    }
}

// Row: KUS-25
#[test]
fn two_parts_with_the_same_object_conflict() {
    let reported = build("composition", "clash").unwrap_err();
    assert_data_eq!(
        reported,
        str![
            "/overlays/clash/kustomization.yaml > /overlays/clash/again/kustomization.yaml: secretGenerator[0]: `Secret.v1.[noGrp]/login.[noNs]` already exists, from secretGenerator[0] in `/parts/login/kustomization.yaml`: set `behavior` to `merge` or `replace`"
        ]
    );
}
