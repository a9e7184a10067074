//! Classes: the lists and parameters of a file of the hierarchy.

use std::fmt::Write as _;
use std::sync::Arc;

use super::document::{Document, DocumentProblem, MAX_DEPTH, MergedPairs, NodeContent, NodeId, too_deep};
use super::scalar::{self, Scalar};
use super::template::{self, Parsed};
use super::tree::{Content, Field, Fields, Origin, Tree, add_field, split_key};

/// The prefix of the tags that YAML itself defines, written `!!` in a document.
const CORE_TAGS: &str = "tag:yaml.org,2002:";

/// A parsed file of the hierarchy: a class or a target.
#[derive(Debug, Default)]
pub(super) struct Class {
    pub(super) classes: Vec<Included>,
    pub(super) applications: Vec<String>,
    pub(super) parameters: Fields,
}

/// An entry of the list `classes`.
#[derive(Debug)]
pub(super) struct Included {
    /// The name, which may contain references.
    pub(super) name: String,
    pub(super) line: u32,
}

impl Class {
    /// Parses the text of a file with a number.
    pub(super) fn parse(text: &str, file: u32) -> Result<Self, DocumentProblem> {
        let document = Document::parse(text)?;
        let mut class = Self::default();
        let Some(root) = document.root() else { return Ok(class) };
        let pairs = match &document.node(root).content {
            NodeContent::Map(pairs) => pairs,
            NodeContent::Scalar { text, is_plain: true, tag: None } if text.is_empty() => return Ok(class),
            content => return Err(wrong_type(&document, root, content, "", "struct Node")),
        };
        let mut reader = Reader::new(&document, file);
        let mut seen = Vec::new();
        for &(key, value) in pairs {
            let NodeContent::Scalar { text: section, .. } = &document.node(key).content else { continue };
            let section = section.as_str();
            if !matches!(section, "classes" | "applications" | "parameters") {
                continue;
            }
            if seen.contains(&section) {
                let reason = format!("duplicate field `{section}`");
                return Err(DocumentProblem { line: document.node(key).line, reason });
            }
            seen.push(section);
            match section {
                "classes" => class.classes = reader.texts(value, section)?,
                "applications" => {
                    class.applications =
                        reader.texts(value, section)?.into_iter().map(|entry| entry.name).collect();
                }
                _ => class.parameters = reader.parameters(value)?,
            }
        }
        Ok(class)
    }
}

/// Parses a text as one value, such as the default of a reference.
pub(super) fn parse_value(text: &str, origin: Origin) -> Result<Arc<Tree>, DocumentProblem> {
    let document = Document::parse(text)?;
    let Some(root) = document.root() else { return Ok(Tree::new(origin, Content::Null)) };
    let mut reader = Reader::new(&document, origin.file);
    reader.fixed_line = Some(origin.line);
    reader.path.clear();
    reader.tree(root)
}

/// Converts the nodes of a document to trees.
struct Reader<'d> {
    document: &'d Document,
    pairs: MergedPairs<'d>,
    file: u32,
    /// The trees of converted nodes. Aliases share them.
    known: Vec<Option<Arc<Tree>>>,
    /// The path of the current value, for errors.
    path: String,
    depth: usize,
    /// The line of all values, if they are part of a text in another file.
    fixed_line: Option<u32>,
}

impl<'d> Reader<'d> {
    fn new(document: &'d Document, file: u32) -> Self {
        Self {
            document,
            pairs: MergedPairs::new(document),
            file,
            known: vec![None; document.len()],
            path: "parameters".to_owned(),
            depth: 0,
            fixed_line: None,
        }
    }

