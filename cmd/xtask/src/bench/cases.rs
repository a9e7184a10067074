//! Everything that is measured, part by part.

use std::{path::Path, rc::Rc};

use anyhow::{Result, bail};
use support::registry::{Registry, RegistryAccess, RegistryTransport};

use super::{
    Bench,
    figures::{Measurement, Programs},
    kustomization::{self, PATCHES},
    population::{self, PopulatedData, Population},
    releases::{self, ReleaseHost},
    servers::{ApiServer, RealServer, SandboxServer},
    steps::{BenchRun, BenchStep, measure},
    table::{self, BenchRow},
    target::BenchTarget,
};
use crate::print::print_line;

/// The folders of Cluster API that are built into a release.
const RELEASE_FOLDERS: [&str; 3] =
    ["core/config/default", "bootstrap/kubeadm/config/default", "controlplane/kubeadm/config/default"];
/// Objects of the smaller kustomization; the larger one has ten times as many.
const SMALL_TREE_OBJECTS: usize = 4_000;
const SMALL_LAYER_BYTES: usize = 1024;
const LARGE_LAYER_BYTES: usize = 300 * 1024 * 1024;
const SLOW_SERVER: &str = "--fault latency:20ms";
/// Controllers of these kinds would work on moved objects; garbage is still collected.
const NO_CONTROLLERS: &str = "--without workloads,api-services,cert-manager,cluster-api";
const MOVE: &str = "move --to-kubeconfig {target} -n team --kubeconfig {source}";
const SMALL_POPULATION: Population = Population { clusters: 1, machines: 100, megabytes_of_secrets: 0 };
/// Clusters of a fleet that nobody moves by hand.
const FLEET_CLUSTERS: usize = 1_000;

/// Measures commands that use no server.
pub(super) fn commands(bench: &Bench, programs: &Programs, folder: &Path) -> Result<()> {
    let targets = |cpu, memory| vec![BenchTarget::CpuShare(cpu), BenchTarget::Memory(memory)];
    let mut steps = vec![BenchStep::same_command("version", "version", targets(5, 8))];
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
            ("with a file 10 times as large", format!("{provider}:v9.0.0"), Vec::new()),
        ] {
            steps.push(BenchStep::same_command(name, &command, targets));
        }
    } else {
        print_line("the corpus is missing; only `version` is measured");
    }
    let world = |_| Ok(BenchRun::new(folder)?.with_value("{config}", &config));
    print_line(&table::render(&measure(programs, bench.runs, steps, world)?));
    Ok(())
}

/// Measures the trees of Cluster API beside kubectl, and generated ones, for which kubectl takes minutes, without it.
pub(super) fn kustomize(bench: &Bench, programs: &Programs, folder: &Path) -> Result<()> {
    let programs = Programs {
        capstan: programs.capstan.clone(),
        reference: bench.kubectl.as_deref().map(super::absolute_path).transpose()?,
    };
    let build = "kustomize build {tree}";
    let row = |step: BenchStep, tree: &Path| {
        let world = |_| Ok(BenchRun::new(folder)?.with_value("{tree}", tree.display()));
        Ok::<_, anyhow::Error>(measure(&programs, bench.runs, vec![step], world)?.remove(0))
    };
    let mut rows = Vec::new();
    if let Some(trees) = &bench.trees {
        let trees = super::absolute_path(trees)?;
        for name in RELEASE_FOLDERS {
            let targets = vec![BenchTarget::CpuShare(10), BenchTarget::MemoryShare(4)];
            let step =
                BenchStep::two_commands(format!("Cluster API, {name}"), build, "kustomize {tree}", targets);
            rows.push(row(step, &trees.join(name))?);
        }
    }
    let mut baseline = None;
    for (count, flag, name, target) in [
        (SMALL_TREE_OBJECTS, "", "", BenchTarget::CpuMillis(300)),
        (SMALL_TREE_OBJECTS, " --provenance", ", `--provenance`", BenchTarget::TimesBaseline(3)),
        (SMALL_TREE_OBJECTS * 10, "", "", BenchTarget::TimesBaseline(12)),
    ] {
        let tree = kustomization::create_tree(&folder.join(format!("objects-{count}")), count)?;
        let name = format!("{count} objects, {PATCHES} patches, a prefix, labels{name}");
        let measured = row(BenchStep::capstan_only(name, format!("{build}{flag}"), vec![target]), &tree)?;
        let ours = measured.capstan;
        rows.push(BenchRow { baseline, ..measured });
        baseline.get_or_insert(ours);
    }
    print_line(&table::render(&rows));
    Ok(())
}

