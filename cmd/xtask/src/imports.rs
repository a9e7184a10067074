//! The imports between the modules (files) of one crate, in product code.
//!
//! A path counts for the module that defines the item, not for modules that re-export the item. Modules that only
//! re-export therefore neither create nor hide cycles.

mod paths;

use std::collections::{BTreeMap, BTreeSet};

use self::paths::ParsedModule;
use crate::{rust_source::RustSource, workspace::Workspace};

/// A module of a crate, as an index in file order.
pub(crate) type ModuleId = usize;

/// The maximum number of re-exports to follow, which also ends cycles of re-exports. The name then counts as external.
const MAX_REEXPORTS: usize = 12;

struct Module<'a> {
    /// The path of the module inside the crate, separated by `/`. Empty for the crate root.
    name: &'a str,
    children: BTreeMap<&'a str, ModuleId>,
    parent: Option<ModuleId>,
    source: ParsedModule<'a>,
}

/// The modules of one crate.
pub(crate) struct Imports<'a> {
    modules: Vec<Module<'a>>,
    edges: Vec<BTreeSet<ModuleId>>,
}

/// The target of a path.
#[derive(Clone, Copy)]
enum Target {
    Module(ModuleId),
    /// An item defined by a module.
    ItemOf(ModuleId),
    OtherCrate,
}

impl<'a> Imports<'a> {
    /// The imports of each crate, by folder. Test crates are excluded.
    pub(crate) fn of_crates(workspace: &'a Workspace) -> BTreeMap<&'a str, Imports<'a>> {
        let sources = workspace.rust();
        let of_crate = |folder: &'a str| {
            let prefix = format!("{folder}/src/");
            let files: Vec<_> = sources.iter().filter(|s| s.path.starts_with(&prefix)).collect();
            (folder, Self::of_files(folder, &files))
        };
        let products = workspace.crates().filter(|(folder, _)| !folder.starts_with("test/"));
        products.map(|(folder, _)| of_crate(folder)).collect()
    }

    fn of_files(folder: &'a str, files: &[&RustSource<'a>]) -> Self {
        let is_library = files.iter().any(|file| file.path == format!("{folder}/src/lib.rs"));
        let mut modules: Vec<Module<'a>> = Vec::new();
        for file in files {
            let name = module_name(&file.path[folder.len() + "/src/".len()..]);
            // A `main` beside a library is a separate crate with one module.
            let is_program = is_library && file.path.ends_with("/src/main.rs");
            if !is_program && (!file.product.trim().is_empty() || name.is_empty()) {
                let source = ParsedModule::parse(file);
                modules.push(Module { name, children: BTreeMap::new(), parent: None, source });
            }
        }
        for id in 0..modules.len() {
            let name = modules[id].name;
            let (parent, own) = name.rsplit_once('/').unwrap_or(("", name));
            let parent = modules.iter().position(|module| module.name == parent);
            if let Some(parent) = parent.filter(|_| !name.is_empty()) {
                modules[id].parent = Some(parent);
                modules[parent].children.insert(own, id);
            }
        }
        let mut imports = Self { modules, edges: Vec::new() };
        imports.edges = imports.modules().map(|id| imports.targets(id)).collect();
        imports
    }

    pub(crate) fn modules(&self) -> impl Iterator<Item = ModuleId> + use<> {
        0..self.modules.len()
    }

    /// The modules that a module imports.
    pub(crate) fn imports_of(&self, id: ModuleId) -> &BTreeSet<ModuleId> {
        &self.edges[id]
    }

    pub(crate) fn name(&self, id: ModuleId) -> &'a str {
        let name = self.modules[id].name;
        if name.is_empty() { "crate" } else { name }
    }

    fn targets(&self, id: ModuleId) -> BTreeSet<ModuleId> {
        let source = &self.modules[id].source;
        let mut targets = BTreeSet::new();
        let mut add = |target: Target| match target {
            Target::Module(other) | Target::ItemOf(other) if other != id => {
                targets.insert(other);
            }
            _ => {}
        };
        for import in &source.imports {
            match import.name {
                Some(name) if !import.is_reexport || source.words.contains(name) => {
                    add(self.resolve(id, &import.path, 0));
                }
                Some(_) => {}
                None => {
                    let Target::Module(other) = self.resolve(id, &import.path, 0) else { continue };
                    source.words.iter().filter_map(|word| self.look_up(other, word, 0)).for_each(&mut add);
                }
            }
        }
        source.inline.iter().for_each(|path| add(self.resolve(id, path, 0)));
        targets
    }

    fn resolve(&self, from: ModuleId, path: &[&str], depth: usize) -> Target {
        let root = self.modules.iter().position(|module| module.name.is_empty());
        let mut at = from;
        for (index, step) in path.iter().enumerate() {
            let next = match *step {
                "crate" => root.map(Target::Module),
                "self" => Some(Target::Module(at)),
                "super" => self.modules[at].parent.map(Target::Module),
                name => self.look_up(at, name, depth),
            };
            match next {
                Some(Target::Module(module)) => at = module,
                Some(found) => return found,
                None if index == 0 => return Target::OtherCrate,
                // A macro defines the item.
                None => return Target::ItemOf(at),
            }
        }
        Target::Module(at)
    }

    fn look_up(&self, at: ModuleId, name: &str, depth: usize) -> Option<Target> {
        let module = &self.modules[at];
        if let Some(child) = module.children.get(name) {
            return Some(Target::Module(*child));
        }
        if module.source.items.contains(name) {
            return Some(Target::ItemOf(at));
        }
        if depth > MAX_REEXPORTS {
            return Some(Target::OtherCrate);
        }
        let named = module.source.imports.iter().find(|import| import.name == Some(name));
        if let Some(import) = named {
            return Some(self.resolve(at, &import.path, depth + 1));
        }
        let mut globs = module.source.imports.iter().filter(|import| import.name.is_none());
        globs.find_map(|glob| match self.resolve(at, &glob.path, depth + 1) {
            Target::Module(other) if other != at => self.look_up(other, name, depth + 1),
            _ => None,
        })
    }
}

/// The module of a file: `a/b` for `a/b.rs` and `a/b/mod.rs`. Empty for the crate root.
fn module_name(file: &str) -> &str {
    let name = file.trim_end_matches(".rs");
    let name = name.strip_suffix("mod").filter(|rest| rest.is_empty() || rest.ends_with('/')).unwrap_or(name);
    if matches!(name, "lib" | "main") { "" } else { name.trim_end_matches('/') }
}

#[cfg(test)]
mod tests;