    /// Reads a list of texts.
    fn texts(&self, id: NodeId, section: &str) -> Result<Vec<Included>, DocumentProblem> {
        let items = match &self.document.node(id).content {
            NodeContent::List(items) => items,
            NodeContent::Scalar { text, is_plain: true, tag: None } if text.is_empty() => {
                return Ok(Vec::new());
            }
            content => return Err(wrong_type(self.document, id, content, section, "a sequence")),
        };
        let mut texts = Vec::new();
        for (index, &item) in items.iter().enumerate() {
            let node = self.document.node(item);
            match &node.content {
                NodeContent::Scalar { text, tag: None, .. } => {
                    texts.push(Included { name: text.clone(), line: node.line });
                }
                content => {
                    let path = format!("{section}[{index}]");
                    return Err(wrong_type(self.document, item, content, &path, "a string"));
                }
            }
        }
        Ok(texts)
    }

    fn parameters(&mut self, id: NodeId) -> Result<Fields, DocumentProblem> {
        match &self.document.node(id).content {
            NodeContent::Map(_) => self.fields(id),
            NodeContent::Scalar { text, is_plain: true, tag: None } if text.is_empty() => Ok(Fields::new()),
            content => Err(wrong_type(self.document, id, content, "parameters", "a YAML mapping")),
        }
    }

    fn fields(&mut self, id: NodeId) -> Result<Fields, DocumentProblem> {
        self.reject_duplicates(id)?;
        let pairs = self.pairs.of(id).map_err(|problem| self.at_path(problem))?;
        let mut fields = Fields::with_capacity(pairs.len());
        for &(key_id, value_id) in &*pairs {
            let key = self.key(key_id)?;
            let length = self.path.len();
            let _ = write!(self.path, "{}{key}", if length == 0 { "" } else { "." });
            let value = self.tree(value_id)?;
            self.path.truncate(length);
            let (name, options) = split_key(&key);
            add_field(&mut fields, name, &Field::of(value, options)).map_err(|_| DocumentProblem {
                line: self.document.node(key_id).line,
                reason: format!("{}: Can't overwrite constant key {name:?}", self.path),
            })?;
        }
        Ok(fields)
    }

    fn reject_duplicates(&self, id: NodeId) -> Result<(), DocumentProblem> {
        let NodeContent::Map(pairs) = &self.document.node(id).content else { return Ok(()) };
        let mut keys = std::collections::HashSet::with_capacity(pairs.len());
        for &(key, _) in pairs {
            let text = self.key(key)?;
            if let Some(text) = keys.replace(text) {
                let reason = format!("duplicate entry with key {text:?}");
                return Err(self.at_path(DocumentProblem { line: self.document.node(key).line, reason }));
            }
        }
        Ok(())
    }

    /// Returns the text of a key.
    fn key(&self, id: NodeId) -> Result<String, DocumentProblem> {
        let node = self.document.node(id);
        let NodeContent::Scalar { text, is_plain, .. } = &node.content else {
            let reason = "a key must be text, not a list or mapping".to_owned();
            return Err(self.at_path(DocumentProblem { line: node.line, reason }));
        };
        if !is_plain {
            return Ok(text.clone());
        }
        Ok(match scalar::resolve(text) {
            Scalar::Null => "null".to_owned(),
            Scalar::Bool(flag) => flag.to_string(),
            Scalar::Number(number) => number.to_string(),
            _ => text.clone(),
        })
    }

    fn tree(&mut self, id: NodeId) -> Result<Arc<Tree>, DocumentProblem> {
        if let Some(known) = &self.known[id as usize] {
            return Ok(Arc::clone(known));
        }
        let document = self.document;
        let node = document.node(id);
        self.depth += 1;
        let content = match &node.content {
            _ if self.depth > 2 * MAX_DEPTH => return Err(self.at_path(too_deep(node.line))),
            NodeContent::Scalar { text, tag, is_plain } => {
                self.scalar(id, text, tag.as_deref(), *is_plain)?
            }
            NodeContent::List(items) => Content::List(self.items(items)?),
            NodeContent::Map(_) => Content::Map(self.fields(id)?),
        };
        self.depth -= 1;
        let line = self.fixed_line.unwrap_or(node.line);
        let tree = Tree::new(Origin { file: self.file, line }, content);
        if tree.depth as usize > 2 * MAX_DEPTH {
            return Err(self.at_path(too_deep(node.line)));
        }
        self.known[id as usize] = Some(Arc::clone(&tree));
        Ok(tree)
    }

