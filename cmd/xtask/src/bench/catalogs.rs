//! Catalogs of clusters with many component instances.

use std::{
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Result, bail};

use super::{
    Bench,
    figures::Programs,
    steps::{BenchRun, BenchStep, measure},
    table::{self, BenchRow},
    target::BenchTarget,
};
use crate::print::print_line;

/// The numbers of instances. The last two show if the time grows with the number.
const SIZES: [usize; 4] = [1, 20, 60, 200];
/// The number of components; all further instances are aliases of them.
const COMPONENTS: usize = 20;
/// The objects of each instance.
const OBJECTS: usize = 10;

const DEFAULTS: &str = "\
parameters:
  NAME:
    =_metadata: {multi_instance: true}
    namespace: NAME
    image: registry.example.org/NAME
    replicas: 1
    settings: {a: 1, b: [x, y, z], c: {d: text}}
";

const CLASS: &str = "\
parameters:
  kapitan:
    compile:
      - input_type: jsonnet
        input_paths: ['${_base_directory}/component/main.jsonnet']
        output_path: ${_instance}
";

const PROGRAM: &str = "\
local kap = import 'lib/kapitan.libjsonnet';
local kube = import 'lib/kube.libjsonnet';
local inv = kap.inventory();
local params = inv.parameters.NAME;
local name(at) = inv.parameters._instance + '-' + at;
{
  [name(at)]: kube.Deployment(name(at)) {
    metadata+: { namespace: params.namespace },
    spec+: {
      replicas: params.replicas,
      template+: { spec+: { containers_:: { main: kube.Container('main') { image: params.image } } } },
    },
  }
  for at in std.range(1, OBJECTS)
}
";

/// Measures catalogs of several sizes: without results of earlier runs, without changes, and after a change of one class.
pub(super) fn catalogs(bench: &Bench, programs: &Programs, folder: &Path) -> Result<()> {
    let reference = super::find_on_path("commodore");
    let programs = Programs { capstan: programs.capstan.clone(), reference };
    let mut rows: Vec<BenchRow> = Vec::new();
    let mut smaller: Option<(usize, BenchRow)> = None;
    for size in SIZES {
        let work = create_work(&folder.join(format!("catalog-{size}")), size)?;
        let world = |_| Ok(BenchRun::new(folder)?.with_value("{work}", work.display()));
        let mut measured = measure(&programs, bench.runs, steps(size), world)?;
        if let Some((few, baseline)) = smaller.take().filter(|_| size > 100) {
            measured[0].baseline = Some(baseline.capstan);
            measured[0].targets.push(BenchTarget::EachAsBaseline { objects: size, of_baseline: few });
        }
        smaller =
            measured.first().map(|row| (size, BenchRow::new(row.name.clone(), row.capstan, Vec::new())));
        rows.extend(measured);
    }
    print_line(&table::render(&rows));
    Ok(())
}

fn steps(size: usize) -> Vec<BenchStep> {
    let compile = |variant: &str| {
        format!("catalog compile c-1 -d {{work}} --local --cluster-file {{work}}/clusters/{variant}.yml")
    };
    let noun = if size == 1 { "instance" } else { "instances" };
    let limit = |most: u64| if size == 1 { vec![BenchTarget::Millis(most)] } else { Vec::new() };
    let theirs = "-d {work} catalog compile c-1 --local --no-fetch-dependencies";
    vec![
        BenchStep::two_commands(
            format!("compile {size} {noun}"),
            &compile("a"),
            theirs,
            vec![BenchTarget::TimeShare(10)],
        ),
        BenchStep::capstan_only("compile again", compile("a"), limit(100)),
        BenchStep::capstan_only(
            "compile after a change of one class",
            compile("b"),
            if size <= 60 { vec![BenchTarget::Millis(200)] } else { Vec::new() },
        ),
    ]
}

