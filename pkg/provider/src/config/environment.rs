use std::collections::BTreeMap;

/// The process environment as it was when the program began.
///
/// Libraries never read the real one: a run is decided by values, so two runs fit in one process.
#[derive(Clone, Debug, Default)]
pub struct Environment(BTreeMap<String, String>);

impl Environment {
    /// Takes a snapshot; of two entries with one name the later one counts.
    pub fn new<N: Into<String>, V: Into<String>>(entries: impl IntoIterator<Item = (N, V)>) -> Self {
        Self(entries.into_iter().map(|(name, value)| (name.into(), value.into())).collect())
    }

    /// The value of a variable; a variable that is set and empty has the value `""`.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// All names, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }
}
