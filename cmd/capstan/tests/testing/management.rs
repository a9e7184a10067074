//! A management cluster with objects of Cluster API, for verbs that use them.
#![cfg(unix)]

use std::process::{Child, Stdio};

use support::{
    binary::{RunOutput, TestEnvironment},
    cluster_api,
    fixture::{Fixture, FixtureBuilder},
};

/// A sandbox in this process, and a world whose environment points to the sandbox.
/// Tests need several threads, because one thread waits for the binary.
pub(crate) struct Management {
    pub(crate) fixture: Fixture,
    world: TestEnvironment,
}

impl Management {
    pub(crate) async fn start(builder: FixtureBuilder) -> Self {
        let fixture = builder.start().await;
        cluster_api::install(&fixture).await;
        let world = crate::world().env("KUBECONFIG", fixture.kubeconfig().await.as_os_str());
        Self { fixture, world }
    }

    pub(crate) fn world(&self) -> &TestEnvironment {
        &self.world
    }

    pub(crate) fn run(&self, arguments: &str) -> RunOutput {
        self.world.run(arguments.split_whitespace())
    }

    pub(crate) fn spawn(&self, arguments: &str) -> Child {
        let mut command = self.world.command(arguments.split_whitespace());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }
}

/// Returns a Component in the namespace `default` with a Blueprint of one manifest. `spec` continues its spec.
pub(crate) fn blueprint_component(name: &str, spec: &str, manifest: &str) -> String {
    let metadata = format!("metadata: {{name: {name}, namespace: default}}");
    format!(
        "---
apiVersion: core.cs.sap.com/v1alpha1
kind: Blueprint
{metadata}
spec: {{files: {{a.yaml: {manifest:?}}}}}
---
apiVersion: core.cs.sap.com/v1alpha1
kind: Component
{metadata}
spec: {{sourceRef: {{blueprint: {{name: {name}}}}}{spec}}}
"
    )
}
