//! Import cycles: sets of modules in a crate that import each other.

use std::collections::{BTreeMap, BTreeSet};

use super::finding::Finding;
use crate::{
    imports::{Imports, ModuleId},
    workspace::Workspace,
};

const HERE: &str = "cmd/xtask/src/tidy/cycles.rs";

/// The maximum number of modules in an import cycle.
const MAX_CYCLE: usize = 6;

/// Crates above the limit, with the size of their largest cycle. Numbers may only decrease, until the table is empty.
/// If a crate is split, its number is divided among the parts.
const CEILINGS: &[(&str, usize)] = &[];

/// Compares the largest cycle of each crate with the limit, or with the ceiling of the crate.
pub(super) fn import_cycles_are_small(workspace: &Workspace) -> Vec<Finding> {
    check(workspace, CEILINGS)
}

fn check(workspace: &Workspace, ceilings: &[(&str, usize)]) -> Vec<Finding> {
    let crates = Imports::of_crates(workspace);
    let obsolete =
        ceilings.iter().filter(|(folder, _)| workspace.exists("pkg") && !crates.contains_key(*folder));
    let mut findings: Vec<Finding> = obsolete
        .map(|(folder, _)| {
            Finding::fault(HERE, None, format!("remove the ceiling of `{folder}`: the crate does not exist"))
        })
        .collect();
    for (folder, imports) in &crates {
        let size = largest_cycle(imports).len();
        let ceiling = ceilings.iter().find(|(name, _)| name == folder).map(|(_, ceiling)| *ceiling);
        let listing = format!("`cargo xtask tidy --cycle {folder}` lists the imports");
        findings.push(match ceiling {
            Some(ceiling) if size <= MAX_CYCLE => Finding::fault(
                HERE,
                None,
                format!("remove the ceiling {ceiling} of `{folder}`: its largest import cycle has {size} modules"),
            ),
            Some(ceiling) if size < ceiling => Finding::fault(
                HERE,
                None,
                format!("lower the ceiling of `{folder}` from {ceiling} to {size}, in the commit that made it smaller"),
            ),
            Some(ceiling) if size == ceiling => {
                let text = format!("the largest import cycle has {size} modules; the goal is {MAX_CYCLE}; {listing}");
                Finding::remark(folder, None, text)
            }
            None if size <= MAX_CYCLE => continue,
            _ => {
                let most = ceiling.unwrap_or(MAX_CYCLE);
                let text = format!("{size} modules import each other in a cycle; the maximum is {most}; {listing}");
                Finding::fault(folder, None, text)
            }
        });
    }
    findings
}

/// The modules of the largest cycle of a crate, each with its imports inside the cycle.
///
/// Shape: `mover/run: error, mover/journal`, sorted. Empty if there is no cycle.
pub(super) fn listing(workspace: &Workspace, folder: &str) -> Option<Vec<String>> {
    let crates = Imports::of_crates(workspace);
    let imports = crates.get(folder)?;
    let cycle = largest_cycle(imports);
    let line = |id: &ModuleId| {
        let inside = imports.imports_of(*id).iter().filter(|other| cycle.contains(other));
        let names: Vec<_> = inside.map(|other| imports.name(*other)).collect();
        format!("{}: {}", imports.name(*id), names.join(", "))
    };
    Some(cycle.iter().map(line).collect())
}

/// The largest set of modules that all reach each other. Empty if there is none.
fn largest_cycle(imports: &Imports<'_>) -> BTreeSet<ModuleId> {
    let reached: BTreeMap<ModuleId, BTreeSet<ModuleId>> =
        imports.modules().map(|id| (id, reachable(imports, id))).collect();
    let cycle_of = |id: &ModuleId| -> BTreeSet<ModuleId> {
        reached[id].iter().copied().filter(|other| reached[other].contains(id)).collect()
    };
    reached.keys().map(cycle_of).max_by_key(BTreeSet::len).unwrap_or_default()
}

fn reachable(imports: &Imports<'_>, from: ModuleId) -> BTreeSet<ModuleId> {
    let (mut reached, mut open) = (BTreeSet::new(), vec![from]);
    while let Some(id) = open.pop() {
        open.extend(imports.imports_of(id).iter().filter(|other| reached.insert(**other)));
    }
    reached
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A crate with the modules `a`, `b` and so on. Each imports the next, and the last imports the first.
    fn ring(modules: usize) -> Workspace {
        let name = |at: usize| char::from(b'a' + u8::try_from(at % modules).unwrap());
        let files = (0..modules).map(|at| {
            let text = format!("pub fn run() {{ crate::{}::run() }}\n", name(at + 1));
            (format!("pkg/ring/src/{}.rs", name(at)), text)
        });
        let lists = [("pkg/ring/src/lib.rs", ""), ("pkg/ring/Cargo.toml", "")];
        Workspace::new(
            files
                .chain(lists.map(|(path, text)| (path.to_owned(), text.to_owned())))
                .map(|(path, text)| crate::workspace::TextFile { path, text })
                .collect(),
        )
    }

    fn judged(modules: usize, ceilings: &[(&str, usize)]) -> Vec<(bool, String)> {
        let findings = check(&ring(modules), ceilings).into_iter();
        findings.map(|finding| (finding.is_fault, finding.text)).collect()
    }

    #[test]
    fn a_cycle_above_the_limit_or_its_ceiling_is_a_fault() {
        assert_eq!(judged(MAX_CYCLE, &[]), []);
        assert!(judged(MAX_CYCLE + 1, &[])[0].0);
        assert!(judged(9, &[("pkg/ring", 8)])[0].0);
        assert!(!judged(8, &[("pkg/ring", 8)])[0].0);
    }

    #[test]
    fn a_ceiling_that_is_too_high_is_a_fault() {
        let lower = "lower the ceiling of `pkg/ring` from 9 to 8, in the commit that made it smaller";
        assert_eq!(judged(8, &[("pkg/ring", 9)]), [(true, lower.to_owned())]);
        let remove = "remove the ceiling 9 of `pkg/ring`: its largest import cycle has 6 modules";
        assert_eq!(judged(6, &[("pkg/ring", 9)]), [(true, remove.to_owned())]);
        let obsolete = "remove the ceiling of `pkg/gone`: the crate does not exist";
        assert_eq!(judged(2, &[("pkg/gone", 9)]), [(true, obsolete.to_owned())]);
    }

    #[test]
    fn the_listing_names_the_imports_inside_the_cycle() {
        assert_eq!(listing(&ring(3), "pkg/ring").unwrap(), ["a: b", "b: c", "c: a"]);
        assert_eq!(listing(&ring(3), "pkg/other"), None);
    }
}
