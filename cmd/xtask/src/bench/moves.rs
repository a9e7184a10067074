//! Moving and describing, by both programs, between sandboxes in separate processes.

use std::path::Path;

use anyhow::{Context as _, Result};

use super::{
    figures::Figures,
    judge::Target,
    population::{Populated, Population},
    route::{Route, Verb},
    sample::Programs,
    sandbox::{Running, Setup},
    table::{self, Row},
};

/// Disables simulated controllers that would change moved objects. Garbage collection stays enabled.
pub(super) const QUIET: [&str; 2] = ["--without", "workloads,api-services,cert-manager,cluster-api"];
const SLOW: [&str; 2] = ["--fault", "latency:20ms"];

/// A command line for a population.
struct Work {
    name: &'static str,
    verb: Verb,
    population: Population,
    /// Each request takes 20 ms.
    is_slow: bool,
    targets: fn(usize) -> Vec<Target>,
}

const SMALL: Population = Population { clusters: 1, machines: 100, megabytes_of_secrets: 0 };
const LARGE: Population = Population { machines: 500, ..SMALL };

fn works() -> [Work; 5] {
    let work = |name, verb, population, targets| Work { name, verb, population, is_slow: false, targets };
    [
        work("move, 100 machines", Verb::Move, SMALL, |objects| {
            vec![Target::TimeShare(8), Target::Requests(5 * objects), Target::NoMoreMemory]
        }),
        work("move, 500 machines", Verb::Move, LARGE, |objects| {
            vec![
                Target::TimeShare(8),
                Target::Requests(5 * objects),
                Target::NoMoreMemory,
                Target::EachAsAlone { objects, alone: SMALL.objects() },
            ]
        }),
        Work {
            is_slow: true,
            ..work("move, 100 machines, 20 ms a request", Verb::Move, SMALL, |objects| {
                vec![Target::TimeShare(25), Target::Requests(5 * objects)]
            })
        },
        work(
            "move --dry-run, beside 140 MB of Secrets that stay",
            Verb::DryRun,
            Population { megabytes_of_secrets: 140, ..SMALL },
            |_| vec![Target::TimeShare(4), Target::Memory(60)],
        ),
        work(
            "describe cluster --grouping=false, 2,000 machines",
            Verb::Describe,
            Population { machines: 2_000, ..SMALL },
            |_| vec![Target::TimeShare(40), Target::Requests(60)],
        ),
    ]
}

/// The setup of the measurements.
struct Bench<'a> {
    programs: &'a Programs,
    folder: &'a Path,
    runs: usize,
}

/// Measures every workload with both programs.
///
/// # Errors
/// Fails if a run fails, because figures for incomplete work would be meaningless.
pub(super) fn run(programs: &Programs, folder: &Path, runs: usize) -> Result<String> {
    let bench = Bench { programs, folder, runs: runs.max(1) };
    let mut rows: Vec<Row> = Vec::new();
    for work in works() {
        match bench.row(&work, rows.first()) {
            Ok(row) => rows.push(row),
            // Keeps the results so far, because they took minutes to measure.
            Err(error) => return Err(error.context(table::render(&rows))),
        }
    }
    Ok(format!("\nMoving and describing:\n{}", table::render(&rows)))
}

impl Bench<'_> {
    fn row(&self, work: &Work, first: Option<&Row>) -> Result<Row> {
        let objects = Populated::make(&self.programs.ours, self.folder, work.population)?;
        let ours = self.median(&self.programs.ours, work, &objects)?;
        let theirs = self.programs.theirs.as_deref();
        let theirs = theirs.map(|peer| self.median(peer, work, &objects)).transpose()?;
        let count = work.population.objects();
        let (name, targets) = (format!("{} ({count} objects)", work.name), (work.targets)(count));
        Ok(Row { name, ours, theirs, alone: first.map(|row| row.ours), targets })
    }

    fn median(&self, program: &Path, work: &Work, objects: &Populated) -> Result<Figures> {
        let flags = if work.is_slow { [QUIET, SLOW].concat() } else { QUIET.to_vec() };
        let once = || {
            let sides = Sides::start(&self.programs.ours, self.folder, objects, &flags)?;
            let taken = sides.route().measure(program, work.verb);
            taken.with_context(|| format!("`{}` with `{}`", work.name, program.display()))
        };
        let runs: Vec<Figures> = (0..self.runs).map(|_| once()).collect::<Result<_>>()?;
        Ok(Figures::median(&runs))
    }
}

/// Two sandboxes: one with the objects, and one with their kinds only.
pub(super) struct Sides<'a> {
    source: Running<'a>,
    target: Running<'a>,
    folder: &'a Path,
}

impl<'a> Sides<'a> {
    /// Starts the sandboxes on fresh copies of a population.
    ///
    /// # Errors
    /// Fails if a sandbox does not start.
    pub(super) fn start(
        ours: &'a Path,
        folder: &'a Path,
        objects: &'a Populated,
        flags: &[&str],
    ) -> Result<Self> {
        let side = |name, data: &Path| Running::start(ours, folder, &Setup { name, data: Some(data), flags });
        let (source, target) = objects.copies()?;
        Ok(Self { source: side("source", &source)?, target: side("target", &target)?, folder })
    }

    pub(super) fn route(&self) -> Route<'_> {
        Route { from: &self.source, to: &self.target, folder: self.folder }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sizes_are_those_of_the_design() {
        let sizes = works().map(|work| work.population.objects());
        assert_eq!(sizes, [413, 2_013, 413, 413, 8_013]);
    }
}
