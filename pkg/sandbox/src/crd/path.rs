//! Field paths in the format of Go's `field.WalkPath`.

use std::fmt::{self, Write as _};

/// The current path of a walk.
#[derive(Debug, Default)]
pub(super) struct WalkPath(String);

impl WalkPath {
    /// Starts at a path.
    pub(super) fn new(text: &str) -> Self {
        Self(text.to_owned())
    }

    /// The printed path: `spec.a[0]`, or `<nil>` at the root.
    pub(super) fn text(&self) -> &str {
        if self.0.is_empty() { "<nil>" } else { &self.0 }
    }

    /// The path of a child field, such as `spec.a`.
    pub(super) fn child(&self, name: &str) -> String {
        if self.0.is_empty() { name.to_owned() } else { format!("{}.{name}", self.0) }
    }

    /// Runs `act` with the path of a field: `.a` for a named field, `[a]` for a field with a free name.
    pub(super) fn with_field<T>(&mut self, name: &str, named: bool, act: impl FnOnce(&mut Self) -> T) -> T {
        let (before, after) = match (named, self.0.is_empty()) {
            (true, true) => ("", ""),
            (true, false) => (".", ""),
            (false, _) => ("[", "]"),
        };
        self.with_step(format_args!("{before}{name}{after}"), act)
    }

    /// Runs `act` with the path of an item.
    pub(super) fn with_index<T>(&mut self, index: usize, act: impl FnOnce(&mut Self) -> T) -> T {
        self.with_step(format_args!("[{index}]"), act)
    }

    /// Reuses one string for the whole walk, because most paths are never printed.
    fn with_step<T>(&mut self, step: fmt::Arguments<'_>, act: impl FnOnce(&mut Self) -> T) -> T {
        let here = self.0.len();
        // Writing to a string cannot fail.
        let _ = self.0.write_fmt(step);
        let result = act(self);
        self.0.truncate(here);
        result
    }
}