/// The clusters on which the life of a management cluster is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ClusterScenario {
    Empty,
    Slow,
    Crowded,
}

/// The journeys of a management cluster, each on a cluster of its own.
fn lifecycle_steps(site: ClusterScenario) -> [Vec<BenchStep>; 3] {
    let step = |name: &str,
                ours: &str,
                theirs: &str,
                requests: Option<usize>,
                share: Option<(ClusterScenario, u32)>| {
        let share = share.filter(|(at, _)| *at == site).map(|(_, of)| BenchTarget::TimeShare(of));
        let as_without = (site == ClusterScenario::Crowded).then_some(BenchTarget::AsBaseline);
        let targets =
            share.into_iter().chain(requests.map(BenchTarget::Requests)).chain(as_without).collect();
        let [ours, theirs] =
            [ours, theirs].map(|command| format!("{command} --config {{config}} --kubeconfig {{source}}"));
        BenchStep::two_commands(name, &ours, &theirs, targets)
    };
    let [init_4, init_5] = [4, 5].map(|count| format!("init {}", releases::flags(count)));
    // The programs have opposite defaults, and one flag each to change them.
    let [ours_4, ours_5] = [&init_4, &init_5].map(|init| format!("{init} --no-wait"));
    let upgrade = "upgrade apply --contract v1beta2";
    let plan = "upgrade plan";
    let (at_empty, at_slow) = (|of| Some((ClusterScenario::Empty, of)), Some((ClusterScenario::Slow, 5)));
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
    let mut baseline: Vec<Measurement> = Vec::new();
    for (site, flags, title) in [
        (ClusterScenario::Empty, "", "An empty cluster"),
        (ClusterScenario::Slow, SLOW_SERVER, "Each request takes 20 ms longer"),
        (ClusterScenario::Crowded, "", "With 300 CRDs and 5,000 Secrets unrelated to providers"),
    ] {
        let world = |_| {
            let sandbox = SandboxServer::start(&programs.capstan, folder, "bench", None, flags)?;
            if site == ClusterScenario::Crowded {
                population::fill_with_unrelated(sandbox.kubeconfig())?;
            }
            Ok(BenchRun::new(folder)?.with_value("{config}", &config).with_management_cluster(sandbox))
        };
        let mut rows = Vec::new();
        for steps in lifecycle_steps(site) {
            rows.extend(measure(programs, bench.runs, steps, world)?);
        }
        if site == ClusterScenario::Empty {
            baseline = rows.iter().map(|row| row.capstan).collect();
        }
        rows.iter_mut().zip(&baseline).for_each(|(row, ours)| row.baseline = Some(*ours));
        print_line(&format!("\n{title}:\n{}", table::render(&rows)));
    }
    Ok(())
}

/// The steps over populations, with the flags of the sandboxes.
fn move_steps() -> [(BenchStep, Population, String); 5] {
    let populated = |name: &str, command: &str, population: Population, flags, targets: &[BenchTarget]| {
        let name = format!("{name} ({} objects)", population.objects());
        (
            BenchStep::same_command(name, command, targets.to_vec()),
            population,
            format!("{NO_CONTROLLERS} {flags}"),
        )
    };
    let (small, large) = (SMALL_POPULATION.objects(), Population { machines: 500, ..SMALL_POPULATION });
    let each = BenchTarget::EachAsBaseline { objects: large.objects(), of_baseline: small };
    let requests = |objects| BenchTarget::Requests(5 * objects);
    let of_large = [BenchTarget::TimeShare(8), requests(large.objects()), BenchTarget::NoMoreMemory, each];
    [
        populated(
            "move, 100 machines",
            MOVE,
            SMALL_POPULATION,
            "",
            &[of_large[0], requests(small), of_large[2]],
        ),
        populated("move, 500 machines", MOVE, large, "", &of_large),
        populated(
            "move, 100 machines, 20 ms a request",
            MOVE,
            SMALL_POPULATION,
            SLOW_SERVER,
            &[BenchTarget::TimeShare(25), requests(small)],
        ),
        populated(
            "move --dry-run, beside 140 MB of Secrets that stay",
            // clusterctl accepts no target with it.
            "move --dry-run -n team --kubeconfig {source}",
            Population { megabytes_of_secrets: 140, ..SMALL_POPULATION },
            "",
            &[BenchTarget::TimeShare(4), BenchTarget::Memory(60)],
        ),
        populated(
            "describe cluster --grouping=false, 2,000 machines",
            "describe cluster c0 --grouping=false -n team --kubeconfig {source}",
            Population { machines: 2_000, ..SMALL_POPULATION },
            "",
            &[BenchTarget::TimeShare(40), BenchTarget::Requests(60)],
        ),
    ]
}

