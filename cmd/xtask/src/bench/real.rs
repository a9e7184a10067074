use std::{
    fs::{self, File},
    io::{BufRead as _, BufReader},
    path::{Path, PathBuf},
};

use anyhow::{Context as _, Result};
use support::api_server::{ApiServer, Source};

use super::route::{Side, is_program};

/// Logs one line per completed request.
const AUDIT_POLICY: &str = "apiVersion: audit.k8s.io/v1\nkind: Policy\nomitStages: [RequestReceived, ResponseStarted]\n\
                            rules: [{level: Metadata}]\n";
/// More than any run writes, because requests are counted in a single log file.
const LOG_MEGABYTES: usize = 100_000;

/// A real API server with garbage collection and an audit log. Dropping the value stops the server.
pub(super) struct Real {
    server: ApiServer,
    log: PathBuf,
}

impl Real {
    /// Starts a server and waits until it is ready.
    ///
    /// # Errors
    /// Fails if this machine has no real API server, or if the server does not start.
    pub(super) fn start(folder: &Path, name: &str) -> Result<Self> {
        let source = Source::find()
            .context("there is no real API server; build one with `cargo xtask apiserver`, which needs Go")?;
        let policy = folder.join("audit-policy.yaml");
        fs::write(&policy, AUDIT_POLICY)?;
        let log = folder.join(format!("{name}.audit"));
        let flags = [
            format!("--audit-policy-file={}", policy.display()),
            format!("--audit-log-path={}", log.display()),
            format!("--audit-log-maxsize={LOG_MEGABYTES}"),
        ];
        let server = ApiServer::start_with(&source, &flags);
        Ok(Self { server: server.with_context(|| format!("`{source}`"))?, log })
    }
}

impl Side for Real {
    fn kubeconfig(&self) -> &Path {
        self.server.kubeconfig()
    }

    fn requests(&self) -> Result<usize> {
        let file = File::open(&self.log).with_context(|| format!("cannot open `{}`", self.log.display()))?;
        let mut count = 0;
        for line in BufReader::new(file).lines() {
            count += usize::from(is_measured(&line?));
        }
        Ok(count)
    }
}

/// True if an audit event, one line of compact JSON, is a request of a measured program.
fn is_measured(event: &str) -> bool {
    let client = event.split_once(r#""userAgent":""#).map(|(_, client)| client);
    client.is_some_and(is_program)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_of_both_programs_count_and_no_others() {
        let event = |client: &str| {
            format!(
                r#"{{"kind":"Event","verb":"get","sourceIPs":["::1"],"userAgent":"{client}","annotations":{{}}}}"#
            )
        };
        for client in ["capstan/0.1.0 (linux/amd64)", "clusterctl/v1.14.0 (linux/amd64)"] {
            assert!(is_measured(&event(client)), "{client}");
        }
        for client in
            ["apiserver/v1.36.3 (linux/amd64) kubernetes/1/generic-garbage-collector", "capstan-test/1", ""]
        {
            assert!(!is_measured(&event(client)), "{client}");
        }
        assert!(!is_measured(r#"{"kind":"Event","requestURI":"/apis/capstan/"}"#));
    }
}
