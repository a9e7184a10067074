//! The lifecycle of a management cluster, by both programs, on separate sandboxes.

use std::{fmt::Write as _, path::Path};

use anyhow::{Context as _, Result};
use tokio::runtime::Runtime;

use super::{
    figures::Figures,
    judge::Target,
    providers,
    route::Side as _,
    sample::{self, Programs},
    sandbox::{Running, Setup},
    table::{self, Row},
    unrelated,
};
use crate::workspace::beside;

/// The environment of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum World {
    Plain,
    /// Each request takes 20 ms.
    Slow,
    /// With unrelated definitions and Secrets.
    Crowded,
}

const WORLDS: [World; 3] = [World::Plain, World::Slow, World::Crowded];

impl World {
    fn flags(self) -> &'static [&'static str] {
        match self {
            Self::Slow => &["--fault", "latency:20ms"],
            Self::Plain | Self::Crowded => &[],
        }
    }

    fn title(self) -> &'static str {
        match self {
            Self::Plain => "An empty cluster",
            Self::Slow => "Each request takes 20 ms longer",
            Self::Crowded => "Beside 300 CRDs and 5,000 Secrets that have nothing to do with providers",
        }
    }
}

/// A command line of a journey.
struct Verb {
    name: &'static str,
    arguments: Vec<String>,
    waits: Waits,
    /// The maximum number of requests, in every environment.
    requests: Option<usize>,
    /// The maximum wall time as 1/n of that of clusterctl, in one environment.
    share: Option<(World, u32)>,
}

/// The wait flag of a verb. Without a flag, the defaults of the two programs differ.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Waits {
    /// Neither program has a flag for this verb.
    AsEver,
    No,
    Yes,
}

impl Waits {
    fn flag(self, program: Program<'_>) -> Option<&'static str> {
        match (self, program) {
            (Self::No, Program::Ours(_)) => Some("--no-wait"),
            (Self::Yes, Program::Theirs(_)) => Some("--wait-providers"),
            _ => None,
        }
    }
}

/// The program to measure.
#[derive(Clone, Copy)]
enum Program<'a> {
    Ours(&'a Path),
    Theirs(&'a Path),
}

impl Verb {
    fn new(name: &'static str, arguments: Vec<String>, waits: Waits) -> Self {
        Self { name, arguments, waits, requests: None, share: None }
    }

    /// Adds the performance targets of the design.
    fn within(self, requests: Option<usize>, world: World, share: u32) -> Self {
        Self { requests, share: Some((world, share)), ..self }
    }

    fn targets(&self, world: World) -> Vec<Target> {
        let share =
            self.share.filter(|(promised, _)| *promised == world).map(|(_, of)| Target::TimeShare(of));
        let requests = self.requests.map(Target::Requests);
        let alone = (world == World::Crowded).then_some(Target::AsAlone);
        share.into_iter().chain(requests).chain(alone).collect()
    }
}

/// The journeys. Each runs on its own cluster.
fn journeys() -> [Vec<Verb>; 3] {
    let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
    let upgrade = || words("upgrade apply --contract v1beta2");
    let there = vec![
        Verb::new("init, 4 providers", providers::init(4), Waits::No).within(Some(180), World::Plain, 4),
        Verb::new("upgrade plan", words("upgrade plan"), Waits::AsEver),
        Verb::new("upgrade, 4 providers", upgrade(), Waits::No).within(Some(300), World::Plain, 4),
    ];
    let and_back = vec![
        Verb::new("init, 5 providers", providers::init(5), Waits::No).within(None, World::Slow, 5),
        Verb::new("delete, 5 providers", words("delete --all"), Waits::AsEver).within(
            Some(150),
            World::Plain,
            3,
        ),
    ];
    let until_ready = vec![
        Verb::new("init, 4 providers, until ready", providers::init(4), Waits::Yes),
        Verb::new("upgrade, 4 providers, until ready", upgrade(), Waits::Yes),
    ];
    [there, and_back, until_ready]
}

/// The setup of the journeys.
struct Bench<'a> {
    programs: &'a Programs,
    folder: &'a Path,
    config: String,
    runtime: Runtime,
    runs: usize,
}

/// Measures every verb of every journey in every environment, with one table each. `None` without a corpus.
///
/// # Errors
/// Fails if a verb fails, because figures for incomplete work would be meaningless.
pub(super) fn run(programs: &Programs, folder: &Path, runs: usize) -> Result<Option<String>> {
    let corpus = beside("CAPSTAN_CORPUS", "corpus").join("providers");
    if !corpus.is_dir() {
        return Ok(None);
    }
    let config = providers::configuration(corpus.canonicalize()?.display(), &folder.join("lifecycle.yaml"))?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let bench = Bench { programs, folder, config, runtime, runs: runs.max(1) };
    let journeys = journeys();
    let mut alone = Vec::new();
    let mut text = String::new();
    for world in WORLDS {
        let mut rows = Vec::new();
        for (journey, verbs) in journeys.iter().enumerate() {
            let (ours, theirs) = bench.both(world, verbs)?;
            if world == World::Plain {
                alone.push(ours.clone());
            }
            rows.extend(verbs.iter().enumerate().map(|(verb, Verb { name, .. })| Row {
                name: (*name).to_owned(),
                ours: ours[verb],
                theirs: theirs.as_ref().map(|theirs| theirs[verb]),
                alone: Some(alone[journey][verb]),
                targets: verbs[verb].targets(world),
            }));
        }
        let _ = write!(text, "\n{}:\n{}", world.title(), table::render(&rows));
    }
    Ok(Some(text))
}

impl Bench<'_> {
    fn both(&self, world: World, verbs: &[Verb]) -> Result<(Vec<Figures>, Option<Vec<Figures>>)> {
        let ours = self.measure(Program::Ours(&self.programs.ours), world, verbs)?;
        let theirs = self.programs.theirs.as_deref();
        let theirs = theirs.map(|path| self.measure(Program::Theirs(path), world, verbs)).transpose()?;
        Ok((ours, theirs))
    }