/// Measures moves between sandboxes, and descriptions.
pub(super) fn moves(bench: &Bench, programs: &Programs, folder: &Path) -> Result<()> {
    let mut rows: Vec<BenchRow> = Vec::new();
    for (step, population, flags) in move_steps() {
        let objects = PopulatedData::create(&programs.capstan, folder, population)?;
        let world = |_| {
            let [source, target] = objects.start_servers(&programs.capstan, folder, &flags)?;
            Ok(BenchRun::new(folder)?.with_route(&source, &target))
        };
        let baseline = rows.first().map(|row| row.capstan);
        let measured = measure(programs, bench.runs, vec![step], world)?;
        rows.extend(measured.into_iter().map(|row| BenchRow { baseline, ..row }));
    }
    print_line(&format!("\nMoving and describing:\n{}", table::render(&rows)));
    Ok(())
}

/// Measures releases on the way to a closed site: folders, a web server, the cache, a bundle, a registry.
pub(super) fn supply(bench: &Bench, programs: &Programs, folder: &Path) -> Result<()> {
    let Some(corpus) = releases::corpus() else { return Ok(()) };
    let folders = releases::configuration(corpus.display(), &folder.join("folders.yaml"), "")?;
    let (web, files) = ReleaseHost::serving_releases(&corpus)?;
    let from_web = web.configuration(folder)?;
    let registry = Registry::start(RegistryTransport::Plain, RegistryAccess::Anonymous);
    let list = format!("init list-images {} --config {{config}}", releases::flags(5));
    let reading = |steps, config: &str, web: Option<&Rc<ReleaseHost>>| {
        let world = |_| {
            let world = BenchRun::new(folder)?.with_value("{config}", config);
            Ok(if let Some(web) = web { world.with_server(web.clone()) } else { world })
        };
        measure(programs, bench.runs, steps, world)
    };
    let name = "init list-images, from folders";
    let mut rows = reading(vec![BenchStep::capstan_only(name, &list, Vec::new())], &folders, None)?;
    let targets = || vec![BenchTarget::Requests(files)];
    let offline = vec![BenchTarget::BeyondBaseline(10), BenchTarget::Requests(0)];
    let steps = vec![
        BenchStep::capstan_only("from a web server, first run", &list, targets()),
        BenchStep::capstan_only("from a web server, second, offline", format!("{list} --offline"), offline),
    ];
    rows.extend(reading(steps, &from_web, Some(&web))?);
    rows[2].baseline = Some(rows[0].capstan);
    let at_once = BenchStep::capstan_only("eight first runs at once", &list, targets()).with_concurrency(8);
    rows.extend(reading(vec![at_once], &from_web, Some(&web))?);

    let bundles = |steps, name: &str, config: &str| {
        let world = |run| {
            let registry = registry.as_ref().map(Registry::host).unwrap_or_default();
            let world = BenchRun::new(folder)?.with_value("{config}", config);
            Ok(world.with_value("{registry}", format!("{registry}/{name}/{run}")))
        };
        measure(programs, bench.runs, steps, world)
    };
    rows.extend(bundles(
        bundle_steps("", Some(BenchTarget::Millis(1_000)), registry.is_some()),
        "bundle",
        &folders,
    )?);
    print_line(&format!(
        "\nFive providers and cert-manager; requests are those for files:\n{}",
        table::render(&rows)
    ));

    let with_images = |name: &str, layer_bytes| {
        let web = ReleaseHost::serving_images(layer_bytes);
        let images = format!("images: {{all: {{repository: {}, tag: v1}}}}\n", web.authority());
        let config = releases::configuration(corpus.display(), &folder.join("images.yaml"), &images)?;
        let mut steps = bundle_steps(" --with-images", Some(BenchTarget::FlatMemory), registry.is_some());
        steps.retain(|step| !step.targets.is_empty());
        bundles(steps, name, &config)
    };
    let small = with_images("small", SMALL_LAYER_BYTES)?;
    let mut large = with_images("large", LARGE_LAYER_BYTES)?;
    large.iter_mut().zip(small).for_each(|(row, small)| row.baseline = Some(small.capstan));
    print_line(&format!("With images, one of which has a layer of 300 MiB:\n{}", table::render(&large)));
    Ok(())
}

