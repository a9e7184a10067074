//! The controller of Components on a real API server: time, requests and memory for many Components, the delay of an edit,
//! and the deletion of some of many Components.

use std::{
    fmt::Write as _,
    fs::{self, File},
    io::{Read as _, Write as _},
    net::{TcpListener, TcpStream},
    path::{Path, PathBuf},
    process::{Child, Stdio},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, bail};
use serde_json::json;
use support::{
    fixture::{Client, apply, define, delete, get, merge, merge_status},
    host::{FakeHost, Reply},
    kind::{GIT_REPOSITORY, Kind},
    object_snapshot::client_from_kubeconfig,
    tar::{TarEntry, gzip, tar},
};
use tokio::runtime::Runtime;

use super::{
    Bench,
    components::{OBJECTS, template},
    figures::{Programs, clean_command},
    servers::{ApiServer as _, RealServer, memory_of, processor_time_of},
    table::{duration_text, mib_text},
};
use crate::print::print_line;

/// The numbers of Components.
const SIZES: [usize; 3] = [200, 1000, 5000];
/// The numbers of Components of the original controller, which takes minutes for more.
const REFERENCE_SIZES: [usize; 2] = [200, 1000];
/// The number of measured edits.
const EDITS: usize = 100;
/// The number of Components that are deleted in the end.
const DELETIONS: usize = 200;
const TIMEOUT: Duration = Duration::from_mins(15);
const POLL_INTERVAL: Duration = Duration::from_millis(2);
const SLOW_POLL_INTERVAL: Duration = Duration::from_millis(100);

const COMPONENT: Kind = Kind::new("core.cs.sap.com", "v1alpha1", "Component", "components");

/// The kinds beside Components and Blueprints that the original controller requires.
const REQUIRED: [Kind; 5] = [
    Kind::new("core.cs.sap.com", "v1alpha1", "BlueprintVersion", "blueprintversions"),
    GIT_REPOSITORY,
    Kind::new("source.toolkit.fluxcd.io", "v1", "OCIRepository", "ocirepositories"),
    Kind::new("source.toolkit.fluxcd.io", "v1", "Bucket", "buckets"),
    Kind::new("source.toolkit.fluxcd.io", "v1", "HelmChart", "helmcharts"),
];

/// A program that is measured, and its arguments.
struct Subject {
    name: &'static str,
    program: PathBuf,
    arguments: &'static [&'static str],
    sizes: &'static [usize],
}

/// A controller in a process of its own, which ends with the value.
struct Controller {
    process: Child,
    metrics_port: u16,
    log: PathBuf,
}

impl Controller {
    /// Starts a controller and waits until its port of metrics answers.
    fn start(subject: &Subject, folder: &Path, kubeconfig: &Path) -> Result<Self> {
        let metrics_port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let log = folder.join(format!("{}.log", subject.name));
        let output = File::create(&log)?;
        let process = clean_command(&subject.program, folder)
            .args(subject.arguments)
            .args(["--health-probe-bind-address=0", "--zap-log-level=error"])
            .arg(format!("--metrics-bind-address=127.0.0.1:{metrics_port}"))
            .env("KUBECONFIG", kubeconfig)
            .stdin(Stdio::null())
            .stdout(output.try_clone()?)
            .stderr(output)
            .spawn()?;
        let mut controller = Self { process, metrics_port, log };
        let started = Instant::now();
        while controller.requests().is_err() {
            controller.check()?;
            if started.elapsed() > TIMEOUT {
                bail!("{} does not answer", subject.name);
            }
            thread::sleep(POLL_INTERVAL);
        }
        Ok(controller)
    }

    /// Returns an error if the process has ended.
    fn check(&mut self) -> Result<()> {
        match self.process.try_wait()? {
            Some(status) => bail!("the controller ended ({status}): {}", fs::read_to_string(&self.log)?),
            None => Ok(()),
        }
    }

