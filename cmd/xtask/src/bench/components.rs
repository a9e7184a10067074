//! Many Components of component-operator on a real API server.

use std::{fmt::Write as _, fs, path::Path, rc::Rc};

use anyhow::Result;

use super::{
    Bench,
    figures::Programs,
    servers::{ApiServer as _, RealServer},
    steps::{BenchRun, BenchStep, measure},
    table,
    target::BenchTarget,
};
use crate::print::print_line;

/// The numbers of Components.
const FEW: usize = 200;
const MANY: usize = 1000;
/// The objects of each Component.
pub(super) const OBJECTS: usize = 5;

/// Measures first runs of Components, and runs that change nothing.
pub(super) fn components(bench: &Bench, programs: &Programs, folder: &Path) -> Result<()> {
    let (few, many) = (format!("few-{FEW}.yaml"), format!("many-{MANY}.yaml"));
    fs::write(folder.join(&few), manifests("few", FEW)?)?;
    fs::write(folder.join(&many), manifests("many", MANY)?)?;
    let source = folder.join("component-source");
    fs::create_dir_all(&source)?;
    fs::write(source.join("maps.yaml"), template()?)?;
    let apply =
        |file: &str| format!("component apply {{files}}/{file} --source {{source}} --kubeconfig {{server}}");
    let requests = |objects: usize| BenchTarget::Requests(objects * 22 / 10);
    let steps = vec![
        BenchStep::capstan_only(
            format!("apply {FEW} Components of {OBJECTS} objects"),
            apply(&few),
            vec![requests(FEW * OBJECTS)],
        ),
        BenchStep::capstan_only("apply them again", apply(&few), vec![BenchTarget::Requests(FEW * 2)]),
        BenchStep::capstan_only(
            format!("apply {MANY} Components of {OBJECTS} objects"),
            apply(&many),
            vec![requests(MANY * OBJECTS)],
        ),
        BenchStep::capstan_only(
            "apply them again",
            apply(&many),
            vec![BenchTarget::Requests(MANY * 2), BenchTarget::Millis(2000), BenchTarget::Memory(120)],
        ),
    ];
    let world = |run| {
        let server = Rc::new(RealServer::start(folder, &format!("components-{run}"))?);
        let run = BenchRun::new(folder)?
            .with_value("{files}", folder.display())
            .with_value("{source}", source.display())
            .with_value("{server}", server.kubeconfig().display());
        Ok(run.with_server(server))
    };
    print_line(&table::render(&measure(programs, bench.runs, steps, world)?));
    Ok(())
}

fn manifests(prefix: &str, count: usize) -> Result<String> {
    let mut text = String::new();
    for at in 0..count {
        writeln!(
            text,
            "---\napiVersion: core.cs.sap.com/v1alpha1\nkind: Component\nmetadata: {{name: {prefix}-{at}, \
             namespace: bench}}\nspec: {{sourceRef: {{fluxBucket: {{name: files}}}}, values: {{size: {at}}}}}"
        )?;
    }
    Ok(text)
}

/// Returns the template of the objects.
pub(super) fn template() -> Result<String> {
    let mut text = String::new();
    for at in 0..OBJECTS {
        writeln!(
            text,
            "---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{{{ name }}}}-{at}\ndata:\n  size: {{{{ \
             .size | quote }}}}"
        )?;
    }
    Ok(text)
}
