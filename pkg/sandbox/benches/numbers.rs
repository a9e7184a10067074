//! Measures the time and memory of the sandbox: `cargo bench -p capstan-sandbox`. Prints one table and asserts nothing.
//!
//! Each column is a separate server process that does the same work for the same clients over HTTP/2. The first column
//! is the sandbox. The second is the real kube-apiserver if `CAPSTAN_TEST_APISERVER` names its binary. Words after `--`
//! select parts of the work: `start`, `create`, `list`, `watch`, `disk`.
//!
//! The benchmark runs its own binary again as the server of the first column.

use std::{
    env, fs,
    io::{self, BufRead as _, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result};
use base64::{Engine as _, prelude::BASE64_STANDARD};
use manifest::{YamlLimits, yaml};
use reqwest::{Client, Method, Response};
use rustls::{
    ClientConfig, RootCertStore,
    pki_types::{CertificateDer, pem::PemObject as _},
};
use sandbox::{ControlService, Identity, Listener, Options, Sandbox};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::{sync::mpsc, task::JoinSet};
use tower_service::Service as _;

const CONFIG_MAPS: &str = "/api/v1/namespaces/bench/configmaps";
const WIDGETS: &str = "/apis/bench.example.com/v1/namespaces/bench/widgets";
/// The number of objects to create and list.
const OBJECTS: usize = 10_000;
const CLIENTS: usize = 16;
/// The number of changes sent to a watch, one at a time.
const CHANGES: usize = 200;

/// Rows by name: the promised value, then one cell per column.
#[derive(Default)]
struct Table(Vec<(String, &'static str, [String; 2])>);

impl Table {
    fn add(&mut self, column: usize, name: &str, promised: &'static str, value: String) {
        let at = self.0.iter().position(|row| row.0 == name).unwrap_or_else(|| {
            self.0.push((name.to_owned(), promised, Default::default()));
            self.0.len() - 1
        });
        self.0[at].2[column] = value;
    }
}

#[tokio::main(worker_threads = 2)]
async fn main() -> Result<()> {
    let words: Vec<String> = env::args().skip(1).filter(|word| word != "--bench").collect();
    match words.first().map(String::as_str) {
        Some("serve") => return serve(Path::new(&words[1]), words.len() > 2).await,
        Some("start-in-process") => return start_in_process().await,
        _ => {}
    }
    let real = variable("CAPSTAN_TEST_APISERVER");
    let mut table = Table::default();
    for (column, server) in [None, real.as_deref()].into_iter().enumerate() {
        if column == 1 && server.is_none() {
            say("kube-apiserver: not found; name one with CAPSTAN_TEST_APISERVER");
            continue;
        }
        measure(column, server, &words, &mut table).await?;
    }
    say(&format!("\n{:<46} {:>18} {:>18}   promised", "", "sandbox", "kube-apiserver"));
    for (name, promised, [sandbox, real]) in &table.0 {
        say(&format!("{name:<46} {sandbox:>18} {real:>18}   {promised}"));
    }
    say("in brackets: seconds of processor time that the server took");
    Ok(())
}

/// Runs the selected parts on one server and fills its column. Without a binary, the server is the sandbox.
async fn measure(column: usize, real: Option<&Path>, parts: &[String], table: &mut Table) -> Result<()> {
    let wanted = |part: &str| parts.is_empty() || parts.iter().any(|word| word == part);
    let mut add = |name: &str, promised, value| table.add(column, name, promised, value);
    if wanted("start") {
        let runs = if real.is_some() { 1 } else { 15 };
        let (mut times, mut in_process, mut idle) = (Vec::new(), Vec::new(), None);
        for _ in 0..runs {
            let folder = TempDir::new()?;
            let begin = Instant::now();
            let server = Server::start(real, folder.path(), false)?;
            server.get("/api/v1/namespaces/default").await?;
            times.push(begin.elapsed());
            tokio::time::sleep(Duration::from_millis(300)).await;
            idle = server.status("VmRSS:");
            let output = Command::new(env::current_exe()?).arg("start-in-process").output()?;
            in_process.push(Duration::from_micros(String::from_utf8(output.stdout)?.trim().parse()?));
        }
        times.sort_unstable();
        in_process.sort_unstable();
        if real.is_none() {
            add("start to first answer, in process", "< 30 ms", time(in_process[runs / 2]));
        }
        add("start to first answer, as a process", "< 150 ms", time(times[runs / 2]));
        add("memory, idle", "< 20 MiB", mib(idle));
    }
    let folder = TempDir::new()?;
    if ["create", "list", "watch"].into_iter().any(wanted) {
        let server = Server::start(real, folder.path(), false)?;
        server.prepare().await?;
        let before = server.status("VmRSS:");
        let (text, bytes) = fill(&server, CONFIG_MAPS, "created", false).await?;
        add("create 10,000 ConfigMaps, 16 clients", "< 3 s", text);
        if let (Some(before), Some(after)) = (before, server.status("VmRSS:")) {
            let each = after.saturating_sub(before + bytes as u64) / OBJECTS as u64;
            add("memory of an object beyond its JSON", "< 4096 B", format!("{each} B"));
        }
        if wanted("list") {
            let before = server.status("VmRSS:");
            // Resets the peak; a system without this file reports no peak either.
            let _ = fs::write(format!("/proc/{}/clear_refs", server.child.id()), "5");
            let begin = Instant::now();
            let size = server.get(CONFIG_MAPS).await?.len();
            add("list 10,000 at once", "-", time(begin.elapsed()));
            let peak = server.status("VmHWM:").zip(before).map(|(peak, before)| peak.saturating_sub(before));
            let text = format!("{} of {}", mib(peak), mib(Some(size as u64)));
            add("    memory for it, and its size", "no copy", text);
        }
        for watchers in [1, 100].into_iter().filter(|_| wanted("watch")) {
            let times = watch(&server, watchers).await?;
            let of = |hundredth: usize| time(times[(times.len() - 1) * hundredth / 100]);
            add(&format!("from a write to the event of {watchers} watches, median"), "< 5 ms", of(50));
            add(&format!("    99 of 100 changes, {watchers} watches"), "< 5 ms", of(99));
        }
        if wanted("create") {
            let (text, _) = fill(&server, WIDGETS, "created", false).await?;
            add("create 10,000 custom resources, 16 clients", "< 3 s", text);
            add(
                "apply 10,000 ConfigMaps, 16 clients",
                "-",
                fill(&server, CONFIG_MAPS, "applied", true).await?.0,
            );
            add(
                "apply 10,000 custom resources, 16 clients",
                "-",
                fill(&server, WIDGETS, "applied", true).await?.0,
            );
            add("apply them again, unchanged", "-", fill(&server, WIDGETS, "applied", true).await?.0);
        }
    }
    if wanted("disk") && real.is_none() {
        let folder = TempDir::new()?;
        let server = Server::start(real, folder.path(), true)?;
        server.prepare().await?;
        let (text, _) = fill(&server, CONFIG_MAPS, "created", false).await?;
        add("create 10,000 ConfigMaps, kept on disk", "-", text);
        drop(server);
        let begin = Instant::now();
        Server::start(real, folder.path(), true)?.get("/api/v1/namespaces/default").await?;
        add("start again with them to the first answer", "-", time(begin.elapsed()));
    }
    Ok(())
}

/// A server in its own process and a client for it. Dropping the value stops the process.
struct Server {
    child: Child,
    client: Client,
    url: String,
    token: String,
    authority: Vec<u8>,
}

impl Server {
    fn start(real: Option<&Path>, folder: &Path, keep: bool) -> Result<Self> {
        let mut command = if let Some(real) = real {
            let mut command = Command::new(real);
            // The real server logs a lot.
            command.arg("--dir").arg(folder).stderr(Stdio::null());
            command
        } else {
            let mut command = Command::new(env::current_exe()?);
            command.arg("serve").arg(folder).args(keep.then_some("keep"));
            command
        };
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let mut line = String::new();
        BufReader::new(child.stdout.take().context("stdout is not piped")?).read_line(&mut line)?;
        let ready: Value = serde_json::from_str(&line).context("the server does not start")?;
        let path = ready["kubeconfig"].as_str().context("the server names no kubeconfig")?;
        let config = yaml::read_value(&fs::read_to_string(path)?, &YamlLimits::default())?;
        let text =
            |pointer: &str| config.pointer(pointer).and_then(Value::as_str).context(pointer.to_owned());
        let authority = match text("/clusters/0/cluster/certificate-authority-data") {
            Ok(data) => BASE64_STANDARD.decode(data)?,
            Err(_) => fs::read(text("/clusters/0/cluster/certificate-authority")?)?,
        };
        let (url, token) =
            (text("/clusters/0/cluster/server")?.to_owned(), text("/users/0/user/token")?.to_owned());
        Ok(Self { child, client: client(&authority)?, url, token, authority })
    }

    /// Sends a request to this server through the given client.
    async fn send(&self, client: &Client, method: Method, path: &str, body: &Value) -> Result<Response> {
        let content_type = match method {
            Method::PATCH if path.contains("fieldManager") => "application/apply-patch+yaml",
            Method::PATCH => "application/merge-patch+json",
            _ => "application/json",
        };
        let request = client.request(method, format!("{}{path}", self.url)).bearer_auth(&self.token);
        let request = request.header("Content-Type", content_type).header("Accept", "application/json");
        let request = if body.is_null() { request } else { request.body(body.to_string()) };
        let response = request.send().await?;
        if let Err(error) = response.error_for_status_ref() {
            return Err(error).context(response.text().await?);
        }
        Ok(response)
    }

    async fn get(&self, path: &str) -> Result<Vec<u8>> {
        let response = self.send(&self.client, Method::GET, path, &Value::Null).await?;
        Ok(response.bytes().await?.into())
    }

    /// Creates the namespace and the definition that the objects need.
    async fn prepare(&self) -> Result<()> {
        let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "bench"}});
        self.send(&self.client, Method::POST, "/api/v1/namespaces", &namespace).await?;
        let definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
        self.send(&self.client, Method::POST, definitions, &definition()).await?;
        // The real server takes a moment to serve the new resources.
        for _ in 0..100 {
            if self.get(WIDGETS).await.is_ok() {
                break;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        Ok(())
    }

    /// Returns a number of bytes from the process status, such as `VmRSS:`. None if the system does not report it.
    fn status(&self, name: &str) -> Option<u64> {
        let text = fs::read_to_string(format!("/proc/{}/status", self.child.id())).ok()?;
        let kib = text.lines().find_map(|line| line.strip_prefix(name))?.trim().strip_suffix(" kB")?;
        kib.parse::<u64>().ok().map(|kib| kib * 1024)
    }

    /// Returns the processor time of the process, in steps of 10 ms. None if the system does not report it.
    fn busy(&self) -> Option<Duration> {
        let text = fs::read_to_string(format!("/proc/{}/stat", self.child.id())).ok()?;
        // The process name ends at the last bracket; user and system time are the 12th and 13th words after it.
        let mut words = text.rsplit_once(") ")?.1.split(' ').skip(11);
        let mut ticks = || words.next()?.parse::<u32>().ok();
        Some(Duration::from_millis(10) * (ticks()? + ticks()?))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}

fn client(authority: &[u8]) -> Result<Client> {
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(authority) {
        roots.add(certificate?)?;
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let tls = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions()?;
    let mut tls = tls.with_root_certificates(roots).with_no_client_auth();
    tls.alpn_protocols = vec![b"h2".to_vec()];
    Ok(Client::builder().tls_backend_preconfigured(tls).no_proxy().build()?)
}

/// Creates all objects, divided among the clients. Returns the time as text and the total size of the responses in
/// bytes.
async fn fill(
    server: &Server,
    collection: &'static str,
    prefix: &str,
    apply: bool,
) -> Result<(String, usize)> {
    let (next, bytes) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let busy = server.busy();
    let begin = Instant::now();
    let work = (0..CLIENTS).map(|_| async {
        let client = client(&server.authority)?;
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= OBJECTS {
                return Ok::<_, anyhow::Error>(());
            }
            let name = format!("{prefix}-{number}");
            let applied = format!("{collection}/{name}?fieldManager=bench&force=true");
            let (method, path) = if apply { (Method::PATCH, &*applied) } else { (Method::POST, collection) };
            let answer = server.send(&client, method, path, &object(collection, &name)).await?;
            bytes.fetch_add(answer.bytes().await?.len(), Ordering::Relaxed);
        }
    });
    futures::future::try_join_all(work).await?;
    let took = time(begin.elapsed());
    let busy = server.busy().zip(busy).map(|(after, before)| after.saturating_sub(before).as_secs_f64());
    let busy = busy.map_or(String::new(), |busy| format!(" ({busy:.2})"));
    Ok((format!("{took}{busy}"), bytes.load(Ordering::Relaxed)))
}

/// Returns the sorted delays between sending a change and its arrival at each watcher.
async fn watch(server: &Server, watchers: usize) -> Result<Vec<Duration>> {
    let name = format!("watched-by-{watchers}");
    let made = server.send(&server.client, Method::POST, CONFIG_MAPS, &object(CONFIG_MAPS, &name)).await?;
    let made: Value = serde_json::from_slice(&made.bytes().await?)?;
    let revision = made["metadata"]["resourceVersion"].as_str().context("no resourceVersion")?;
    let path = format!("{CONFIG_MAPS}?watch=1&resourceVersion={revision}");
    let (tell, mut reported) = mpsc::unbounded_channel();
    let mut tasks = JoinSet::new();
    for _ in 0..watchers {
        let mut events = server.send(&client(&server.authority)?, Method::GET, &path, &Value::Null).await?;
        let tell = tell.clone();
        tasks.spawn(async move {
            while let Ok(Some(chunk)) = events.chunk().await {
                let now = Instant::now();
                let _ = memchr::memchr_iter(b'\n', &chunk).try_for_each(|_| tell.send(now));
            }
        });
    }
    let mut times = Vec::with_capacity(watchers * CHANGES);
    for number in 0..CHANGES {
        let patch = json!({"data": {"change": number.to_string()}});
        let begin = Instant::now();
        let path = format!("{CONFIG_MAPS}/{name}");
        server.send(&server.client, Method::PATCH, &path, &patch).await?.bytes().await?;
        for _ in 0..watchers {
            let at: Instant = reported.recv().await.context("the watches have ended")?;
            times.push(at - begin);
        }
    }
    times.sort_unstable();
    Ok(times)
}

/// A small object of typical size.
fn object(collection: &str, name: &str) -> Value {
    let metadata = json!({
        "name": name, "namespace": "bench",
        "labels": {"app.kubernetes.io/name": "bench", "app.kubernetes.io/instance": name},
        "annotations": {"example.com/purpose": "one of very many"},
    });
    let text = "A value of a usual size, which is some words and no more than that. ".repeat(3);
    if collection == CONFIG_MAPS {
        let data = json!({"first": text, "second": "true", "third": name});
        return json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data});
    }
    let spec = json!({"replicas": 3, "image": "registry.example.com/widget:v1.0.0", "text": text, "ports": [{"name": "http"}]});
    json!({"apiVersion": "bench.example.com/v1", "kind": "Widget", "metadata": metadata, "spec": spec})
}

/// A custom resource definition with a schema, defaults and a rule.
fn definition() -> Value {
    let port = json!({
        "type": "object", "required": ["name"],
        "properties": {"name": {"type": "string"}, "protocol": {"type": "string", "enum": ["TCP", "UDP"], "default": "TCP"}},
    });
    let spec = json!({
        "type": "object", "required": ["image"],
        "properties": {
            "replicas": {"type": "integer", "format": "int32", "minimum": 0, "default": 1},
            "image": {"type": "string", "minLength": 1, "maxLength": 256, "pattern": "^[a-z0-9./:-]+$"},
            "text": {"type": "string"}, "paused": {"type": "boolean", "default": false},
            "ports": {
                "type": "array", "maxItems": 16, "items": port,
                "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"],
            },
        },
        "x-kubernetes-validations": [{"rule": "!self.paused || self.replicas == 0", "message": "paused means none"}],
    });
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.bench.example.com"},
        "spec": {
            "group": "bench.example.com", "scope": "Namespaced", "names": {"plural": "widgets", "kind": "Widget"},
            "versions": [{
                "name": "v1", "served": true, "storage": true, "subresources": {"status": {}},
                "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": spec}}},
            }],
        },
    })
}

