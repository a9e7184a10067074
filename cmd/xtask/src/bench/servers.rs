//! The servers that the measured programs talk to, and how their requests are counted.

use std::{
    fs::{self, File},
    io::{BufRead as _, BufReader},
    path::{Path, PathBuf},
    process::{Child, Stdio},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, bail};
use support::api_server::{self, ApiServerSource};

use super::figures::{clean_command, median};

/// The time in which providers must become ready, and the interval of the checks.
const READY_TIMEOUT: Duration = Duration::from_mins(2);
const POLL_INTERVAL: Duration = Duration::from_millis(250);

/// A line for each request, once it is answered.
const AUDIT_POLICY: &str = "apiVersion: audit.k8s.io/v1\nkind: Policy\nomitStages: [RequestReceived, ResponseStarted]\n\
                            rules: [{level: Metadata}]\n";
/// More than any run writes, because a rotated log loses requests.
const LOG_MEGABYTES: usize = 100_000;

/// A server that counts requests.
pub(super) trait Server {
    /// The number of requests of the measured programs so far.
    ///
    /// # Errors
    /// If the log cannot be read.
    fn requests(&self) -> Result<usize>;
}

/// An API server in processes of its own.
pub(super) trait ApiServer: Server {
    /// The kubeconfig of an administrator.
    fn kubeconfig(&self) -> &Path;
}

/// A sandbox in a process of the measured binary, which ends with the value.
pub(super) struct SandboxServer {
    program: PathBuf,
    folder: PathBuf,
    name: String,
    process: Child,
    kubeconfig: PathBuf,
    /// The time from the start of the process until it answers.
    ready_after: Duration,
    /// The resident memory then, in KiB; none if the system does not report it.
    memory: Option<u64>,
}

impl SandboxServer {
    /// Starts a sandbox, in memory if there is no folder for its data.
    ///
    /// # Errors
    /// If it does not start.
    pub(super) fn start(
        program: &Path,
        folder: &Path,
        name: &str,
        data: Option<&Path>,
        flags: &str,
    ) -> Result<Self> {
        let mut command = clean_command(program, folder);
        command.args(["sandbox", "start", name, "--foreground", "--quiet"]).args(flags.split_whitespace());
        match data {
            Some(data) => command.arg("--data-dir").arg(data),
            None => command.arg("--in-memory"),
        };
        let start = Instant::now();
        let mut process = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn()?;
        let stdout = process.stdout.take().context("stdout is piped")?;
        let mut line = String::new();
        // The sandbox prints it once it accepts connections.
        let read = BufReader::new(stdout).read_line(&mut line);
        let sandbox = Self {
            program: program.to_owned(),
            folder: folder.to_owned(),
            name: name.to_owned(),
            ready_after: start.elapsed(),
            memory: resident_memory(process.id()),
            process,
            kubeconfig: PathBuf::from(line.trim_end()),
        };
        if read? == 0 {
            bail!("the sandbox did not start");
        }
        Ok(sandbox)
    }

    /// The median of the time until a sandbox answers, and of its memory then.
    ///
    /// # Errors
    /// If one does not start.
    pub(super) fn median_start(
        program: &Path,
        folder: &Path,
        runs: usize,
    ) -> Result<(Duration, Option<u64>)> {
        let starts = (0..runs.max(1)).map(|_| Self::start(program, folder, "bench", None, ""));
        let starts = starts
            .map(|sandbox| sandbox.map(|sandbox| (sandbox.ready_after, sandbox.memory)))
            .collect::<Result<Vec<_>>>()?;
        Ok((median(starts.iter().map(|start| start.0)), median(starts.iter().map(|start| start.1))))
    }

    /// Waits until all its providers are ready, so that the next command is not slower for it.
    ///
    /// # Errors
    /// If they do not become ready.
    pub(super) fn wait_until_ready(&self) -> Result<()> {
        let kubeconfig = self.kubeconfig.display().to_string();
        let started = Instant::now();
        loop {
            let status = self.output_of(&["status", "-o", "json", "--kubeconfig", &kubeconfig])?;
            let status: serde_json::Value = serde_json::from_str(&status)?;
            let providers = status["providers"].as_array().context("a status lists providers")?;
            if providers.iter().all(|provider| provider["ready"] == true) {
                return Ok(());
            }
            if started.elapsed() > READY_TIMEOUT {
                bail!("the providers do not become ready: {status:#}");
            }
            thread::sleep(POLL_INTERVAL);
        }
    }

