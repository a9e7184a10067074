//! Everything that is measured, part by part.

use std::{path::Path, rc::Rc};

use anyhow::{Result, bail};
use support::registry::{Guests, Registry, Transport};

use super::{
    Bench,
    figures::{Figures, Programs},
    journey::{Step, World, measure},
    kustomization::{self, PATCHES},
    population::{self, Populated, Population},
    releases::{self, Web},
    servers::{ApiServer, RealServer, Sandbox},
    table::{self, Row},
    target::Target,
};
use crate::say::say;

/// The folders of Cluster API that are built into a release.
const TREES: [&str; 3] =
    ["core/config/default", "bootstrap/kubeadm/config/default", "controlplane/kubeadm/config/default"];
/// Objects of the smaller kustomization; the larger one has ten times as many.
const OBJECTS: usize = 4_000;
const SMALL_LAYER_BYTES: usize = 1024;
const LARGE_LAYER_BYTES: usize = 300 * 1024 * 1024;
const SLOW: &str = "--fault latency:20ms";
/// Controllers of these kinds would work on moved objects; garbage is still collected.
const QUIET: &str = "--without workloads,api-services,cert-manager,cluster-api";
const MOVE: &str = "move --to-kubeconfig {target} -n team --kubeconfig {source}";
const SMALL: Population = Population { clusters: 1, machines: 100, megabytes_of_secrets: 0 };
/// Clusters of a fleet that nobody moves by hand.
const FLEET: usize = 1_000;

/// Measures commands that use no server.
pub(super) fn commands(bench: &Bench, programs: &Programs, folder: &Path) -> Result<()> {
    let targets = |cpu, memory| vec![Target::CpuShare(cpu), Target::Memory(memory)];
    let mut steps = vec![Step::both("version", "version", targets(5, 8))];
    let mut config = String::new();
    if let Some(corpus) = releases::corpus() {
        config = releases::large_release(&corpus, folder)?;
        let cluster = "generate cluster demo -i docker:v1.14.0 -f development -n default --config {config}";
        let provider = "generate provider --config {config} --core cluster-api";
        for (name, command, targets) in [
            ("generate cluster --list-variables", format!("{cluster} --list-variables"), targets(7, 14)),
            (
                "generate cluster, ClusterClass",
                format!("{cluster} --kubernetes-version v1.35.0"),
                targets(6, 14),
            ),
            ("generate provider --core", format!("{provider}:v1.14.0"), targets(6, 30)),
            ("the same, 10 times as large", format!("{provider}:v9.0.0"), Vec::new()),
        ] {
            steps.push(Step::both(name, &command, targets));
        }
    } else {
        say("the corpus is missing; only `version` is measured");
    }
    let world = |_| Ok(World::new(folder)?.value("{config}", &config));
    say(&table::render(&measure(programs, bench.runs, steps, world)?));
    Ok(())
}

/// Measures the trees of Cluster API beside kubectl, and generated ones, for which kubectl takes minutes, without it.
pub(super) fn kustomize(bench: &Bench, programs: &Programs, folder: &Path) -> Result<()> {
    let programs = Programs {
        ours: programs.ours.clone(),
        theirs: bench.kubectl.as_deref().map(super::whole).transpose()?,
    };
    let build = "kustomize build {tree}";
    let row = |step: Step, tree: &Path| {
        let world = |_| Ok(World::new(folder)?.value("{tree}", tree.display()));
        Ok::<_, anyhow::Error>(measure(&programs, bench.runs, vec![step], world)?.remove(0))
    };
    let mut rows = Vec::new();
    if let Some(trees) = &bench.trees {
        let trees = super::whole(trees)?;
        for name in TREES {
            let targets = vec![Target::CpuShare(10), Target::MemoryShare(4)];
            let step = Step::each(format!("Cluster API, {name}"), build, "kustomize {tree}", targets);
            rows.push(row(step, &trees.join(name))?);
        }
    }
    let mut baseline = None;
    for (count, flag, name, target) in [
        (OBJECTS, "", "", Target::CpuMillis(300)),
        (OBJECTS, " --provenance", ", `--provenance`", Target::TimesBaseline(3)),
        (OBJECTS * 10, "", "", Target::TimesBaseline(12)),
    ] {
        let tree = kustomization::make(&folder.join(format!("objects-{count}")), count)?;
        let name = format!("{count} objects, {PATCHES} patches, a prefix, labels{name}");
        let measured = row(Step::ours(name, format!("{build}{flag}"), vec![target]), &tree)?;
        let ours = measured.ours;
        rows.push(Row { baseline, ..measured });
        baseline.get_or_insert(ours);
    }
    say(&table::render(&rows));
    Ok(())
}

