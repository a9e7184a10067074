//! The folders into which the settings of a target may write.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::output_tree::OutputTree;

/// Returns the folder that contains a path, and the path in it. A relative path is in the output folder; an absolute
/// one must be there too, or in the folder of the component, `base`.
///
/// # Errors
/// The path, if it is elsewhere.
pub(super) fn writable(
    path: &str,
    output: &Path,
    base: Option<&str>,
) -> Result<(OutputTree, String), String> {
    if !Path::new(path).is_absolute() {
        let tree = OutputTree::new(output.to_owned());
        return tree.path(path).map(|_| (tree, path.to_owned())).map_err(|_| path.to_owned());
    }
    for root in base.map(PathBuf::from).into_iter().chain([output.to_owned()]) {
        if let Some(inside) = Path::new(path).strip_prefix(&root).ok().and_then(Path::to_str)
            && OutputTree::new(root.clone()).path(inside).is_ok()
        {
            return Ok((OutputTree::new(root), inside.to_owned()));
        }
    }
    Err(path.to_owned())
}

/// Returns the folder of the component in the parameters of a target.
pub(super) fn base_folder(parameters: &Value) -> Option<&str> {
    parameters["_base_directory"].as_str().filter(|folder| !folder.is_empty())
}
