//! A single move of a large fleet by capstan, and the same move killed at half time and repeated.

use std::path::Path;

use anyhow::{Result, bail};

use super::{
    figures::Figures,
    judge::Target,
    moves::{QUIET, Sides},
    population::{self, Populated, Population},
    real::Real,
    route::{Route, Side, Verb},
    sample::Programs,
    table::{self, Row},
};

/// The default number of clusters, too many to move manually.
pub(super) const CLUSTERS: usize = 1_000;

fn fleet(clusters: usize) -> Population {
    Population { clusters, machines: 4, megabytes_of_secrets: 0 }
}

/// Moves a fleet between two sandboxes. Each run has new sandboxes.
///
/// # Errors
/// Fails if a move fails.
pub(super) fn between_sandboxes(programs: &Programs, folder: &Path, clusters: usize) -> Result<String> {
    let (ours, fleet) = (&*programs.ours, fleet(clusters));
    let made = Populated::make(ours, folder, fleet)?;
    let sides = Sides::start(ours, folder, &made, &QUIET)?;
    let whole = move_all(sides.route(), ours, fleet)?;
    drop(sides);
    let sides = Sides::start(ours, folder, &made, &QUIET)?;
    let again = move_killed(sides.route(), ours, fleet, &whole)?;
    Ok(text("sandboxes", fleet, whole, again))
}

/// Moves a fleet from one real API server to another. Moves the fleet back for the run that is killed.
///
/// # Errors
/// Fails if a move fails, or if this machine has no real API server.
pub(super) fn between_real_servers(programs: &Programs, folder: &Path, clusters: usize) -> Result<String> {
    let (ours, fleet) = (&*programs.ours, fleet(clusters));
    let (here, there) = (Real::start(folder, "here")?, Real::start(folder, "there")?);
    population::fill(here.kubeconfig(), Some(fleet))?;
    population::fill(there.kubeconfig(), None)?;
    let whole = move_all(Route { from: &here, to: &there, folder }, ours, fleet)?;
    population::reconcile(there.kubeconfig(), fleet)?;
    let again = move_killed(Route { from: &there, to: &here, folder }, ours, fleet, &whole)?;
    Ok(text("real API servers", fleet, whole, again))
}

fn move_all(route: Route<'_>, program: &Path, fleet: Population) -> Result<Figures> {
    let whole = route.measure(program, Verb::Move)?;
    check(route, fleet)?;
    Ok(whole)
}

/// Kills a move at half time and repeats it. Returns the figures of the second run, with the requests of both runs.
fn move_killed(route: Route<'_>, program: &Path, fleet: Population, whole: &Figures) -> Result<Figures> {
    let before = route.requests()?;
    route.kill_after(program, whole.wall / 2)?;
    let again = move_all(route, program, fleet)?;
    Ok(Figures { requests: Some(route.requests()? - before), ..again })
}

/// Fails if the move has lost or left objects, because its figures would be meaningless.
fn check(route: Route<'_>, fleet: Population) -> Result<()> {
    let held = (population::count(route.from.kubeconfig())?, population::count(route.to.kubeconfig())?);
    if held != (0, fleet.objects()) {
        let (from, to) = held;
        bail!("after the move the source holds {from} objects, and the target {to} of {}", fleet.objects());
    }
    Ok(())
}

fn text(servers: &str, fleet: Population, whole: Figures, again: Figures) -> String {
    let row =
        |name: &str, ours, targets| Row { name: name.to_owned(), ours, theirs: None, alone: None, targets };
    let objects = fleet.objects();
    let most = whole.requests.unwrap_or_default() * 11 / 10;
    let rows = [
        row("move", whole, vec![Target::Requests(5 * objects)]),
        row("the same command after it was killed at the half", again, vec![Target::Requests(most)]),
    ];
    format!(
        "\n{} clusters, {objects} objects, between two {servers}:\n{}",
        fleet.clusters,
        table::render(&rows)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_size_is_that_of_the_design() {
        assert_eq!(fleet(CLUSTERS).objects(), 29_000);
    }
}
