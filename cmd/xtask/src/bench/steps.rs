//! The one runner: steps on a fresh world, once for each run and program.

use std::{fmt::Display, path::Path, process::Stdio, rc::Rc, thread, time::Duration};

use anyhow::{Context as _, Result, bail};
use tempfile::TempDir;

use super::{
    figures::{Measurement, Programs, clean_command, measure_once},
    servers::{ApiServer, SandboxServer, Server},
    table::BenchRow,
    target::BenchTarget,
};

/// A row of a table. `{name}` in a command is a value of its [`BenchRun`].
pub(super) struct BenchStep {
    pub(super) name: String,
    capstan: String,
    reference: Option<String>,
    pub(super) targets: Vec<BenchTarget>,
    /// Processes that run the command at the same time.
    at_once: usize,
}

/// Everything that the steps of one run need. It ends with the run.
pub(super) struct BenchRun {
    values: Vec<(&'static str, String)>,
    servers: Vec<Rc<dyn Server>>,
    /// The sandbox whose providers become ready between two steps.
    settling_sandbox: Option<Rc<SandboxServer>>,
    home: TempDir,
}

impl BenchStep {
    /// A step of capstan alone.
    pub(super) fn capstan_only(
        name: impl Into<String>,
        command: impl Into<String>,
        targets: Vec<BenchTarget>,
    ) -> Self {
        Self { name: name.into(), capstan: command.into(), reference: None, targets, at_once: 1 }
    }

    /// A step that both programs take with the same command.
    pub(super) fn same_command(name: impl Into<String>, command: &str, targets: Vec<BenchTarget>) -> Self {
        Self::two_commands(name, command, command, targets)
    }

    /// A step for which each program has a command.
    pub(super) fn two_commands(
        name: impl Into<String>,
        ours: &str,
        theirs: &str,
        targets: Vec<BenchTarget>,
    ) -> Self {
        Self { reference: Some(theirs.to_owned()), ..Self::capstan_only(name, ours, targets) }
    }

    pub(super) fn with_concurrency(self, at_once: usize) -> Self {
        Self { at_once, ..self }
    }
}

impl BenchRun {
    /// An empty home folder, which commands call `{home}`.
    pub(super) fn new(folder: &Path) -> Result<Self> {
        let home = TempDir::new_in(folder)?;
        let values = vec![("{home}", home.path().display().to_string())];
        Ok(Self { values, servers: Vec::new(), settling_sandbox: None, home })
    }

    pub(super) fn with_value(mut self, name: &'static str, value: impl Display) -> Self {
        self.values.push((name, value.to_string()));
        self
    }

    /// Adds a server, whose requests count.
    pub(super) fn with_server(mut self, server: Rc<dyn Server>) -> Self {
        self.servers.push(server);
        self
    }

    /// Adds a sandbox, which commands call `{source}`; each step ends with a wait until its providers are ready.
    pub(super) fn with_management_cluster(mut self, sandbox: SandboxServer) -> Self {
        let sandbox = Rc::new(sandbox);
        self.settling_sandbox = Some(sandbox.clone());
        self.with_value("{source}", sandbox.kubeconfig().display()).with_server(sandbox)
    }

    /// Adds two API servers, which commands call `{source}` and `{target}`.
    pub(super) fn with_route(self, source: &Rc<dyn ApiServer>, target: &Rc<dyn ApiServer>) -> Self {
        let with = self.with_value("{source}", source.kubeconfig().display()).with_server(source.clone());
        with.with_value("{target}", target.kubeconfig().display()).with_server(target.clone())
    }

    /// The requests to all servers; none if there is no server.
    pub(super) fn requests(&self) -> Result<Option<usize>> {
        let counts = self.servers.iter().map(|server| server.requests()).collect::<Result<Vec<_>>>()?;
        Ok((!counts.is_empty()).then(|| counts.iter().sum()))
    }

    /// Starts a command and kills it after a time.
    ///
    /// # Errors
    /// If it ended before.
    pub(super) fn kill_after(&self, program: &Path, command: &str, time: Duration) -> Result<()> {
        let mut child = clean_command(program, self.home.path());
        let child = child.args(self.arguments(command)).stdin(Stdio::null()).stdout(Stdio::null());
        let mut child = child.spawn()?;
        thread::sleep(time);
        child.kill()?;
        if child.wait()?.code().is_some() {
            bail!("`{command}` ended before it was killed");
        }
        Ok(())
    }

    fn arguments(&self, command: &str) -> Vec<String> {
        let insert = |word: &str| {
            let values = self.values.iter();
            values.fold(word.to_owned(), |word, (name, value)| word.replace(name, value))
        };
        command.split_whitespace().map(insert).collect()
    }

    /// The figures of one step.
    pub(super) fn run_step(&self, program: &Path, command: &str, at_once: usize) -> Result<Measurement> {
        let before = self.requests()?.unwrap_or_default();
        let (arguments, home) = (self.arguments(command), self.home.path());
        let runs = thread::scope(|scope| {
            let start = |_| scope.spawn(|| measure_once(program, &arguments, home));
            let started: Vec<_> = (0..at_once).map(start).collect();
            let ended = started.into_iter().map(|run| run.join().expect("a measurement does not panic"));
            ended.collect::<Result<Vec<_>>>()
        });
        let runs = runs.with_context(|| format!("`{}` with `{}`", arguments.join(" "), program.display()))?;
        let requests = self.requests()?.map(|after| after - before);
        if let Some(sandbox) = &self.settling_sandbox {
            sandbox.wait_until_ready()?;
        }
        Ok(Measurement {
            wall: runs.iter().map(|run| run.wall).max().unwrap_or_default(),
            cpu: runs.iter().map(|run| run.cpu).sum(),
            memory: runs.iter().map(|run| run.memory).max().unwrap_or_default(),
            requests,
        })
    }
}

/// Takes the steps one after the other on a fresh world, `runs` times with each program; each row has the medians.
///
/// # Errors
/// If a step fails: figures for half of the work are worthless.
pub(super) fn measure(
    programs: &Programs,
    runs: usize,
    steps: Vec<BenchStep>,
    world: impl Fn(usize) -> Result<BenchRun>,
) -> Result<Vec<BenchRow>> {
    let medians = |program: &Path, command: fn(&BenchStep) -> Option<&String>| {
        let one = |run| {
            let world = world(run)?;
            let take = |step: &BenchStep| Some(world.run_step(program, command(step)?, step.at_once));
            steps.iter().map(|step| take(step).transpose()).collect::<Result<Vec<Option<Measurement>>>>()
        };
        let all = (0..runs.max(1)).map(one).collect::<Result<Vec<_>>>()?;
        let of_step = |at: usize| all.iter().filter_map(|run| run[at]).collect::<Vec<_>>();
        Ok::<_, anyhow::Error>((0..steps.len()).map(of_step).collect::<Vec<_>>())
    };
    let ours = medians(&programs.capstan, |step| Some(&step.capstan))?;
    let is_compared = steps.iter().any(|step| step.reference.is_some());
    let theirs = programs.reference.as_deref().filter(|_| is_compared);
    let theirs = theirs.map(|program| medians(program, |step| step.reference.as_ref())).transpose()?;
    let row = |(at, step): (usize, BenchStep)| BenchRow {
        reference: theirs
            .as_ref()
            .filter(|_| step.reference.is_some())
            .map(|runs| Measurement::median(&runs[at])),
        ..BenchRow::new(step.name, Measurement::median(&ours[at]), step.targets)
    };
    Ok(steps.into_iter().enumerate().map(row).collect())
}
