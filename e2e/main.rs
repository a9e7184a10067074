//! User journeys with the built binary.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod api_proxy;
mod bundle;
mod cache;
mod component_troubles;
mod components;
mod controller;
mod controller_faults;
mod controller_states;
mod corpus;
mod first_cluster;
mod git;
mod hosts;
mod kustomize;
mod line;
mod management;
mod moves;
mod real;
mod registry;
mod server;

use std::path::PathBuf;

use support::binary::TestEnvironment;

/// The repository of a provider.
const REPOSITORY: &str = "kubernetes-sigs/cluster-api-provider-aws";
/// The smallest valid metadata and components.
const METADATA: &str = "apiVersion: clusterctl.cluster.x-k8s.io/v1alpha3
kind: Metadata
releaseSeries: [{major: 2, minor: 0, contract: v1beta1}, {major: 2, minor: 1, contract: v1beta2}]
";
const COMPONENTS: &str = "apiVersion: v1
kind: Namespace
metadata: {name: capa-system}
";

fn world() -> TestEnvironment {
    TestEnvironment::new(env!("CARGO_BIN_EXE_capstan"))
}

/// Resolves a path from the root of the project.
fn project(path: &str) -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join(path)
}
