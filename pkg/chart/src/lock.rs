//! `Chart.lock` and `requirements.lock`: the exact versions of dependencies.

use crate::decode::Fields;
use crate::error::ChartError;
use crate::files::ChartFile;
use crate::metadata::Dependency;
use crate::value_tree::read_json;

/// Reads the dependencies of a lock.
///
/// # Errors
/// A file that is not YAML, or a field of another type.
pub fn locked_dependencies(lock: &ChartFile) -> Result<Vec<Dependency>, ChartError> {
    let file = || lock.path.clone();
    let json = read_json(&lock.content).map_err(|error| ChartError::Yaml { file: file(), error })?;
    let read = || {
        let fields = Fields::of(&json, "Lock", "chart.Lock")?;
        let items = fields.list("dependencies", "[]*chart.Dependency")?.unwrap_or_default();
        items.iter().map(Dependency::read).collect::<Result<_, _>>()
    };
    read().map_err(|error| ChartError::Field { file: file(), error })
}