    /// The memory in KiB in a field of the system.
    fn memory(&self, field: &str) -> Result<u64> {
        memory_of(self.process.id(), field).context("the system does not report the memory of a process")
    }

    /// Returns the sum of the values of a metric whose labels contain a text.
    fn metric(&self, name: &str, labels: &str) -> Result<usize> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.metrics_port))?;
        write!(stream, "GET /metrics HTTP/1.0\r\nHost: localhost\r\n\r\n")?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        let lines = answer.lines().filter(|line| line.starts_with(name) && line.contains(labels));
        lines.map(|line| Ok(line.rsplit(' ').next().unwrap_or_default().parse::<usize>()?)).sum()
    }

    fn requests(&self) -> Result<usize> {
        self.metric("rest_client_requests_total", "")
    }

    fn processor_time(&self) -> Result<Duration> {
        processor_time_of(self.process.id()).context("the system does not report the time of a process")
    }

    fn cost(&self) -> Result<Cost> {
        Ok(Cost { requests: self.requests()?, processor: self.processor_time()? })
    }

    /// Returns the cost since then for each of a number of Components, as cells of a table.
    fn cost_each(&self, since: &Cost, count: usize) -> Result<String> {
        let now = self.cost()?;
        let processor = now.processor.saturating_sub(since.processor) / u32::try_from(count)?;
        Ok(format!("{} | {}", (now.requests - since.requests) / count, duration_text(processor)))
    }

    /// Waits until a number of Components is ready, as the controller counts them, so that the server has no other work.
    fn wait_until_ready(&mut self, count: usize) -> Result<()> {
        let started = Instant::now();
        while self.metric("component_operator_runtime_component_state", "state=\"Ready\"")? < count {
            self.check()?;
            if started.elapsed() > TIMEOUT {
                bail!("{count} Components do not become ready");
            }
            thread::sleep(SLOW_POLL_INTERVAL);
        }
        Ok(())
    }
}

