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

/// An API server in processes of its own.
pub(super) trait Side {
    /// How an administrator reaches it.
    fn kubeconfig(&self) -> &Path;

    /// How many requests of the measured programs it has answered.
    ///
    /// # Errors
    /// When it does not tell.
    fn requests(&self) -> Result<usize>;
}

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verb {
    Move,
    /// Without a target, as clusterctl has it.
    DryRun,
    Describe,
}

/// From where to where.
#[derive(Clone, Copy)]
pub(super) struct Route<'a> {
    pub(super) from: &'a dyn Side,
    pub(super) to: &'a dyn Side,
    /// Where the programs run.
    pub(super) folder: &'a Path,
}

impl Route<'_> {
    /// What one run takes.
    ///
    /// # Errors
    /// When it fails.
    pub(super) fn measure(&self, program: &Path, verb: Verb) -> Result<Figures> {
        let before = self.requests()?;
        let taken = sample::once(program, &self.arguments(verb), self.folder)?;
        Ok(Figures { requests: Some(self.requests()? - before), ..taken })
    }

    /// What both sides were asked.
    ///
    /// # Errors
    /// When one of them does not tell.
    pub(super) fn requests(&self) -> Result<usize> {
        Ok(self.from.requests()? + self.to.requests()?)
    }

    /// Starts a move and kills it after a time.
    ///
    /// # Errors
    /// When it has ended before.
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

/// Whether a client, by what it says it is, is one of the measured programs.
pub(super) fn is_program(client: &str) -> bool {
    let name = client.split('/').next().unwrap_or_default();
    ["capstan", "clusterctl"].contains(&name)
}
