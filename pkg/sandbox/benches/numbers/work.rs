//! What is measured, server by server.

use std::{
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result};
use sandbox::{Options, Sandbox, Switches};
use tempfile::TempDir;

use crate::{
    client::{Protocol, Server},
    load::{self, How, OBJECTS},
    objects::{self, Sort},
    process::{self, Process},
    providers,
    table::{Table, mib, time},
};

/// A server and the way to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Column {
    InProcess,
    Http1,
    Http2,
    /// The real kube-apiserver with its etcd, over HTTP/2.
    Real,
}

/// A part of the work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    Start,
    Create,
    List,
    Watch,
    Install,
    Disk,
}

/// A server at work, and what it needs to go on.
struct Running {
    server: Server,
    process: Option<Process>,
    /// What a server without a folder of its own writes to.
    _folder: Option<TempDir>,
}

/// One column of the table.
struct Bench<'a> {
    column: Column,
    real: Option<&'a Path>,
    table: &'a mut Table,
}

impl Column {
    pub(crate) const ALL: [Self; 4] = [Self::InProcess, Self::Http1, Self::Http2, Self::Real];

    pub(crate) fn word(self) -> &'static str {
        ["in-process", "http1", "http2", "real"][self as usize]
    }

    pub(crate) fn heading(self) -> &'static str {
        ["in process", "HTTP/1.1", "HTTP/2", "kube-apiserver"][self as usize]
    }
}

impl Part {
    pub(crate) const ALL: [Self; 6] =
        [Self::Start, Self::Create, Self::List, Self::Watch, Self::Install, Self::Disk];

    pub(crate) fn word(self) -> &'static str {
        ["start", "create", "list", "watch", "install", "disk"][self as usize]
    }
}

/// Does the parts of the work on one server and writes its column. `real` is the binary of the real server.
pub(crate) async fn measure(
    column: Column,
    parts: &[Part],
    real: Option<&Path>,
    table: &mut Table,
) -> Result<()> {
    let mut bench = Bench { column, real, table };
    if parts.contains(&Part::Start) {
        bench.starts().await?;
    }
    if parts.iter().any(|part| matches!(part, Part::Create | Part::List | Part::Watch)) {
        bench.objects(parts).await?;
    }
    if parts.contains(&Part::Install) {
        bench.install().await?;
    }
    if parts.contains(&Part::Disk) {
        bench.disk().await?;
    }
    Ok(())
}