impl Drop for Controller {
    fn drop(&mut self) {
        // The process may have ended already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The cost of a controller so far.
struct Cost {
    requests: usize,
    processor: Duration,
}

/// Measures controllers with growing numbers of Components.
pub(super) fn controller(_: &Bench, programs: &Programs, folder: &Path) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let ours = Subject {
        name: "capstan",
        program: programs.capstan.clone(),
        arguments: &["controller"],
        sizes: &SIZES,
    };
    let theirs = super::find_on_path("component-operator").map(|program| Subject {
        name: "component-operator",
        program,
        arguments: &[],
        sizes: &REFERENCE_SIZES,
    });
    let definition = clean_command(&programs.capstan, folder).args(["component", "definition"]).output()?;
    let definition = String::from_utf8(definition.stdout)?;
    for subject in [Some(ours), theirs].into_iter().flatten() {
        measure(&subject, &definition, folder, &runtime)?;
    }
    Ok(())
}

fn measure(subject: &Subject, definition: &str, folder: &Path, runtime: &Runtime) -> Result<()> {
    let server = RealServer::start(folder, subject.name)?;
    let client = runtime.block_on(client_from_kubeconfig(server.kubeconfig()));
    let host = FakeHost::start(&[]);
    runtime.block_on(async {
        apply(&client, definition).await;
        apply(&client, "{apiVersion: v1, kind: Namespace, metadata: {name: bench}}").await;
        for kind in REQUIRED {
            define(&client, kind).await;
        }
        publish(&client, &host).await
    })?;
    let mut controller = Controller::start(subject, folder, server.kubeconfig())?;
    thread::sleep(Duration::from_secs(5));
    let mut text = format!(
        "\n| {}: Components of {OBJECTS} objects | All ready after | Requests each | Processor time each | Memory | \
         Without the program | Edit, median | Edit, 99% |\n|---|---|---|---|---|---|---|---|\n\
         | 0 | - | - | - | {} | {} | - | - |\n",
        subject.name,
        mib_text(controller.memory("VmRSS:")?),
        mib_text(controller.memory("RssAnon:")?)
    );
    let mut known = 0;
    for &size in subject.sizes {
        let before = controller.cost()?;
        let started = Instant::now();
        runtime.block_on(async {
            for at in known..size {
                apply(&client, &component(at)).await;
            }
        });
        controller.wait_until_ready(size)?;
        let ready_after = started.elapsed();
        thread::sleep(Duration::from_secs(2));
        let cost = controller.cost_each(&before, size - known)?;
        let (memory, own) = (controller.memory("VmRSS:")?, controller.memory("RssAnon:")?);
        let edits = runtime.block_on(measure_edits(&client, size))?;
        let _ = writeln!(
            text,
            "| {size} | {} (for {} new ones) | {cost} | {} | {} | {} | {} |",
            duration_text(ready_after),
            size - known,
            mib_text(memory),
            mib_text(own),
            duration_text(edits[EDITS / 2]),
            duration_text(edits[EDITS * 99 / 100])
        );
        known = size;
    }
    let before = controller.cost()?;
    let started = Instant::now();
    runtime.block_on(delete_first(&client))?;
    let gone_after = duration_text(started.elapsed());
    let cost = controller.cost_each(&before, DELETIONS)?;
    let _ = writeln!(
        text,
        "\n| Deletions | All gone after | Requests each | Processor time each |\n|---|---|---|---|\n\
         | {DELETIONS} of {known} | {gone_after} | {cost} |"
    );
    print_line(&text);
    Ok(())
}

/// Deletes the first Components, and waits until they are gone.
async fn delete_first(client: &Client) -> Result<()> {
    let names: Vec<String> = (0..DELETIONS).map(|at| format!("bench/web-{at}")).collect();
    for name in &names {
        delete(client, COMPONENT, name).await;
    }
    let started = Instant::now();
    for name in &names {
        while get(client, COMPONENT, name).await.is_some() {
            if started.elapsed() > TIMEOUT {
                bail!("{name} is not deleted");
            }
            tokio::time::sleep(POLL_INTERVAL).await;
        }
    }
    Ok(())
}

/// Publishes the files of all Components in a repository of Flux.
async fn publish(client: &Client, host: &FakeHost) -> Result<()> {
    let archive = gzip(&tar(&[TarEntry::file("maps.yaml", template()?)]));
    let digest = transport::Digest::of(&archive).to_string();
    host.on("127.0.0.1/files.tgz", Reply::file(archive));
    let repository = json!({
        "apiVersion": "source.toolkit.fluxcd.io/v1", "kind": "GitRepository",
        "metadata": {"name": "files", "namespace": "bench"}, "spec": {},
    });
    apply(client, &repository.to_string()).await;
    let status = json!({"status": {
        "observedGeneration": 1,
        "conditions": [{
            "type": "Ready", "status": "True", "reason": "Stored", "message": "stored", "observedGeneration": 1,
            "lastTransitionTime": "2026-01-01T00:00:00Z",
        }],
        "artifact": {
            "url": format!("http://{}/files.tgz", host.address()), "digest": digest, "revision": "main@sha1:1",
            "path": "files.tgz", "lastUpdateTime": "2026-01-01T00:00:00Z",
        },
    }});
    merge_status(client, GIT_REPOSITORY, "bench/files", &status).await;
    Ok(())
}

fn component(at: usize) -> String {
    json!({
        "apiVersion": "core.cs.sap.com/v1alpha1", "kind": "Component",
        "metadata": {"name": format!("web-{at}"), "namespace": "bench"},
        "spec": {"sourceRef": {"fluxGitRepository": {"name": "files"}}, "values": {"size": at}},
    })
    .to_string()
}

/// Edits Components one after the other. Returns the times from each edit until the Component is ready again, sorted.
async fn measure_edits(client: &Client, size: usize) -> Result<Vec<Duration>> {
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
