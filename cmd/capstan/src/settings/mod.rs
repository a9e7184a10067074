//! The settings of a run: flags override the environment, which overrides clusterctl.yaml, which overrides defaults.
//!
//! ```text
//! --config PATH|URL ─┐
//!                    ├─► one ConfigFile, or none ─► provider::config (keys, coercion) ─► Config
//! folders × endings ─┘
//! --kubeconfig, --kubeconfig-context, KUBECONFIG ─► KubeContext, Credentials ─► ManagementCluster
//! ```
//!
//! Reading settings creates no folders and leaves no files.

mod configuration;
mod file_lock;
mod globals;
mod kubeconfig;
mod kubeconfig_merge;
mod lease;
mod lock;
mod management_cluster;
mod output_format;
mod repositories;
mod workload_context;
mod workload_merge;
mod xdg;

pub(crate) use configuration::{
    ConfigCandidate, ConfigSource, config_candidates, config_source, load_config, read_config_file, verbosity,
};
pub(crate) use globals::{
    CHART_SOURCE, CHART_VALUES, CLUSTER, CUSTOMISATION, GLOBAL, Globals, OTHER_RUNS, PLAN, WAITING,
};
pub(crate) use kubeconfig::{KubeContext, KubeFlags, KubeconfigError, default_kubeconfigs};
pub(crate) use kubeconfig_merge::{merge_kubeconfig, unmerge_kubeconfig};
pub(crate) use lease::{LeaseFlags, UnfinishedFlags, lease_request, release};
pub(crate) use lock::{chart_folder, lock_file, lock_settings, read_lock};
pub(crate) use management_cluster::{
    PaceFlags, ServerFlags, completion_cluster, controller_cluster, management_cluster,
    management_cluster_hiding_warnings, optional_management_cluster, watched_management_cluster,
};
pub(crate) use output_format::{OutputFlag, OutputFormat, to_json, to_yaml};
pub(crate) use repositories::{config_repositories, overrides, repositories};
pub(crate) use workload_context::{UnsafeFields, WorkloadContext};
pub(crate) use workload_merge::merge_workload;
pub(crate) use xdg::{cache_home, config_home, state_home};