/// Serves until stdin is closed. Prints the path of the kubeconfig, as the real server's binary does.
async fn serve(folder: &Path, keep: bool) -> Result<()> {
    let data_dir = keep.then(|| folder.join("data"));
    let sandbox = Sandbox::start(Options { data_dir, ..Options::default() }).await?;
    let identity = Identity::generate()?;
    let listener = Listener::bind(ControlService::new(sandbox), &identity, 0).await?;
    let path = folder.join("kubeconfig");
    fs::write(&path, sandbox::kubeconfig("bench", &listener.url(), &identity).to_string())?;
    say(&json!({"kubeconfig": path}).to_string());
    tokio::task::spawn_blocking(|| io::copy(&mut io::stdin(), &mut io::sink())).await??;
    Ok(())
}

/// Prints the microseconds between the start and the first response.
async fn start_in_process() -> Result<()> {
    let begin = Instant::now();
    let mut sandbox = Sandbox::start(Options::default()).await?;
    sandbox.call(http::Request::get("/api/v1/namespaces/default").body(String::new())?).await?;
    say(&begin.elapsed().as_micros().to_string());
    Ok(())
}

fn time(duration: Duration) -> String {
    match duration.as_secs_f64() * 1e3 {
        millis if millis < 10.0 => format!("{millis:.2} ms"),
        millis if millis < 1000.0 => format!("{millis:.0} ms"),
        millis => format!("{:.2} s", millis / 1e3),
    }
}

#[expect(clippy::cast_precision_loss, reason = "two digits are shown")]
fn mib(bytes: Option<u64>) -> String {
    bytes.map_or("-".to_owned(), |bytes| format!("{:.1} MiB", bytes as f64 / f64::from(1 << 20)))
}

#[expect(clippy::disallowed_methods, reason = "a program reads the environment")]
fn variable(name: &str) -> Option<PathBuf> {
    env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from)
}

#[expect(clippy::print_stdout, reason = "the table is what the program is for")]
fn say(text: &str) {
    println!("{text}");
}
