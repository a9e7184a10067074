//! A site with a link to a lab only. Packets to any other address are counted.

use std::{path::Path, process::Stdio};

use support::{
    api_server::{ApiServer, ApiServerSource},
    binary::TestEnvironment,
    closed_site::ClosedSite,
    registry::{PROGRAM, Registry, RegistryAccess, RegistryTransport},
    skip::{TestRequirement, program},
};

use super::{AT_THE_SITE, AWS, CONNECTED, carry, connected, internet, run};

/// A real API server in the site, a registry in the lab, and both bundles.
struct Site {
    world: TestEnvironment,
    // Dropped before the networks of the server and the registry.
    _server: ApiServer,
    registry: Registry,
    networks: ClosedSite,
    /// The rendered template of the first bundle, created with a connection.
    generated: String,
}

impl Site {
    /// `None` if this machine cannot create the networks or lacks a program.
    fn build() -> Option<Self> {
        let Ok(networks) = ClosedSite::build() else { return skipped(TestRequirement::ClosedNetworks) };
        let Some(ApiServerSource::Bundle(server)) = ApiServerSource::find() else {
            return skipped(TestRequirement::ApiServer);
        };
        // The wrapper script always exists, so the program itself is checked.
        program(PROGRAM)?;
        let program = networks.lab_program(Path::new(PROGRAM));
        let registry = Registry::start_at(
            ClosedSite::LAB_ADDRESS,
            &program,
            RegistryTransport::Tls,
            RegistryAccess::PasswordRequired,
        )?;
        let server = ApiServer::start(&ApiServerSource::Bundle(networks.program(&server))).unwrap();

        let host = internet();
        let outside = connected(&host);
        for line in CONNECTED {
            run(&outside, line, &[]);
        }
        let reference = format!("aws:{}", AWS[0]);
        let rest = ["--kubernetes-version", "v1.35.0", "-n", "default", "--lock", "off"];
        let generated = outside.run(["generate", "cluster", "demo", "-i", &reference].iter().chain(&rest));

        let world = TestEnvironment::new(networks.program(Path::new(env!("CARGO_BIN_EXE_capstan"))));
        carry(&outside, &world, "lab.tar");
        carry(&outside, &world, "newer.tar");
        let ca = world.write("ca.pem", registry.ca_pem());
        // The credentials `ann:hunter2`, as written by `docker login`.
        let auths = format!("{{\"auths\": {{\"{}\": {{\"auth\": \"YW5uOmh1bnRlcjI=\"}}}}}}", registry.host());
        let docker = world.write("docker/config.json", auths).parent().unwrap().to_owned();
        let world = world.env("SSL_CERT_FILE", ca).env("DOCKER_CONFIG", docker);
        let variables = ["SANDBOX_ENDPOINT", "SANDBOX_REGION", "SANDBOX_MACHINE_TYPE"];
        let world = variables.into_iter().fold(world, |world, name| world.env(name, "x"));
        let world = world.env("KUBECONFIG", server.kubeconfig());
        Some(Self { world, _server: server, registry, networks, generated: generated.stdout })
    }

    /// Runs the steps of the guide for a folder, from the first check to the upgrade, with replacements for some paths.
    fn follow_the_guide(&self, places: &[(&str, &str)]) {
        // The server has no kubelet, so nothing becomes ready. Only the network prevents connections, not `--offline`.
        let here = [
            ("capstan init ", "capstan init --no-wait "),
            ("apply ", "apply --no-wait "),
            (" --offline", ""),
        ];
        let places = [&here, places].concat();
        let of_folder = |line: &&str| !line.contains("registry") && !line.contains("list-images");
        for line in AT_THE_SITE.into_iter().filter(of_folder) {
            let outcome = run(&self.world, line, &places);
            if line.contains("generate cluster") {
                assert_eq!(outcome.stdout, self.generated);
            }
        }
        let status = self.world.run(["status"]);
        assert!(status.stdout.contains(AWS[1]) && !status.stdout.contains(AWS[0]), "{status}");
    }

    /// Checks that a packet to another address is counted. Otherwise the zero counts would prove nothing.
    fn speaks_to_somebody_else_and_is_noticed(&self) {
        let words = ["bundle", "load", "lab.tar", "--to-registry", "oci://192.0.2.1/capi"];
        let mut command = self.world.command(words);
        let mut child =
            command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        while self.networks.sent_elsewhere() == 0 && child.try_wait().unwrap().is_none() {
            std::thread::yield_now();
        }
        let _ = child.kill();
        child.wait().unwrap();
        assert_ne!(self.networks.sent_elsewhere(), 0);
    }
}

fn skipped(need: TestRequirement) -> Option<Site> {
    need.skip();
    None
}

// Row: PRV-85, D-215
#[test]
fn an_air_gapped_site_with_a_folder_sends_no_requests() {
    let Some(site) = Site::build() else { return };
    site.follow_the_guide(&[("/srv/capi", "capi")]);
    assert_eq!((site.networks.sent_elsewhere(), site.networks.sent_to_lab()), (0, 0));
    site.speaks_to_somebody_else_and_is_noticed();
}

// Row: PRV-85, D-215
#[test]
fn an_air_gapped_site_with_a_registry_uses_only_it() {
    let Some(site) = Site::build() else { return };
    let target = format!("--to-registry oci://{}/capi > clusterctl.yaml", site.registry.host());
    site.follow_the_guide(&[
        ("--to-folder /srv/capi", &target),
        ("/srv/capi/clusterctl.yaml", "clusterctl.yaml"),
        // A lock is loaded only into a folder.
        (" --locked", ""),
    ]);
    assert_eq!(site.networks.sent_elsewhere(), 0);
    assert_ne!(site.networks.sent_to_lab(), 0);
    site.speaks_to_somebody_else_and_is_noticed();
}