    fn items(&mut self, items: &[NodeId]) -> Result<Vec<Arc<Tree>>, DocumentProblem> {
        let length = self.path.len();
        let mut trees = Vec::with_capacity(items.len());
        for (index, &item) in items.iter().enumerate() {
            let _ = write!(self.path, "[{index}]");
            trees.push(self.tree(item)?);
            self.path.truncate(length);
        }
        Ok(trees)
    }

    fn scalar(
        &self,
        id: NodeId,
        text: &str,
        tag: Option<&str>,
        is_plain: bool,
    ) -> Result<Content, DocumentProblem> {
        let problem =
            |reason: String| self.at_path(DocumentProblem { line: self.document.node(id).line, reason });
        let resolved = match tag {
            None if is_plain => scalar::resolve(text),
            None => Scalar::Text,
            Some(tag) => tagged(text, tag).map_err(problem)?,
        };
        Ok(match resolved {
            Scalar::Null => Content::Null,
            Scalar::Bool(flag) => Content::Bool(flag),
            Scalar::Number(number) => Content::Number(number),
            Scalar::Text => match template::parse(text) {
                Parsed::Plain(text) => Content::Text(text),
                Parsed::Template(template) => Content::Template(template),
            },
            Scalar::HugeInteger => {
                return Err(problem(format!("invalid type: integer `{text}` exceeds 64 bits")));
            }
            Scalar::NotFinite => {
                return Err(problem(format!("invalid value: `{text}` cannot be represented in JSON")));
            }
        })
    }

    fn at_path(&self, problem: DocumentProblem) -> DocumentProblem {
        if self.path.is_empty() {
            return problem;
        }
        DocumentProblem { reason: format!("{}: {}", self.path, problem.reason), ..problem }
    }
}

/// Resolves a scalar with a tag.
fn tagged(text: &str, tag: &str) -> Result<Scalar, String> {
    let Some(core) = tag.strip_prefix(CORE_TAGS) else {
        return Err("not yet implemented: Tagged YAML values are not supported yet".to_owned());
    };
    let resolved = scalar::resolve(text);
    match (core, resolved) {
        ("null", found @ Scalar::Null)
        | ("bool", found @ Scalar::Bool(_))
        | ("int", found @ Scalar::HugeInteger)
        | ("float", found @ Scalar::NotFinite) => Ok(found),
        ("int", Scalar::Number(number)) if !number.is_f64() => Ok(Scalar::Number(number)),
        ("float", Scalar::Number(number)) => {
            let float = number.as_f64().and_then(serde_json::Number::from_f64);
            Ok(Scalar::Number(float.unwrap_or(number)))
        }
        ("null" | "bool" | "int" | "float", _) => {
            Err(format!("invalid value: string {text:?}, expected the type of its tag !!{core}"))
        }
        _ => Ok(Scalar::Text),
    }
}

/// Returns the problem of a value with a wrong type.
fn wrong_type(
    document: &Document,
    id: NodeId,
    content: &NodeContent,
    path: &str,
    expected: &str,
) -> DocumentProblem {
    let found = match content {
        NodeContent::List(_) => "sequence",
        NodeContent::Map(_) => "map",
        NodeContent::Scalar { text, is_plain: true, tag: None } => match scalar::resolve(text) {
            Scalar::Null => "unit value",
            Scalar::Bool(_) => "boolean",
            Scalar::Number(number) if number.is_f64() => "floating point",
            Scalar::Number(_) | Scalar::HugeInteger => "integer",
            Scalar::NotFinite | Scalar::Text => "string",
        },
        NodeContent::Scalar { .. } => "string",
    };
    let separator = if path.is_empty() { "" } else { ": " };
    DocumentProblem {
        line: document.node(id).line,
        reason: format!("{path}{separator}invalid type: {found}, expected {expected}"),
    }
}
