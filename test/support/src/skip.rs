//! Tests that cannot run on this machine.

use std::{
    fs::OpenOptions,
    io::Write as _,
    path::{Path, PathBuf},
    thread,
};

/// The variable with the file that [`TestRequirement::skip`] appends to. `cargo xtask test` sets the variable and counts the
/// lines.
pub const RECORD_VARIABLE: &str = "CAPSTAN_TEST_SKIPPED";

/// A requirement of a test that a machine may not meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TestRequirement {
    /// A real Kubernetes API server.
    ApiServer,
    /// Networks without a route to the outside.
    ClosedNetworks,
    /// The IPv6 loopback address.
    Ipv6,
    /// A program, as [`program`] finds it.
    Program(&'static str),
    /// Releases of real providers, and the kustomizations of the reference corpus.
    Corpus,
    /// Recorded output of clusterctl and Go.
    Golden,
    /// A clusterctl binary to alternate with.
    Clusterctl,
}

impl TestRequirement {
    /// Records that the running test is skipped because of this requirement. Without a record file, prints a message
    /// that the test runner does not capture.
    ///
    /// # Panics
    /// Panics if the record cannot be written.
    #[expect(clippy::disallowed_methods, reason = "the runner of the tests says where the record is")]
    pub fn skip(self) {
        let thread = thread::current();
        let test = thread.name().unwrap_or("a test");
        let (name, remedy) = self.description();
        let reference = if self.is_reference() { "reference" } else { "machine" };
        let Some(record) = std::env::var_os(RECORD_VARIABLE) else {
            // The message is optional; a write error is ignored.
            let _ = writeln!(std::io::stderr(), "skipped: {test} needs {name} ({remedy})");
            return;
        };
        let file = OpenOptions::new().create(true).append(true).open(record);
        // A single write, because test binaries run concurrently.
        let line = format!("{reference}\t{name}\t{remedy}\t{test}\n");
        file.and_then(|mut file| file.write_all(line.as_bytes())).expect("the record can be written");
    }

    /// True for data that only the maintainers have.
    fn is_reference(self) -> bool {
        matches!(self, Self::Corpus | Self::Golden | Self::Clusterctl)
    }

    /// The name of the requirement, and a way to meet it.
    fn description(self) -> (&'static str, &'static str) {
        match self {
            Self::ApiServer => ("a Kubernetes API server", "cargo xtask apiserver"),
            Self::ClosedNetworks => ("networks of its own", "run as root, with iproute2"),
            Self::Ipv6 => ("a loopback address of IPv6", "enable IPv6"),
            Self::Program("kubectl") => ("kubectl", "cargo xtask apiserver"),
            Self::Program("node") => ("node", "apt-get install nodejs"),
            Self::Program(name) => (name, "apt-get install, under its own name"),
            Self::Corpus => ("the reference corpus", "CAPSTAN_CORPUS names its folder"),
            Self::Golden => ("the golden output of the reference release", "CAPSTAN_GOLDEN names its folder"),
            Self::Clusterctl => ("clusterctl v1.14.0", "CAPSTAN_TEST_PEER names the program"),
        }
    }
}

/// The reference corpus: `CAPSTAN_CORPUS`, else `../shared/corpus`. If missing, marks the running test as skipped.
pub fn corpus() -> Option<PathBuf> {
    folder("CAPSTAN_CORPUS", "corpus", TestRequirement::Corpus)
}

/// The golden output: `CAPSTAN_GOLDEN`, else `../shared/golden`. If missing, marks the running test as skipped.
pub fn golden() -> Option<PathBuf> {
    folder("CAPSTAN_GOLDEN", "golden", TestRequirement::Golden)
}

/// The path of a program in one of the [`program_folders`]. If the program is missing, the running test is skipped.
pub fn program(name: &'static str) -> Option<PathBuf> {
    let path = program_folders().into_iter().map(|folder| folder.join(name)).find(|path| path.is_file());
    if path.is_none() {
        TestRequirement::Program(name).skip();
    }
    path
}

/// The folders on the PATH, then the one of `cargo xtask apiserver`, which also builds kubectl.
#[expect(clippy::disallowed_methods, reason = "a test runs programs of this machine")]
pub fn program_folders() -> Vec<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).chain([built_programs()]).collect()
}

/// The folder with the programs that `cargo xtask apiserver` builds.
#[expect(clippy::disallowed_methods, reason = "a test finds its programs through the environment")]
pub(crate) fn built_programs() -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR").filter(|value| !value.is_empty());
    let default = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target");
    target.map_or_else(default, PathBuf::from).join("apiserver")
}

#[expect(clippy::disallowed_methods, reason = "a test finds its data through the environment")]
fn folder(variable: &str, name: &str, need: TestRequirement) -> Option<PathBuf> {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared").join(name);
    let path = std::env::var_os(variable).map_or_else(beside, PathBuf::from).canonicalize().ok();
    if path.is_none() {
        need.skip();
    }
    path
}
