//! The classes of a target: depth first, each once, the target last.

use std::collections::HashSet;
use std::sync::Arc;

use indexmap::IndexSet;

use super::applications::Applications;
use super::class::Included;
use super::error::{ClassError, TargetProblem};
use super::inventory::{FileProblem, Inventory, MissingClasses, SourceFile, similar};
use super::problem::{ParameterProblem, ProblemKind};
use super::resolve::Resolver;
use super::template::{self, Parsed};
use super::tree::{Content, Field, FieldOptions, Fields, Origin, Tree, add_field};

/// The maximum nesting of classes.
const MAX_NESTING: usize = 256;

/// The merged classes of a target.
pub(super) struct Walk<'i> {
    inventory: &'i Inventory,
    missing_classes: MissingClasses,
    pub(super) fields: Fields,
    /// The included classes as written.
    pub(super) classes: IndexSet<String>,
    pub(super) applications: Applications,
    /// The ignored classes.
    pub(super) missing: Vec<String>,
    /// The numbers of the merged files, in order.
    pub(super) files: Vec<usize>,
    /// The names of the finished classes.
    seen: HashSet<String>,
    /// The names of the unfinished classes, outermost first; the first one is the target.
    open: Vec<String>,
    problems: Vec<TargetProblem>,
}

impl<'i> Walk<'i> {
    /// Merges the classes of a target.
    ///
    /// # Errors
    /// All problems of its classes.
    pub(super) fn of(
        inventory: &'i Inventory,
        target: usize,
        missing_classes: MissingClasses,
    ) -> Result<Self, Vec<TargetProblem>> {
        let name = &inventory.file(target).name;
        let mut walk = Self {
            inventory,
            missing_classes,
            fields: Fields::new(),
            classes: IndexSet::new(),
            applications: Applications::default(),
            missing: Vec::new(),
            files: Vec::new(),
            seen: HashSet::new(),
            open: vec![name.clone()],
            problems: Vec::new(),
        };
        walk.fields.insert("_reclass_".into(), target_facts(name, target));
        walk.merge(target, None);
        if walk.problems.is_empty() { Ok(walk) } else { Err(walk.problems) }
    }

    /// Merges a file and the classes that it includes. `at` is the place that includes it; none for the target.
    fn merge(&mut self, number: usize, at: Option<Origin>) {
        let file = self.inventory.file(number);
        let class = match file.class(number) {
            Ok(class) => class,
            Err(problem) => return self.report_file(number, problem, at),
        };
        let origin = |line| Origin { file: u32::try_from(number).unwrap_or(u32::MAX), line };
        for included in &class.classes {
            self.include(file, included, origin(included.line));
        }
        self.classes.extend(class.classes.iter().map(|included| absolute(file, &included.name)));
        self.applications.merge(&class.applications);
        self.files.push(number);
        for (key, field) in &class.parameters {
            if let Err(problem) = add_field(&mut self.fields, key, field) {
                let kind = ProblemKind::Constant {
                    key: key.to_string(),
                    earlier: self.inventory.location(problem.constant),
                };
                let at = field.values.first().map(|value| value.origin).unwrap_or_default();
                self.problems.push(TargetProblem::Parameter(ParameterProblem {
                    parameter: key.to_string(),
                    location: self.inventory.location(at),
                    references: Vec::new(),
                    kind,
                }));
            }
        }
    }

    fn include(&mut self, file: &SourceFile, included: &Included, at: Origin) {
        let name = match self.resolved_name(&absolute(file, &included.name), at) {
            Ok(name) => absolute(file, &name),
            Err(problem) => {
                let problem = Arc::unwrap_or_clone(problem);
                return self.problems.push(TargetProblem::Parameter(problem));
            }
        };
        if self.seen.contains(&name) {
            return;
        }
        let location = self.inventory.location(at);
        if self.open[1..].contains(&name) {
            let path = self.open.clone();
            return self.report(ClassError::Cycle { class: name, location, path });
        }
        let Some(number) = self.inventory.class_file(&name) else {
            self.seen.insert(name.clone());
            if self.missing_classes == MissingClasses::Ignored {
                return self.missing.push(name);
            }
            let similar = similar(&name, self.inventory.classes());
            return self.report(ClassError::NotFound {
                class: name,
                location,
                path: self.open.clone(),
                similar,
            });
        };
        if self.open.len() > MAX_NESTING {
            return self.report(ClassError::TooDeep { location, limit: MAX_NESTING });
        }
        self.open.push(name.clone());
        self.merge(number, Some(at));
        self.open.pop();
        self.seen.insert(name);
    }

    /// Resolves the references in the name of a class with the parameters that are merged so far.
    fn resolved_name(&self, name: &str, at: Origin) -> Result<String, Arc<ParameterProblem>> {
        if !name.contains("${") {
            return Ok(name.to_owned());
        }
        match template::parse(name) {
            Parsed::Plain(name) => Ok(name.into()),
            Parsed::Template(template) => {
                let tree = Tree::new(at, Content::Template(template));
                Resolver::new(self.inventory, &self.fields).resolve_text(&tree)
            }
        }
    }

    fn report(&mut self, problem: ClassError) {
        self.problems.push(TargetProblem::Class(problem));
    }

    fn report_file(&mut self, number: usize, problem: &FileProblem, at: Option<Origin>) {
        let file = self.inventory.file(number);
        let class = file.name.clone();
        self.report(match problem {
            FileProblem::Unreadable(problem) => {
                ClassError::Unreadable { class, file: file.path.clone(), problem: problem.clone() }
            }
            FileProblem::Invalid(problem) => {
                let origin = Origin { file: u32::try_from(number).unwrap_or(u32::MAX), line: problem.line };
                let (location, reason) = (self.inventory.location(origin), problem.reason.clone());
                if at.is_none() {
                    ClassError::InvalidTarget { location, reason }
                } else {
                    let path = self.open[..self.open.len() - 1].to_vec();
                    ClassError::Invalid { location, reason, path }
                }
            }
        });
    }
}

/// Converts a relative name, such as `.a` in the class `b.c`, to `b.a`. Surplus dots lead to the top.
fn absolute(file: &SourceFile, name: &str) -> String {
    let rest = name.trim_start_matches('.');
    match name.len() - rest.len() {
        0 => name.to_owned(),
        dots => {
            let parent = &file.parent[..file.parent.len().saturating_sub(dots - 1)];
            parent.iter().map(String::as_str).chain([rest]).collect::<Vec<_>>().join(".")
        }
    }
}

/// Returns the parameter that describes the target.
fn target_facts(name: &str, target: usize) -> Field {
    let origin = Origin { file: u32::try_from(target).unwrap_or(u32::MAX), line: 1 };
    let text = |text: &str| Tree::new(origin, Content::Text(text.into()));
    let map = |entries: Vec<(&str, Arc<Tree>)>| {
        let field = |(key, value): (&str, _)| (key.into(), Field::of(value, FieldOptions::default()));
        Tree::new(origin, Content::Map(entries.into_iter().map(field).collect()))
    };
    let parts = Tree::new(origin, Content::List(vec![text(name)]));
    let names = vec![("full", text(name)), ("parts", parts), ("path", text(name)), ("short", text(name))];
    let facts = map(vec![("environment", text("base")), ("name", map(names))]);
    Field::of(facts, FieldOptions::default())
}