/// The clusters on which the life of a management cluster is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Site {
    Empty,
    Slow,
    Crowded,
}

/// The journeys of a management cluster, each on a cluster of its own.
fn lifecycle_steps(site: Site) -> [Vec<Step>; 3] {
    let step = |name: &str, ours: &str, theirs: &str, requests: Option<usize>, share: Option<(Site, u32)>| {
        let share = share.filter(|(at, _)| *at == site).map(|(_, of)| Target::TimeShare(of));
        let as_without = (site == Site::Crowded).then_some(Target::AsBaseline);
        let targets = share.into_iter().chain(requests.map(Target::Requests)).chain(as_without).collect();
        let [ours, theirs] =
            [ours, theirs].map(|command| format!("{command} --config {{config}} --kubeconfig {{source}}"));
        Step::each(name, &ours, &theirs, targets)
    };
    let [init_4, init_5] = [4, 5].map(|count| format!("init {}", releases::flags(count)));
    // The programs have opposite defaults, and one flag each to change them.
    let [ours_4, ours_5] = [&init_4, &init_5].map(|init| format!("{init} --no-wait"));
    let upgrade = "upgrade apply --contract v1beta2";
    let plan = "upgrade plan";
    let (at_empty, at_slow) = (|of| Some((Site::Empty, of)), Some((Site::Slow, 5)));
    [
        vec![
            step("init, 4 providers", &ours_4, &init_4, Some(180), at_empty(4)),
            step("upgrade plan", plan, plan, None, None),
            step("upgrade, 4 providers", &format!("{upgrade} --no-wait"), upgrade, Some(300), at_empty(4)),
        ],
        vec![
            step("init, 5 providers", &ours_5, &init_5, None, at_slow),
            step("delete, 5 providers", "delete --all", "delete --all", Some(150), at_empty(3)),
        ],
        vec![
            step(
                "init, 4 providers, until ready",
                &init_4,
                &format!("{init_4} --wait-providers"),
                None,
                None,
            ),
            step(
                "upgrade, 4 providers, until ready",
                upgrade,
                &format!("{upgrade} --wait-providers"),
                None,
                None,
            ),
        ],
    ]
}

/// Measures management clusters from the first provider to the last.
pub(super) fn lifecycle(bench: &Bench, programs: &Programs, folder: &Path) -> Result<()> {
    let Some(corpus) = releases::corpus() else { return Ok(()) };
    let config = releases::configuration(corpus.display(), &folder.join("lifecycle.yaml"), "")?;
    let mut baseline: Vec<Figures> = Vec::new();
    for (site, flags, title) in [
        (Site::Empty, "", "An empty cluster"),
        (Site::Slow, SLOW, "Each request takes 20 ms longer"),
        (Site::Crowded, "", "Beside 300 CRDs and 5,000 Secrets that have nothing to do with providers"),
    ] {
        let world = |_| {
            let sandbox = Sandbox::start(&programs.ours, folder, "bench", None, flags)?;
            if site == Site::Crowded {
                population::fill_with_unrelated(sandbox.kubeconfig())?;
            }
            Ok(World::new(folder)?.value("{config}", &config).management_cluster(sandbox))
        };
        let mut rows = Vec::new();
        for steps in lifecycle_steps(site) {
            rows.extend(measure(programs, bench.runs, steps, world)?);
        }
        if site == Site::Empty {
            baseline = rows.iter().map(|row| row.ours).collect();
        }
        rows.iter_mut().zip(&baseline).for_each(|(row, ours)| row.baseline = Some(*ours));
        say(&format!("\n{title}:\n{}", table::render(&rows)));
    }
    Ok(())
}

/// The steps over populations, with the flags of the sandboxes.
fn move_steps() -> [(Step, Population, String); 5] {
    let populated = |name: &str, command: &str, population: Population, flags, targets: &[Target]| {
        let name = format!("{name} ({} objects)", population.objects());
        (Step::both(name, command, targets.to_vec()), population, format!("{QUIET} {flags}"))
    };
    let (small, large) = (SMALL.objects(), Population { machines: 500, ..SMALL });
    let each = Target::EachAsBaseline { objects: large.objects(), of_baseline: small };
    let requests = |objects| Target::Requests(5 * objects);
    let of_large = [Target::TimeShare(8), requests(large.objects()), Target::NoMoreMemory, each];
    [
        populated("move, 100 machines", MOVE, SMALL, "", &[of_large[0], requests(small), of_large[2]]),
        populated("move, 500 machines", MOVE, large, "", &of_large),
        populated(
            "move, 100 machines, 20 ms a request",
            MOVE,
            SMALL,
            SLOW,
            &[Target::TimeShare(25), requests(small)],
        ),
        populated(
            "move --dry-run, beside 140 MB of Secrets that stay",
            // clusterctl accepts no target with it.
            "move --dry-run -n team --kubeconfig {source}",
            Population { megabytes_of_secrets: 140, ..SMALL },
            "",
            &[Target::TimeShare(4), Target::Memory(60)],
        ),
        populated(
            "describe cluster --grouping=false, 2,000 machines",
            "describe cluster c0 --grouping=false -n team --kubeconfig {source}",
            Population { machines: 2_000, ..SMALL },
            "",
            &[Target::TimeShare(40), Target::Requests(60)],
        ),
    ]
}

