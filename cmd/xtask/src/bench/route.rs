use std::{
    path::Path,
    process::{Command, Stdio},
    thread,
    time::Duration,
};

use anyhow::{Result, bail};

use super::{
    figures::Figures,
    population::Population,
    sample::{self, scrubbed},
};

/// An API server in a separate process.
pub(super) trait Side {
    /// The kubeconfig of an administrator.
    fn kubeconfig(&self) -> &Path;

    /// The number of answered requests of the measured programs.
    ///
    /// # Errors
    /// Fails if the server does not report its requests.
    fn requests(&self) -> Result<usize>;
}

/// The verb to measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verb {
    Move,
    /// A dry run without a target, as in clusterctl.
    DryRun,
    Describe,
}

/// Source and target.
#[derive(Clone, Copy)]
pub(super) struct Route<'a> {
    pub(super) from: &'a dyn Side,
    pub(super) to: &'a dyn Side,
    /// The working folder of the programs.
    pub(super) folder: &'a Path,
}

impl Route<'_> {
    /// The figures of one run.
    ///
    /// # Errors
    /// Fails if the run fails.
    pub(super) fn measure(&self, program: &Path, verb: Verb) -> Result<Figures> {
        let before = self.requests()?;
        let taken = sample::once(program, &self.arguments(verb), self.folder)?;
        Ok(Figures { requests: Some(self.requests()? - before), ..taken })
    }

    /// The number of requests to both sides.
    ///
    /// # Errors
    /// Fails if a server does not report its requests.
    pub(super) fn requests(&self) -> Result<usize> {
        Ok(self.from.requests()? + self.to.requests()?)
    }

    /// Starts a move and kills it after a time.
    ///
    /// # Errors
    /// Fails if the move has ended before.
    pub(super) fn kill_after(&self, program: &Path, time: Duration) -> Result<()> {
        let mut command: Command = scrubbed(program, self.folder);
        let command = command.args(self.arguments(Verb::Move)).stdin(Stdio::null());
        let mut child = command.stdout(Stdio::null()).spawn()?;
        thread::sleep(time);
        child.kill()?;
        if child.wait()?.code().is_some() {
            bail!("a move that was to be killed had ended before");
        }
        Ok(())
    }

    fn arguments(&self, verb: Verb) -> Vec<String> {
        let path = |side: &dyn Side| side.kubeconfig().display().to_string();
        let (source, target) = (path(self.from), path(self.to));
        let words: &[&str] = match verb {
            Verb::Move => &["move", "--to-kubeconfig", &target],
            Verb::DryRun => &["move", "--dry-run"],
            Verb::Describe => &["describe", "cluster", "c0", "--grouping=false"],
        };
        let common = ["-n", Population::NAMESPACE, "--kubeconfig", &source];
        words.iter().chain(&common).map(|word| (*word).to_owned()).collect()
    }
}

/// True if a user agent belongs to one of the measured programs.
pub(super) fn is_program(client: &str) -> bool {
    let name = client.split('/').next().unwrap_or_default();
    ["capstan", "clusterctl"].contains(&name)
}