impl Bench<'_> {
    fn add(&mut self, name: &str, promised: &'static str, value: String) {
        self.table.add(self.column, name, promised, value);
    }

    /// A server; its words are those of [`crate::child::serve`].
    async fn start(&self, words: &[&str]) -> Result<Running> {
        let folder = TempDir::new()?;
        let running = self.start_in(folder.path(), words).await?;
        Ok(Running { _folder: Some(folder), ..running })
    }

    async fn start_in(&self, folder: &Path, words: &[&str]) -> Result<Running> {
        if self.column == Column::InProcess {
            let alone = words.contains(&"alone");
            let options = Options {
                data_dir: words.contains(&"keep").then(|| folder.join("data")),
                controllers: if alone { Switches::none() } else { Switches::default() },
                ..Options::default()
            };
            let server = Server::InProcess(Sandbox::start(options).await?);
            return Ok(Running { server, process: None, _folder: None });
        }
        let protocol = if self.column == Column::Http1 { Protocol::Http1 } else { Protocol::Http2 };
        let command = match self.real.filter(|_| self.column == Column::Real) {
            Some(real) => {
                let mut command = Command::new(real);
                // It tells a lot of what it does.
                command.arg("--dir").arg(folder).stderr(Stdio::null());
                command
            }
            None => Process::sandbox(folder, words)?,
        };
        let process = Process::start(command, protocol)?;
        Ok(Running { server: Server::Wire(process.wire.clone()), process: Some(process), _folder: None })
    }

    async fn starts(&mut self) -> Result<()> {
        let runs = if self.column == Column::Real { 1 } else { 15 };
        let mut times = Vec::new();
        let mut idle = None;
        for _ in 0..runs {
            if self.column == Column::InProcess {
                times.push(first_in_process()?);
                continue;
            }
            let begin = Instant::now();
            let running = self.start(&[]).await?;
            running.server.client().await?.get("/api/v1/namespaces/default").await?;
            times.push(begin.elapsed());
            tokio::time::sleep(Duration::from_millis(300)).await;
            idle = running.memory();
        }
        times.sort_unstable();
        let (name, promised) = match self.column {
            Column::InProcess => ("start to first answer, in process", "< 30 ms"),
            _ => ("start to first answer, as a process", "< 150 ms"),
        };
        self.add(name, promised, time(times[times.len() / 2]));
        if let Some(idle) = idle {
            self.add("memory, idle", "< 20 MiB", mib(idle));
        }
        Ok(())
    }

    async fn objects(&mut self, parts: &[Part]) -> Result<()> {
        let running = self.start(&[]).await?;
        running.prepare().await?;
        let before = running.memory();
        let configmaps = "create 10,000 ConfigMaps, 16 clients";
        let bytes = self.fill(&running, configmaps, "< 3 s", Sort::ConfigMap, How::Create).await?;
        if let (Some(before), Some(after)) = (before, running.memory()) {
            let each = after.saturating_sub(before + bytes as u64) / OBJECTS as u64;
            self.add("memory of an object beyond its JSON", "< 4096 B", format!("{each} B"));
        }
        if parts.contains(&Part::List) {
            self.lists(&running).await?;
        }
        if parts.contains(&Part::Watch) {
            self.watches(&running).await?;
        }
        if !parts.contains(&Part::Create) {
            return Ok(());
        }
        for (name, promised, sort, how) in [
            ("create 10,000 custom resources, 16 clients", "< 3 s", Sort::Widget, How::Create),
            ("apply 10,000 ConfigMaps, 16 clients", "-", Sort::ConfigMap, How::Apply),
            ("apply 10,000 custom resources, 16 clients", "-", Sort::Widget, How::Apply),
            ("apply them again, unchanged", "-", Sort::Widget, How::Apply),
        ] {
            self.fill(&running, name, promised, sort, how).await?;
        }
        drop(running);
        if self.column != Column::Real {
            let running = self.start(&["alone"]).await?;
            running.prepare().await?;
            let name = "create 10,000 ConfigMaps, no controllers";
            self.fill(&running, name, "-", Sort::ConfigMap, How::Create).await?;
        }
        Ok(())
    }

    /// Makes the objects and tells how long it took. Returns how many bytes the answers had.
    async fn fill(
        &mut self,
        running: &Running,
        name: &str,
        promised: &'static str,
        sort: Sort,
        how: How,
    ) -> Result<usize> {
        let before = process::busy(running.process.as_ref());
        let (took, bytes) = load::fill(&running.server, sort, how).await?;
        let busy = process::busy(running.process.as_ref())
            .zip(before)
            .map(|(after, before)| after.saturating_sub(before));
        let busy = busy.map_or(String::new(), |busy| format!(" ({:.2})", busy.as_secs_f64()));
        self.add(name, promised, format!("{}{busy}", time(took)));
        Ok(bytes)
    }

    async fn lists(&mut self, running: &Running) -> Result<()> {
        let before = running.memory();
        if let Some(process) = &running.process {
            process.forget_peak();
        }
        let (took, bytes) = load::list(&running.server, Sort::ConfigMap).await?;
        self.add("list 10,000 at once", "-", time(took));
        let peak = |running: &Running| running.process.as_ref().and_then(Process::peak);
        if let (Some(before), Some(peak)) = (before, peak(running)) {
            let text = format!("{} of {}", mib(peak.saturating_sub(before)), mib(bytes as u64));
            self.add("    memory for it, and its size", "no copy", text);
        }
        let before = running.memory();
        if let Some(process) = &running.process {
            process.forget_peak();
        }
        let took = load::list_in_pages(&running.server, Sort::ConfigMap).await?;
        self.add("list 10,000 in pages of 500", "-", time(took));
        if let (Some(before), Some(peak)) = (before, peak(running)) {
            self.add("    memory for it", "no copy", mib(peak.saturating_sub(before)));
        }
        Ok(())
    }

    async fn watches(&mut self, running: &Running) -> Result<()> {
        for watchers in [1, 100] {
            let times = load::watch(&running.server, watchers).await?;
            let of = |hundredth: usize| time(times[(times.len() - 1) * hundredth / 100]);
            let plural = if watchers == 1 { "" } else { "es" };
            let name = format!("from a write to {watchers} watch{plural}, median");
            self.add(&name, "< 5 ms", of(50));
            self.add(&format!("    99 of 100 changes, {watchers} watch{plural}"), "< 5 ms", of(99));
        }
        Ok(())
    }

    async fn install(&mut self) -> Result<()> {
        let folder = crate::variable("CAPSTAN_CORPUS")
            .unwrap_or_else(|| PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/corpus")))
            .join("providers");
        if !folder.is_dir() {
            return Ok(());
        }
        let objects = providers::read(&folder).context("the corpus")?;
        let running = self.start(&[]).await?;
        let before = running.memory();
        let took = providers::install(&running.server, &objects).await?;
        self.add(&format!("apply {} objects of 6 providers, 1 client", objects.len()), "-", time(took));
        if let (Some(before), Some(after)) = (before, running.memory()) {
            self.add("    memory for them", "-", mib(after.saturating_sub(before)));
        }
        Ok(())
    }

    async fn disk(&mut self) -> Result<()> {
        let folder = TempDir::new()?;
        let running = self.start_in(folder.path(), &["keep"]).await?;
        running.prepare().await?;
        let name = "create 10,000 ConfigMaps, kept on disk";
        self.fill(&running, name, "-", Sort::ConfigMap, How::Create).await?;
        if self.column == Column::InProcess {
            return Ok(());
        }
        drop(running);
        let begin = Instant::now();
        let running = self.start_in(folder.path(), &["keep"]).await?;
        running.server.client().await?.get("/api/v1/namespaces/default").await?;
        self.add("start again with them to the first answer", "-", time(begin.elapsed()));
        Ok(())
    }
}

impl Running {
    fn memory(&self) -> Option<u64> {
        self.process.as_ref()?.memory()
    }

    /// Makes what the objects need.
    async fn prepare(&self) -> Result<()> {
        let mut client = self.server.client().await?;
        client.post("/api/v1/namespaces", objects::namespace()).await?;
        client.post("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", objects::definition()).await?;
        // The real server takes a moment to serve them.
        for _ in 0..100 {
            if client.get(Sort::Widget.collection()).await.is_ok() {
                break;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        Ok(())
    }
}

/// The first start in a process of its own: what is made once for all sandboxes of a process counts.
fn first_in_process() -> Result<Duration> {
    let output = Command::new(std::env::current_exe()?).arg("start-in-process").output()?;
    let text = String::from_utf8(output.stdout)?;
    Ok(Duration::from_micros(text.trim().parse().context("the start failed")?))
}