/// The journey of a bundle; the target is for the steps that copy it.
fn bundle_steps(flag: &str, target: Option<BenchTarget>, has_registry: bool) -> Vec<BenchStep> {
    let create =
        format!("bundle create {} --config {{config}} --file {{home}}/lab.tar{flag}", releases::flags(5));
    let targets = || target.into_iter().collect::<Vec<_>>();
    let load = |to: &str| format!("bundle load {{home}}/lab.tar {to}");
    let mut steps = vec![
        BenchStep::capstan_only("bundle create", create, targets()),
        BenchStep::capstan_only("bundle inspect", "bundle inspect {home}/lab.tar", Vec::new()),
        BenchStep::capstan_only("bundle verify", "bundle verify {home}/lab.tar", Vec::new()),
        BenchStep::capstan_only("bundle load, to a folder", load("--to-folder {home}/site"), targets()),
    ];
    if has_registry {
        let load = load("--to-registry oci://{registry}");
        steps.push(BenchStep::capstan_only("bundle load, to a registry", load, targets()));
    }
    steps
}

/// Measures one move of very many Clusters, and the same move that is killed at half its time and then resumed.
pub(super) fn fleet(bench: &Bench, programs: &Programs, folder: &Path) -> Result<()> {
    let clusters = bench.clusters.map_or(FLEET_CLUSTERS, usize::from);
    let fleet = Population { clusters, machines: 4, megabytes_of_secrets: 0 };
    let (objects, program) = (fleet.objects(), &programs.capstan);
    let move_all = |[source, target]: [&Rc<dyn ApiServer>; 2], killed_after| {
        let world = BenchRun::new(folder)?.with_route(source, target);
        let before = world.requests()?.unwrap_or_default();
        if let Some(time) = killed_after {
            world.kill_after(program, MOVE, time)?;
        }
        let figures = world.run_step(program, MOVE, 1)?;
        let (left, moved) =
            (population::count(source.kubeconfig())?, population::count(target.kubeconfig())?);
        if (left, moved) != (0, objects) {
            bail!("after the move the source has {left} objects, and the target {moved} of {objects}");
        }
        let requests = world.requests()?.map(|after| after - before);
        Ok(Measurement { requests, ..figures })
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
        let data = PopulatedData::create(program, folder, fleet)?;
        let fresh = || data.start_servers(program, folder, NO_CONTROLLERS);
        let whole = move_all(fresh()?.each_ref(), None)?;
        ("sandboxes", whole, move_all(fresh()?.each_ref(), Some(whole.wall / 2))?)
    };
    let most = whole.requests.unwrap_or_default() * 11 / 10;
    let rows = [
        BenchRow::new("move", whole, vec![BenchTarget::Requests(5 * objects)]),
        BenchRow::new(
            "the same command after a kill at half its time",
            resumed,
            vec![BenchTarget::Requests(most)],
        ),
    ];
    print_line(&format!(
        "\n{clusters} clusters, {objects} objects, between two {servers}:\n{}",
        table::render(&rows)
    ));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_lifecycle_target_has_a_benchmark_row() {
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
        assert_eq!(promised(ClusterScenario::Empty), plain);
        assert!(promised(ClusterScenario::Slow).contains(&"init, 5 providers [TimeShare(5)]".to_owned()));
        assert!(promised(ClusterScenario::Crowded).iter().all(|row| row.ends_with("AsBaseline]")));
    }

    #[test]
    fn the_benchmark_sizes_match_the_design() {
        let sizes = move_steps().map(|(_, population, _)| population.objects());
        assert_eq!(sizes, [413, 2_013, 413, 413, 8_013]);
        let fleet = Population { clusters: FLEET_CLUSTERS, machines: 4, megabytes_of_secrets: 0 };
        assert_eq!(fleet.objects(), 29_000);
    }
}