/// Measures moves between sandboxes, and descriptions.
pub(super) fn moves(bench: &Bench, programs: &Programs, folder: &Path) -> Result<()> {
    let mut rows: Vec<Row> = Vec::new();
    for (step, population, flags) in move_steps() {
        let objects = Populated::make(&programs.ours, folder, population)?;
        let world = |_| {
            let [source, target] = objects.servers(&programs.ours, folder, &flags)?;
            Ok(World::new(folder)?.route(&source, &target))
        };
        let baseline = rows.first().map(|row| row.ours);
        let measured = measure(programs, bench.runs, vec![step], world)?;
        rows.extend(measured.into_iter().map(|row| Row { baseline, ..row }));
    }
    say(&format!("\nMoving and describing:\n{}", table::render(&rows)));
    Ok(())
}

/// Measures releases on the way to a closed site: folders, a web server, the cache, a bundle, a registry.
pub(super) fn supply(bench: &Bench, programs: &Programs, folder: &Path) -> Result<()> {
    let Some(corpus) = releases::corpus() else { return Ok(()) };
    let folders = releases::configuration(corpus.display(), &folder.join("folders.yaml"), "")?;
    let (web, files) = Web::of_releases(&corpus)?;
    let from_web = web.configuration(folder)?;
    let registry = Registry::start(Transport::Plain, Guests::Anybody);
    let list = format!("init list-images {} --config {{config}}", releases::flags(5));
    let reading = |steps, config: &str, web: Option<&Rc<Web>>| {
        let world = |_| {
            let world = World::new(folder)?.value("{config}", config);
            Ok(if let Some(web) = web { world.server(web.clone()) } else { world })
        };
        measure(programs, bench.runs, steps, world)
    };
    let name = "init list-images, from folders";
    let mut rows = reading(vec![Step::ours(name, &list, Vec::new())], &folders, None)?;
    let asked = || vec![Target::Requests(files)];
    let offline = vec![Target::BeyondBaseline(10), Target::Requests(0)];
    let steps = vec![
        Step::ours("the same from a web server, first run", &list, asked()),
        Step::ours("the same again, offline", format!("{list} --offline"), offline),
    ];
    rows.extend(reading(steps, &from_web, Some(&web))?);
    rows[2].baseline = Some(rows[0].ours);
    let at_once = Step::ours("eight first runs at once", &list, asked()).at_once(8);
    rows.extend(reading(vec![at_once], &from_web, Some(&web))?);

    let bundles = |steps, name: &str, config: &str| {
        let world = |run| {
            let registry = registry.as_ref().map(Registry::host).unwrap_or_default();
            let world = World::new(folder)?.value("{config}", config);
            Ok(world.value("{registry}", format!("{registry}/{name}/{run}")))
        };
        measure(programs, bench.runs, steps, world)
    };
    rows.extend(bundles(
        bundle_steps("", Some(Target::Millis(1_000)), registry.is_some()),
        "bundle",
        &folders,
    )?);
    say(&format!(
        "\nFive providers and cert-manager; requests are those for files:\n{}",
        table::render(&rows)
    ));

    let with_images = |name: &str, layer_bytes| {
        let web = Web::of_images(layer_bytes);
        let images = format!("images: {{all: {{repository: {}, tag: v1}}}}\n", web.authority());
        let config = releases::configuration(corpus.display(), &folder.join("images.yaml"), &images)?;
        let mut steps = bundle_steps(" --with-images", Some(Target::FlatMemory), registry.is_some());
        steps.retain(|step| !step.targets.is_empty());
        bundles(steps, name, &config)
    };
    let small = with_images("small", SMALL_LAYER_BYTES)?;
    let mut large = with_images("large", LARGE_LAYER_BYTES)?;
    large.iter_mut().zip(small).for_each(|(row, small)| row.baseline = Some(small.ours));
    say(&format!("With images, of which one has a layer of 300 MiB:\n{}", table::render(&large)));
    Ok(())
}