    /// The median of each verb.
    fn measure(&self, program: Program<'_>, world: World, verbs: &[Verb]) -> Result<Vec<Figures>> {
        let runs: Vec<Vec<Figures>> =
            (0..self.runs).map(|_| self.journey(program, world, verbs)).collect::<Result<_>>()?;
        let of_verb = |index: usize| runs.iter().map(|run| run[index]).collect::<Vec<_>>();
        Ok((0..verbs.len()).map(|index| Figures::median(&of_verb(index))).collect())
    }

    /// Runs the verbs in order on a new sandbox.
    fn journey(&self, program: Program<'_>, world: World, verbs: &[Verb]) -> Result<Vec<Figures>> {
        let setup = Setup { flags: world.flags(), ..Setup::default() };
        let sandbox = Running::start(&self.programs.ours, self.folder, &setup)?;
        if world == World::Crowded {
            self.runtime.block_on(unrelated::fill(&sandbox.kubeconfig));
        }
        let mut figures = Vec::new();
        for verb in verbs {
            let before = sandbox.requests()?;
            let taken = self
                .once(program, verb, &sandbox)
                .with_context(|| format!("`{}` ({})", verb.name, world.title()))?;
            figures.push(Figures { requests: Some(sandbox.requests()? - before), ..taken });
            sandbox.settle()?;
        }
        Ok(figures)
    }

    fn once(&self, program: Program<'_>, verb: &Verb, sandbox: &Running<'_>) -> Result<Figures> {
        let (Program::Ours(path) | Program::Theirs(path)) = program;
        let kubeconfig = sandbox.kubeconfig.display().to_string();
        let settings = ["--config", &self.config, "--kubeconfig", &kubeconfig];
        let flags = verb.waits.flag(program).into_iter().chain(settings).map(str::to_owned);
        let arguments: Vec<String> = verb.arguments.iter().cloned().chain(flags).collect();
        sample::once(path, &arguments, self.folder)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_promise_of_the_life_cycle_is_held_against_a_row() {
        let all = journeys();
        let promised = |world| {
            let verbs = all.iter().flatten();
            verbs
                .filter(|verb| !verb.targets(world).is_empty())
                .map(|verb| format!("{} {:?}", verb.name, verb.targets(world)))
                .collect::<Vec<_>>()
        };
        let plain = [
            "init, 4 providers [TimeShare(4), Requests(180)]",
            "upgrade, 4 providers [TimeShare(4), Requests(300)]",
            "delete, 5 providers [TimeShare(3), Requests(150)]",
        ];
        assert_eq!(promised(World::Plain), plain);
        assert!(promised(World::Slow).contains(&"init, 5 providers [TimeShare(5)]".to_owned()));
        assert!(promised(World::Crowded).iter().all(|row| row.ends_with("AsAlone]")));
    }
}
