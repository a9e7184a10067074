//! Two isolated networks with a link between them: a lab, and a site that can reach only the lab.
//!
//! Packets from the site to any other address are sent to a device without a peer network and counted there. Requires
//! Linux, root, `ip` and `nsenter`.

use std::{
    fs,
    io::{BufRead as _, BufReader},
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use tempfile::TempDir;

/// The two networks. Dropping the value removes both; stop all programs inside before.
#[derive(Debug)]
pub struct ClosedSite {
    lab: Network,
    site: Network,
    scripts: TempDir,
}

/// A network namespace, kept alive by a process.
#[derive(Debug)]
struct Network {
    process: Child,
}

const NSENTER: &str = "/usr/bin/nsenter";

/// The command that keeps a new network alive until its standard input closes.
const NAMESPACE_COMMAND: &str = "ip link set lo up && echo up && exec cat";

/// The setup script, run in the lab. It prevents automatic traffic: no IPv6 addresses, and a static neighbour as gateway.
const SETUP_SCRIPT: &str = "
set -e
site() { $NSENTER --net=/proc/$SITE/ns/net ip $*; }
ip link add lab type veth peer name lab netns $SITE
ip link add nowhere type veth peer name elsewhere netns $SITE
for device in lab nowhere; do ip link set $device addrgenmode none; done
for device in lab elsewhere; do site link set $device addrgenmode none; done
ip address add $LAB_ADDRESS peer 10.77.0.2 dev lab
ip link set lab up
ip link set nowhere up
site address add 10.77.0.2 peer $LAB_ADDRESS dev lab
site address add 198.51.100.2/24 dev elsewhere
site link set lab up
site link set elsewhere up
site neighbour add 198.51.100.1 lladdr 02:00:00:00:00:01 dev elsewhere
site route add default via 198.51.100.1 dev elsewhere
";

impl ClosedSite {
    /// The address of the lab.
    pub const LAB_ADDRESS: &str = "10.77.0.1";

    /// Creates both networks.
    /// # Errors
    /// The reason why this machine cannot create the networks.
    ///
    /// # Panics
    /// Panics if there is no space for temporary files.
    pub fn build() -> Result<Self, String> {
        if !Path::new(NSENTER).exists() {
            return Err(format!("there is no `{NSENTER}`"));
        }
        let (lab, site) = (Network::new()?, Network::new()?);
        let mut cables = lab.enter();
        cables
            .args(["/bin/sh", "-c", SETUP_SCRIPT])
            .env("NSENTER", NSENTER)
            .env("LAB_ADDRESS", Self::LAB_ADDRESS);
        let output = cables.env("SITE", site.process.id().to_string()).output();
        let output = output.map_err(|error| error.to_string())?;
        if !output.status.success() {
            return Err(String::from_utf8_lossy(&output.stderr).trim().replace('\n', "; "));
        }
        let scripts = TempDir::new().expect("a folder can be created");
        Ok(Self { lab, site, scripts })
    }

    /// A script that runs a program in the site.
    pub fn program(&self, program: &Path) -> PathBuf {
        self.script(&self.site, "site", program)
    }

    /// A script that runs a program in the lab.
    pub fn lab_program(&self, program: &Path) -> PathBuf {
        self.script(&self.lab, "lab", program)
    }

    /// The number of packets from the site to the lab.
    pub fn sent_to_lab(&self) -> u64 {
        self.site.sent("lab")
    }

    /// The number of packets from the site to any other address, including packets without a route.
    ///
    /// # Panics
    /// Panics if the kernel's counters cannot be parsed.
    pub fn sent_elsewhere(&self) -> u64 {
        let of_ipv6 = self.site.counters("snmp6");
        let without_route = of_ipv6.lines().find_map(|line| line.strip_prefix("Ip6OutNoRoutes"));
        let without_route: u64 = without_route.map_or(0, |number| number.trim().parse().expect("a count"));
        self.site.sent("elsewhere") + without_route
    }

    fn script(&self, network: &Network, place: &str, program: &Path) -> PathBuf {
        let name = program.file_name().expect("a program has a name").to_string_lossy();
        let path = self.scripts.path().join(format!("{place}-{name}"));
        let (enter, program) = (network.path(), program.display());
        let script = format!("#!/bin/sh\nexec {NSENTER} --net={enter} -- '{program}' \"$@\"\n");
        fs::write(&path, script).expect("a file can be written");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("it is our own");
        path
    }
}

impl Network {
    fn new() -> Result<Self, String> {
        let mut command = Command::new("unshare");
        command
            .args(["--net", "/bin/sh", "-c", NAMESPACE_COMMAND])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        let child = command.stderr(Stdio::null()).spawn();
        let mut holder = child.map_err(|error| format!("cannot start `unshare`: {error}"))?;
        let mut line = String::new();
        let reported = holder.stdout.take().map(|stdout| BufReader::new(stdout).read_line(&mut line));
        let network = Self { process: holder };
        match reported {
            Some(Ok(_)) if line == "up\n" => Ok(network),
            _ => Err("a network of its own needs root and `ip`".to_owned()),
        }
    }

    fn path(&self) -> String {
        format!("/proc/{}/ns/net", self.process.id())
    }

    fn enter(&self) -> Command {
        let mut command = Command::new(NSENTER);
        command.arg(format!("--net={}", self.path())).arg("--");
        command
    }

    fn counters(&self, file: &str) -> String {
        let path = format!("/proc/{}/net/{file}", self.process.id());
        fs::read_to_string(path).expect("the kernel counts packets")
    }

    /// The number of packets sent by a device: the tenth column after its name.
    fn sent(&self, device: &str) -> u64 {
        let all = self.counters("dev");
        let words = all.lines().find_map(|line| line.trim().strip_prefix(device)?.strip_prefix(':'));
        let count = words.and_then(|words| words.split_whitespace().nth(9)?.parse().ok());
        count.expect("the device was made with the network")
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        // The process waits only for the end of its standard input.
        drop(self.process.stdin.take());
        let _ = self.process.wait();
    }
}
