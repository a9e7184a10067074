//! Sets of parsed templates.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use crate::delimiters::Delimiters;
use crate::error::{Error, near_names};
use crate::exec::{Execution, Output};
use crate::functions::Functions;
use crate::parse::{parse, tree::Source, tree::Tree};
use crate::session::Session;
use crate::value::{Str, Value};

/// The templates of one text, parsed once for several sets.
#[derive(Clone, Debug)]
pub struct ParsedText(Vec<Arc<Tree>>);

impl ParsedText {
    /// Parses a text: its own template and those that it defines. The templates share the text.
    ///
    /// # Errors
    /// `Error::Parse` with Go's text.
    pub fn parse(name: &str, text: &Str, functions: &Functions) -> Result<Self, Error> {
        Self::parse_delimited(name, text, functions, &Delimiters::default())
    }

    /// Takes a text that is parsed when it is first executed or included. [`Templates::render`] keeps nothing of it, so
    /// that a set needs less memory. A text that may define templates is parsed at once.
    ///
    /// # Errors
    /// As [`ParsedText::parse`]. Errors of a deferred text occur in its execution, as the cause of a `RenderError`.
    pub fn deferred(name: &str, text: &Str, functions: &Functions) -> Result<Self, Error> {
        let defines = |word: &str| memchr::memmem::find(text, word.as_bytes()).is_some();
        if ["define", "block"].into_iter().any(defines) {
            return Self::parse(name, text, functions);
        }
        Self::without_definitions(name, text, functions)
    }

    /// Takes a text as [`ParsedText::deferred`] does, even if it defines templates. They are left out, because an equal text
    /// that is added later replaces them.
    ///
    /// # Errors
    /// As [`ParsedText::deferred`].
    pub fn without_definitions(name: &str, text: &Str, functions: &Functions) -> Result<Self, Error> {
        if matches!(text.to_str(), Cow::Owned(_)) {
            return Self::parse(name, text, functions);
        }
        let source = Source { name: name.into(), text: text.clone() };
        Ok(Self(vec![Arc::new(Tree::deferred(Arc::new(source)))]))
    }

    /// True if the text is not parsed yet.
    pub fn is_deferred(&self) -> bool {
        self.0.iter().any(|tree| tree.is_deferred())
    }

    fn parse_delimited(
        name: &str,
        text: &Str,
        functions: &Functions,
        delimiters: &Delimiters,
    ) -> Result<Self, Error> {
        let trees = parse(name, text, functions, delimiters).map_err(Error::Parse)?;
        Ok(Self(trees.into_iter().map(Arc::new).collect()))
    }
}

/// A set of templates that invoke each other. It can be shared between threads and rendered many times.
#[derive(Clone, Debug)]
pub struct Templates {
    name: Arc<str>,
    functions: Arc<Functions>,
    delimiters: Arc<Delimiters>,
    trees: HashMap<Arc<str>, Arc<Tree>>,
}

impl Templates {
    /// Creates an empty set. Its name occurs in errors and names the texts of `tpl`.
    pub fn new(name: &str, functions: Arc<Functions>) -> Self {
        Self { name: name.into(), functions, delimiters: Arc::default(), trees: HashMap::new() }
    }

    /// Sets the delimiters of the texts that are parsed later, those of `tpl` included.
    #[must_use]
    pub fn with_delimiters(mut self, delimiters: Delimiters) -> Self {
        self.delimiters = Arc::new(delimiters);
        self
    }

    /// Adds the templates of a parsed text. An existing template is replaced, unless the new one is empty.
    pub fn add(&mut self, text: &ParsedText) {
        for tree in &text.0 {
            if !(tree.is_empty() && self.trees.contains_key(&tree.name)) {
                self.trees.insert(tree.name.clone(), tree.clone());
            }
        }
    }

    /// Parses a text, and adds the template and all its definitions. An existing template is replaced, unless the new
    /// one is empty.
    ///
    /// # Errors
    /// `Error::Parse` with Go's text. The set is unchanged.
    pub fn parse(&mut self, name: &str, text: &str) -> Result<(), Error> {
        self.add(&ParsedText::parse_delimited(name, &text.into(), &self.functions, &self.delimiters)?);
        Ok(())
    }

    /// Renders a template.
    ///
    /// # Errors
    /// `Error::Render` with Go's text and the position; `Error::NoTemplate` with near names.
    pub fn render(&self, name: &str, data: &Value, session: &mut Session) -> Result<Output, Error> {
        let scope = Scope { own: self, base: None };
        let Some(tree) = scope.get(name) else { return Err(scope.no_template(name)) };
        let parsed_for_this_render;
        let tree = if tree.is_deferred() {
            parsed_for_this_render = Tree::deferred(tree.source.clone());
            &parsed_for_this_render
        } else {
            tree
        };
        session.start();
        let trace = session.settings.trace;
        Execution::new(&scope, session, tree).run(data, trace)
    }

    /// The name of the set.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The functions of the set.
    pub fn functions(&self) -> &Arc<Functions> {
        &self.functions
    }

    /// True if a template exists.
    pub fn contains(&self, name: &str) -> bool {
        self.trees.contains_key(name)
    }
}

/// A set of templates over those of the callers: what one execution can invoke.
#[derive(Clone, Copy)]
pub(crate) struct Scope<'s> {
    pub(crate) own: &'s Templates,
    pub(crate) base: Option<&'s Scope<'s>>,
}

impl<'s> Scope<'s> {
    pub(crate) fn get(&self, name: &str) -> Option<&'s Tree> {
        let mut scope = self;
        loop {
            if let Some(tree) = scope.own.trees.get(name) {
                return Some(tree);
            }
            scope = scope.base?;
        }
    }

    /// Creates a set for a nested text.
    pub(crate) fn overlay(&self) -> Templates {
        let Templates { name, functions, delimiters, .. } = self.own;
        Templates {
            name: name.clone(),
            functions: functions.clone(),
            delimiters: delimiters.clone(),
            trees: HashMap::new(),
        }
    }

    /// Parses a nested text. An empty template does not hide one of the callers.
    pub(crate) fn parse(&self, overlay: &mut Templates, text: &Str) -> Result<Arc<Tree>, Error> {
        let Templates { name, functions, delimiters, .. } = self.own;
        let trees = parse(name, text, functions, delimiters).map_err(Error::Parse)?;
        let mut main = None;
        for tree in trees {
            let tree = Arc::new(tree);
            if tree.name == self.own.name {
                main = Some(tree.clone());
            }
            if !(tree.is_empty() && (overlay.contains(&tree.name) || self.get(&tree.name).is_some())) {
                overlay.trees.insert(tree.name.clone(), tree);
            }
        }
        main.ok_or_else(|| self.no_template(self.own.name()))
    }

    /// The mark before an action.
    pub(crate) fn left_delimiter(&self) -> &'s str {
        self.own.delimiters.left()
    }

    pub(crate) fn no_template(&self, name: &str) -> Error {
        Error::NoTemplate { name: name.to_owned(), set: self.own.name().to_owned(), near: self.near(name) }
    }

    /// Returns existing names that are similar to a name.
    pub(crate) fn near(&self, name: &str) -> Vec<String> {
        let mut names = Vec::new();
        let mut scope = Some(self);
        while let Some(current) = scope {
            names.extend(current.own.trees.keys().map(ToString::to_string));
            scope = current.base;
        }
        near_names(name, names)
    }
}
