use std::collections::BTreeMap;

/// A snapshot of the process environment at program start.
///
/// Libraries never read the process environment itself. Two runs with different environments fit in one process.
#[derive(Clone, Debug, Default)]
pub struct Environment(BTreeMap<String, String>);

impl Environment {
    /// Creates a snapshot. If a name occurs twice, the later value counts.
    pub fn new<N: Into<String>, V: Into<String>>(entries: impl IntoIterator<Item = (N, V)>) -> Self {
        Self(entries.into_iter().map(|(name, value)| (name.into(), value.into())).collect())
    }

    /// The value of a variable. A variable that is set but empty has the value `""`.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// All variable names, sorted.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }
}