/// The journey of a bundle; the target is for the steps that copy it.
fn bundle_steps(flag: &str, target: Option<Target>, has_registry: bool) -> Vec<Step> {
    let create =
        format!("bundle create {} --config {{config}} --file {{home}}/lab.tar{flag}", releases::flags(5));
    let targets = || target.into_iter().collect::<Vec<_>>();
    let load = |to: &str| format!("bundle load {{home}}/lab.tar {to}");
    let mut steps = vec![
        Step::ours("bundle create", create, targets()),
        Step::ours("bundle inspect", "bundle inspect {home}/lab.tar", Vec::new()),
        Step::ours("bundle verify", "bundle verify {home}/lab.tar", Vec::new()),
        Step::ours("bundle load, to a folder", load("--to-folder {home}/site"), targets()),
    ];
    if has_registry {
        let load = load("--to-registry oci://{registry}");
        steps.push(Step::ours("bundle load, to a registry", load, targets()));
    }
    steps
}

/// Measures one move of very many Clusters, and the same move that is killed after half of its time and resumed.
pub(super) fn fleet(bench: &Bench, programs: &Programs, folder: &Path) -> Result<()> {
    let clusters = bench.clusters.map_or(FLEET, usize::from);
    let fleet = Population { clusters, machines: 4, megabytes_of_secrets: 0 };
    let (objects, program) = (fleet.objects(), &programs.ours);
    let move_all = |[source, target]: [&Rc<dyn ApiServer>; 2], killed_after| {
        let world = World::new(folder)?.route(source, target);
        let before = world.requests()?.unwrap_or_default();
        if let Some(time) = killed_after {
            world.kill_after(program, MOVE, time)?;
        }
        let figures = world.take(program, MOVE, 1)?;
        let (left, moved) =
            (population::count(source.kubeconfig())?, population::count(target.kubeconfig())?);
        if (left, moved) != (0, objects) {
            bail!("after the move the source has {left} objects, and the target {moved} of {objects}");
        }
        let requests = world.requests()?.map(|after| after - before);
        Ok(Figures { requests, ..figures })
    };
    let (servers, whole, resumed) = if bench.real {
        let start =
            |name| Ok::<_, anyhow::Error>(Rc::new(RealServer::start(folder, name)?) as Rc<dyn ApiServer>);
        let (here, there) = (start("here")?, start("there")?);
        population::fill(here.kubeconfig(), Some(fleet))?;
        population::fill(there.kubeconfig(), None)?;
        let whole = move_all([&here, &there], None)?;
        population::reconcile(there.kubeconfig(), fleet)?;
        ("real API servers", whole, move_all([&there, &here], Some(whole.wall / 2))?)
    } else {
        let data = Populated::make(program, folder, fleet)?;
        let fresh = || data.servers(program, folder, QUIET);
        let whole = move_all(fresh()?.each_ref(), None)?;
        ("sandboxes", whole, move_all(fresh()?.each_ref(), Some(whole.wall / 2))?)
    };
    let most = whole.requests.unwrap_or_default() * 11 / 10;
    let rows = [
        Row::new("move", whole, vec![Target::Requests(5 * objects)]),
        Row::new("the same command after it was killed at the half", resumed, vec![Target::Requests(most)]),
    ];
    say(&format!(
        "\n{clusters} clusters, {objects} objects, between two {servers}:\n{}",
        table::render(&rows)
    ));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_promise_of_the_life_cycle_is_held_against_a_row() {
        let promised = |site| {
            let steps = lifecycle_steps(site).into_iter().flatten();
            steps
                .filter(|step| !step.targets.is_empty())
                .map(|step| format!("{} {:?}", step.name, step.targets))
                .collect::<Vec<_>>()
        };
        let plain = [
            "init, 4 providers [TimeShare(4), Requests(180)]",
            "upgrade, 4 providers [TimeShare(4), Requests(300)]",
            "delete, 5 providers [TimeShare(3), Requests(150)]",
        ];
        assert_eq!(promised(Site::Empty), plain);
        assert!(promised(Site::Slow).contains(&"init, 5 providers [TimeShare(5)]".to_owned()));
        assert!(promised(Site::Crowded).iter().all(|row| row.ends_with("AsBaseline]")));
    }

    #[test]
    fn the_sizes_are_those_of_the_design() {
        let sizes = move_steps().map(|(_, population, _)| population.objects());
        assert_eq!(sizes, [413, 2_013, 413, 413, 8_013]);
        let fleet = Population { clusters: FLEET, machines: 4, megabytes_of_secrets: 0 };
        assert_eq!(fleet.objects(), 29_000);
    }
}