    fn output_of(&self, arguments: &[&str]) -> Result<String> {
        let output = clean_command(&self.program, &self.folder).args(arguments).output()?;
        if !output.status.success() {
            bail!("{}", String::from_utf8_lossy(&output.stderr).trim());
        }
        Ok(String::from_utf8(output.stdout)?)
    }
}

impl Server for SandboxServer {
    fn requests(&self) -> Result<usize> {
        let log = self.output_of(&["sandbox", "logs", &self.name, "--requests"])?;
        // A line has number, code, verb, path and client.
        let clients = log.lines().filter_map(|line| line.rsplit('\t').next());
        Ok(clients.filter(|client| is_measured(client)).count())
    }
}

impl ApiServer for SandboxServer {
    fn kubeconfig(&self) -> &Path {
        &self.kubeconfig
    }
}

impl Drop for SandboxServer {
    fn drop(&mut self) {
        // The process may have ended already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// A real API server with garbage collection and an audit log.
pub(super) struct RealServer {
    server: api_server::ApiServer,
    log: PathBuf,
}

impl RealServer {
    /// Starts a server and waits until it is ready.
    ///
    /// # Errors
    /// If this machine has none, or it does not start.
    pub(super) fn start(folder: &Path, name: &str) -> Result<Self> {
        let source = ApiServerSource::find()
            .context("there is no real API server; build one with `cargo xtask apiserver`, which needs Go")?;
        let policy = folder.join("audit-policy.yaml");
        fs::write(&policy, AUDIT_POLICY)?;
        let log = folder.join(format!("{name}.audit"));
        let flags = [
            format!("--audit-policy-file={}", policy.display()),
            format!("--audit-log-path={}", log.display()),
            format!("--audit-log-maxsize={LOG_MEGABYTES}"),
        ];
        let server = api_server::ApiServer::start_with(&source, &flags);
        Ok(Self { server: server.with_context(|| format!("`{source}`"))?, log })
    }
}

impl Server for RealServer {
    fn requests(&self) -> Result<usize> {
        let file = File::open(&self.log).with_context(|| format!("cannot open `{}`", self.log.display()))?;
        let mut count = 0;
        for line in BufReader::new(file).lines() {
            count += usize::from(client_of(&line?).is_some_and(is_measured));
        }
        Ok(count)
    }
}

impl ApiServer for RealServer {
    fn kubeconfig(&self) -> &Path {
        self.server.kubeconfig()
    }
}

/// The client of an event of the audit log, which is one line of compact JSON.
fn client_of(event: &str) -> Option<&str> {
    event.split_once(r#""userAgent":""#).map(|(_, client)| client)
}

/// True if a user agent is that of a measured program.
fn is_measured(client: &str) -> bool {
    let name = client.split(['/', '"']).next().unwrap_or_default();
    ["capstan", "clusterctl"].contains(&name)
}

/// The resident memory of a process, in KiB.
fn resident_memory(pid: u32) -> Option<u64> {
    memory_of(pid, "VmRSS:")
}

/// The memory of a process in a field of the system, such as `VmHWM:` for the peak, in KiB.
pub(super) fn memory_of(pid: u32, field: &str) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    status.lines().find_map(|line| line.strip_prefix(field)?.trim().strip_suffix(" kB")?.parse().ok())
}

/// The processor time of a process so far. The system counts it in hundredths of a second.
pub(super) fn processor_time_of(pid: u32) -> Option<Duration> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name of the program may have spaces. User and system time are the 12th and 13th field after it.
    let (_, fields) = stat.rsplit_once(") ")?;
    let times = fields.split(' ').skip(11).take(2).map(str::parse::<u64>);
    Some(Duration::from_millis(10 * times.sum::<Result<u64, _>>().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_requests_of_both_programs_are_counted() {
        for client in ["capstan", "capstan/0.1.0", "clusterctl/v1.14.0 (linux/amd64)", "clusterctl"] {
            assert!(is_measured(client), "{client}");
        }
        let garbage = "apiserver/v1.36.3 (linux/amd64) kubernetes/1/generic-garbage-collector";
        for client in ["test", "sandbox", "capstan-controller", "capstan-test/1", garbage, ""] {
            assert!(!is_measured(client), "{client}");
        }
    }

    #[test]
    fn an_audit_event_names_its_client() {
        let event = r#"{"kind":"Event","sourceIPs":["::1"],"userAgent":"capstan/0.1.0","annotations":{}}"#;
        assert!(client_of(event).is_some_and(is_measured));
        assert_eq!(client_of(r#"{"kind":"Event","requestURI":"/apis/capstan/"}"#), None);
    }
}
