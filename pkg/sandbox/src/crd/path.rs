//! Paths of fields as Go's `field.Path` prints them.

use std::fmt::{self, Write as _};

/// A path that grows and shrinks with a walk.
#[derive(Debug, Default)]
pub(super) struct Path(String);

impl Path {
    /// A path to start from.
    pub(super) fn new(text: &str) -> Self {
        Self(text.to_owned())
    }

    /// As it is printed: `spec.a[0]`, or `<nil>` at the very top.
    pub(super) fn text(&self) -> &str {
        if self.0.is_empty() { "<nil>" } else { &self.0 }
    }

    /// The path of a field below: `spec.a`.
    pub(super) fn child(&self, name: &str) -> String {
        if self.0.is_empty() { name.to_owned() } else { format!("{}.{name}", self.0) }
    }

    /// Goes into a field, a named one (`.a`) or one of any name (`[a]`), and comes back.
    pub(super) fn inside<T>(&mut self, name: &str, named: bool, act: impl FnOnce(&mut Self) -> T) -> T {
        let (before, after) = match (named, self.0.is_empty()) {
            (true, true) => ("", ""),
            (true, false) => (".", ""),
            (false, _) => ("[", "]"),
        };
        self.visit(format_args!("{before}{name}{after}"), act)
    }

    /// Goes into an item and comes back.
    pub(super) fn at<T>(&mut self, index: usize, act: impl FnOnce(&mut Self) -> T) -> T {
        self.visit(format_args!("[{index}]"), act)
    }

    /// One text for the whole walk: most paths are never printed.
    fn visit<T>(&mut self, step: fmt::Arguments<'_>, act: impl FnOnce(&mut Self) -> T) -> T {
        let here = self.0.len();
        // Writing to a string cannot fail.
        let _ = self.0.write_fmt(step);
        let result = act(self);
        self.0.truncate(here);
        result
    }
}
