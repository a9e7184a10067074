//! Tests of every verb through the built binary: both streams and the exit status.
//! `SNAPSHOTS=overwrite cargo test -p capstan` rewrites the expected texts. Review the difference before you keep it.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod backup_files;
mod backups;
mod catalog;
mod catalog_apply;
mod catalog_authors;
mod catalog_cluster;
mod catalog_component;
mod catalog_delete;
mod catalog_hierarchies;
mod catalog_hooks;
mod catalog_lint;
mod catalog_login;
mod catalog_package;
mod catalog_remote;
mod catalog_results;
mod catalog_sync;
mod catalog_updates;
mod chart_bundles;
mod chart_cluster;
mod chart_lint;
mod chart_locks;
mod chart_sources;
mod charts;
mod clusterctl_files;
mod completion;
mod component_apply;
mod component_cases;
mod component_corpus;
mod component_explain;
mod component_render;
mod component_templates;
mod component_turns;
mod components;
mod config_repositories;
mod configuration;
mod controller;
mod controller_install;
mod controller_turns;
mod convert;
mod customise;
mod customise_cluster;
mod customise_remote;
mod deletion;
mod describe;
mod describe_watch;
mod directories;
mod errors_as_json;
mod explain;
mod generate_cluster;
mod generate_provider;
mod generate_yaml;
mod get_clusters;
mod get_kubeconfig;
mod graph;
mod help;
mod hostile;
mod in_process;
mod init_labels;
mod init_list_images;
mod init_sandbox;
mod interrupt;
mod kustomize;
mod lifecycle;
mod lifecycle_interrupted;
mod lifecycle_refused;
mod lock;
mod move_leases;
mod moves;
mod moves_refused;
mod plans;
mod plugin;
mod provider_add;
mod provider_list;
mod provider_remove;
mod provider_show;
mod quickstart;
mod render;
mod repository;
mod restores;
mod rollout;
mod sandbox;
mod sandbox_controller;
mod sandbox_trouble;
mod self_check;
mod status;
mod streams;
mod suggestions;
mod terminal;
mod testing;
mod usage;
mod version;

use support::binary::TestEnvironment;

fn world() -> TestEnvironment {
    TestEnvironment::new(env!("CARGO_BIN_EXE_capstan"))
}

#[test]
fn every_test_file_is_a_module() {
    let list = include_str!("main.rs");
    for entry in std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/tests")).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        let module = name.trim_end_matches(".rs");
        let has_own_target = entry.path().join("main.rs").exists();
        assert!(
            module == "main" || has_own_target || list.contains(&format!("mod {module};")),
            "{name} is not listed in main.rs"
        );
    }
}