/// Creates a working folder whose repositories are local. The two cluster files select classes that differ in one value.
fn create_work(work: &Path, size: usize) -> Result<PathBuf> {
    let classes = work.join("inventory/classes");
    let components: Vec<String> = (0..size.min(COMPONENTS)).map(|at| format!("part{at}")).collect();
    let (mut versions, mut applications) = (String::new(), String::new());
    for name in &components {
        writeln!(versions, "    {name}: {{url: 'https://git.example.org/{name}.git', version: v1.0.0}}")?;
        writeln!(applications, "  - {name}")?;
        create_checkout(&work.join("dependencies").join(name), name)?;
    }
    for at in components.len()..size {
        let component = &components[at % components.len()];
        writeln!(applications, "  - {component} as alias-{at}")?;
        create_checkout(&work.join(format!("dependencies/alias-{at}")), component)?;
    }
    write(
        &classes.join("global/commodore.yml"),
        &format!(
            "classes:\n  - t-1.${{facts:variant}}\napplications:\n{applications}parameters:\n  kapitan: {{secrets: {{vaultkv: {{mount: clusters/kv}}}}}}\n  components:\n{versions}"
        ),
    )?;
    for (variant, replicas) in [("a", 1), ("b", 2)] {
        let class = format!("parameters:\n  part0:\n    replicas: {replicas}\n");
        write(&classes.join(format!("t-1/{variant}.yml")), &class)?;
        let cluster = format!(
            "parameters:\n  cluster: {{name: c-1, display_name: One, tenant: t-1, tenant_display_name: T, \
             catalog_url: 'https://git.example.org/c-1.git'}}\n  facts: {{variant: {variant}, cloud: lab, \
             distribution: k3s}}\n  dynamic_facts: {{}}\n"
        );
        write(&work.join(format!("clusters/{variant}.yml")), &cluster)?;
    }
    // Commodore expects the folders of an earlier run.
    for folder in
        ["inventory/classes/params", "inventory/classes/defaults", "inventory/classes/components", "vendor"]
    {
        fs::create_dir_all(work.join(folder))?;
    }
    fs::create_dir_all(work.join("dependencies/lib"))?;
    fs::copy(work.join("clusters/a.yml"), classes.join("params/cluster.yml"))?;
    write(&work.join("inventory/targets/cluster.yml"), "classes: []\n")?;
    write(&work.join("catalog/README.md"), "A catalog.\n")?;
    for folder in [work.join("catalog"), classes.join("global"), classes.join("t-1")] {
        commit(&folder)?;
    }
    Ok(work.to_owned())
}

/// Creates the checkout of a component, or of an instance of it.
fn create_checkout(folder: &Path, component: &str) -> Result<()> {
    write(&folder.join(format!("class/{component}.yml")), CLASS)?;
    write(&folder.join("class/defaults.yml"), &DEFAULTS.replace("NAME", component))?;
    let program = PROGRAM.replace("NAME", component).replace("OBJECTS", &OBJECTS.to_string());
    write(&folder.join("component/main.jsonnet"), &program)?;
    commit(folder)
}

fn write(path: &Path, text: &str) -> Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    Ok(fs::write(path, text)?)
}

/// Makes a folder a Git repository with one commit, as Commodore needs it.
fn commit(folder: &Path) -> Result<()> {
    const BRANCH: &str = "refs/remotes/origin/master";
    let author = ["-c", "user.name=Bench", "-c", "user.email=bench@example.org"];
    for arguments in [
        &["init", "--quiet"][..],
        &["add", "."],
        &["commit", "--quiet", "--message", "First"],
        &["remote", "add", "origin", "https://git.example.org/part.git"],
        &["update-ref", BRANCH, "HEAD"],
        &["symbolic-ref", "refs/remotes/origin/HEAD", BRANCH],
    ] {
        let status = Command::new("git").arg("-C").arg(folder).args(author).args(arguments).status()?;
        if !status.success() {
            bail!("`git {}` failed in `{}`", arguments.join(" "), folder.display());
        }
    }
    Ok(())
}
