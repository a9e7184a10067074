//! The controller of Components on a real API server: time, requests and memory for many Components, and the delay of
//! an edit.

use std::{
    fmt::Write as _,
    io::{Read as _, Write as _},
    net::{TcpListener, TcpStream},
    path::Path,
    process::{Child, Stdio},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, bail};
use serde_json::json;
use support::{
    fixture::{apply, get, merge},
    kind::Kind,
    object_snapshot::client_from_kubeconfig,
};

use super::{
    Bench,
    components::{OBJECTS, template},
    figures::{Programs, clean_command},
    servers::{ApiServer as _, RealServer, memory_of},
    table::{duration_text, mib_text},
};
use crate::print::print_line;

/// The numbers of Components.
const SIZES: [usize; 3] = [200, 1000, 5000];
/// The number of measured edits.
const EDITS: usize = 100;
const TIMEOUT: Duration = Duration::from_mins(10);
const POLL_INTERVAL: Duration = Duration::from_millis(2);

const COMPONENT: Kind = Kind::new("core.cs.sap.com", "v1alpha1", "Component", "components");

/// A controller in a process of its own, which ends with the value.
struct Controller {
    process: Child,
    metrics_port: u16,
}

impl Controller {
    fn start(program: &Path, folder: &Path, kubeconfig: &Path) -> Result<Self> {
        let metrics_port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let process = clean_command(program, folder)
            .args(["controller", "--health-probe-bind-address", "0", "--zap-log-level", "error"])
            .arg(format!("--metrics-bind-address=127.0.0.1:{metrics_port}"))
            .arg("--kubeconfig")
            .arg(kubeconfig)
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        let controller = Self { process, metrics_port };
        let started = Instant::now();
        while controller.metrics().is_err() {
            if started.elapsed() > TIMEOUT {
                bail!("the controller does not answer");
            }
            thread::sleep(POLL_INTERVAL);
        }
        Ok(controller)
    }

    fn metrics(&self) -> Result<String> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.metrics_port))?;
        write!(stream, "GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        Ok(answer)
    }

    /// Returns the value of a metric; 0 if it is missing.
    fn metric(&self, name: &str) -> Result<usize> {
        let text = self.metrics()?;
        let value = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        Ok(value.map_or(Ok(0), str::parse)?)
    }

    fn wait_until_ready(&self, count: usize) -> Result<()> {
        let started = Instant::now();
        while self.metric("component_operator_runtime_component_state{state=\"Ready\"}")? < count {
            if started.elapsed() > TIMEOUT {
                bail!("{count} Components do not become ready");
            }
            thread::sleep(Duration::from_millis(50));
        }
        Ok(())
    }

    /// The resident memory in KiB: all of it, or without the pages of the program.
    fn memory(&self, field: &str) -> Result<u64> {
        memory_of(self.process.id(), field).context("the system does not report the memory of a process")
    }
}

impl Drop for Controller {
    fn drop(&mut self) {
        // The process may have ended already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Measures a controller with growing numbers of Components.
pub(super) fn controller(_: &Bench, programs: &Programs, folder: &Path) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let server = RealServer::start(folder, "controller")?;
    let kubeconfig = server.kubeconfig();
    let definition = clean_command(&programs.capstan, folder).args(["component", "definition"]).output()?;
    let client = runtime.block_on(client_from_kubeconfig(kubeconfig));
    let files = json!({
        "apiVersion": "core.cs.sap.com/v1alpha1", "kind": "Blueprint",
        "metadata": {"name": "files", "namespace": "bench"}, "spec": {"files": {"maps.yaml": template()?}},
    });
    runtime.block_on(async {
        apply(&client, &String::from_utf8_lossy(&definition.stdout)).await;
        apply(&client, "{apiVersion: v1, kind: Namespace, metadata: {name: bench}}").await;
        apply(&client, &files.to_string()).await;
    });
    let controller = Controller::start(&programs.capstan, folder, kubeconfig)?;
    thread::sleep(Duration::from_secs(2));
    let (idle, own) = (controller.memory("VmRSS:")?, controller.memory("RssAnon:")?);
    let mut text = format!(
        "\n| Components of {OBJECTS} objects | All ready after | Requests each | Memory | Without the program | Edit, median | Edit, 99% |\n\
         |---|---|---|---|---|---|---|\n| 0 | - | - | {} | {} | - | - |\n",
        mib_text(idle),
        mib_text(own)
    );
    let mut known = 0;
    for size in SIZES {
        let before = controller.metric("rest_client_requests_total")?;
        let started = Instant::now();
        runtime.block_on(async {
            for at in known..size {
                apply(&client, &component(at)).await;
            }
        });
        controller.wait_until_ready(size)?;
        let ready_after = started.elapsed();
        let requests = controller.metric("rest_client_requests_total")? - before;
        thread::sleep(Duration::from_secs(2));
        let memory = controller.memory("VmRSS:")?;
        let edits = runtime.block_on(measure_edits(&client, size))?;
        let _ = writeln!(
            text,
            "| {size} | {} (for {} new ones) | {} | {} | {} | {} | {} |",
            duration_text(ready_after),
            size - known,
            requests / (size - known),
            mib_text(memory),
            mib_text(controller.memory("RssAnon:")?),
            duration_text(edits[EDITS / 2]),
            duration_text(edits[EDITS * 99 / 100])
        );
        known = size;
    }
    print_line(&text);
    Ok(())
}

fn component(at: usize) -> String {
    json!({
        "apiVersion": "core.cs.sap.com/v1alpha1", "kind": "Component",
        "metadata": {"name": format!("web-{at}"), "namespace": "bench"},
        "spec": {"sourceRef": {"blueprint": {"name": "files"}}, "values": {"size": at}},
    })
    .to_string()
}

/// Edits Components one after the other. Returns the times from each edit until the Component is ready again, sorted.
async fn measure_edits(client: &support::fixture::Client, size: usize) -> Result<Vec<Duration>> {
    let mut times = Vec::with_capacity(EDITS);
    for at in 0..EDITS {
        let name = format!("bench/web-{}", at * size / EDITS);
        let started = Instant::now();
        merge(client, COMPONENT, &name, &json!({"spec": {"values": {"size": at + size}}})).await;
        loop {
            let component = get(client, COMPONENT, &name).await.context("the Component exists")?;
            let is_observed =
                component["status"]["observedGeneration"] == component["metadata"]["generation"];
            if is_observed && component["status"]["state"] == "Ready" {
                break;
            }
            if started.elapsed() > TIMEOUT {
                bail!("{name} does not become ready: {:#}", component["status"]);
            }
            tokio::time::sleep(POLL_INTERVAL).await;
        }
        times.push(started.elapsed());
    }
    times.sort();
    Ok(times)
}
