use apply::ObjectKey;
use std::fmt::Write as _;

use api::output::{GraphObject, GraphTie, OwnerGraph};

use super::{
    MoveAnnotations,
    forest::{Forest, forest},
    remarks,
};

/// Draws a tree: an owned object is indented below its owner. An object with several owners is shown in full below one
/// of them, and by name below the others. A dashed branch is a soft owner.
pub(super) fn draw(graph: &OwnerGraph, annotations: MoveAnnotations) -> String {
    let mut tree = Tree { graph, forest: forest(graph), annotations, text: String::new() };
    for root in tree.roots() {
        tree.add_root(root);
    }
    if graph.objects.is_empty() {
        tree.text.push_str("no Cluster API objects found\n");
    }
    tree.add_footer();
    tree.text
}

/// A line to write.
struct PendingLine {
    at: usize,
    /// The owner above the object.
    owner: Option<(usize, GraphTie)>,
    /// The text before the branch.
    indent: String,
    is_last: bool,
}

struct Tree<'g> {
    graph: &'g OwnerGraph,
    forest: Forest,
    annotations: MoveAnnotations,
    text: String,
}

impl Tree<'_> {
    /// Returns the roots, by namespace; roots with children come first.
    fn roots(&self) -> Vec<usize> {
        let parents = self.forest.parents.iter().enumerate();
        let mut roots: Vec<usize> =
            parents.filter(|(_, parent)| parent.is_none()).map(|(at, _)| at).collect();
        roots.sort_by_key(|at| {
            (&self.graph.objects[*at].object.namespace, self.forest.owned[*at].is_empty(), *at)
        });
        roots
    }

    fn add_root(&mut self, root: usize) {
        let mut open = vec![PendingLine { at: root, owner: None, indent: String::new(), is_last: true }];
        while let Some(line) = open.pop() {
            self.add_line(&line);
            if line.owner.is_some_and(|(owner, _)| self.forest.parents[line.at] != Some(owner)) {
                continue;
            }
            let indent = match line.owner {
                None => String::new(),
                Some(_) => line.indent + if line.is_last { "   " } else { "│  " },
            };
            let owned = self.forest.owned[line.at].iter().rev().enumerate();
            open.extend(owned.map(|(from_last, (at, tie))| PendingLine {
                at: *at,
                owner: Some((line.at, *tie)),
                indent: indent.clone(),
                is_last: from_last == 0,
            }));
        }
    }

    fn add_line(&mut self, line: &PendingLine) {
        let object = &self.graph.objects[line.at];
        let branch = match (line.owner, line.is_last) {
            (None, _) => "",
            (Some((_, GraphTie::Hard)), false) => "├─ ",
            (Some((_, GraphTie::Hard)), true) => "└─ ",
            (Some((_, GraphTie::Soft)), false) => "├╌ ",
            (Some((_, GraphTie::Soft)), true) => "└╌ ",
        };
        let namespace = line.owner.map_or("", |(owner, _)| &self.graph.objects[owner].object.namespace);
        let _ = write!(self.text, "{}{branch}{}", line.indent, relative_name(&object.object, namespace));
        self.add_remarks(line, object);
        self.text.push('\n');
    }

    fn add_remarks(&mut self, line: &PendingLine, object: &GraphObject) {
        let is_soft = line.owner.is_some_and(|(_, tie)| tie == GraphTie::Soft);
        let mut notes: Vec<String> = is_soft.then(|| "soft owner".to_owned()).into_iter().collect();
        let parent = self.forest.parents[line.at];
        let elsewhere = line.owner.is_some_and(|(owner, _)| parent != Some(owner));
        match parent.filter(|_| elsewhere) {
            Some(parent) => {
                notes.push(format!(
                    "see {}",
                    relative_name(&self.graph.objects[parent].object, &object.object.namespace)
                ));
            }
            // The first object of a cycle: its owner is below it.
            None if elsewhere => notes.push("shown separately".to_owned()),
            None => notes.extend(remarks(object)),
        }
        if !notes.is_empty() {
            let _ = write!(self.text, "  [{}]", notes.join(", "));
        }
        if self.annotations == MoveAnnotations::Shown && !elsewhere {
            let fate = &object.fate;
            let verb = if fate.moves { "moves" } else { "stays" };
            let _ = write!(self.text, "  -> {verb}: {}", fate.why);
            if let Some(kept) = &fate.kept {
                let _ = write!(self.text, "; also stays: {kept}");
            }
        }
    }

    fn add_footer(&mut self) {
        let separator = if self.graph.left_out > 0 || !self.graph.cycles.is_empty() { "\n" } else { "" };
        self.text.push_str(separator);
        for ring in &self.graph.cycles {
            let names: Vec<String> =
                ring.iter().map(|at| relative_name(&self.graph.objects[*at].object, "")).collect();
            let _ = writeln!(self.text, "ownership cycle: {}", names.join(" is owned by "));
        }
        match self.graph.left_out {
            0 => {}
            1 => self.text.push_str("not shown: 1 Secret or ConfigMap without links\n"),
            several => {
                let _ = writeln!(self.text, "not shown: {several} Secrets and ConfigMaps without links");
            }
        }
    }
}

/// Returns the name of an object, relative to a namespace.
fn relative_name(object: &ObjectKey, beside: &str) -> String {
    let ObjectKey { kind, namespace, name, .. } = object;
    if namespace.is_empty() || namespace == beside {
        format!("{kind} {name}")
    } else {
        format!("{kind} {namespace}/{name}")
    }
}
