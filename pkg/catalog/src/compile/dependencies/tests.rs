use serde_json::json;
use snapbox::{assert_data_eq, str};
use tempfile::TempDir;

use super::*;

/// Fetches dependencies of a target without any host.
fn problem(dependencies: &serde_json::Value) -> String {
    let folder = TempDir::new().unwrap();
    let parameters = json!({"kapitan": {"dependencies": dependencies}, "_base_directory": "/component"});
    let nodes = BTreeMap::from([("one".to_owned(), Node { parameters, ..Node::default() })]);
    let context = RepositoryContext::default();
    let targets = ["one".to_owned()];
    let fetched = fetch_dependencies(&nodes, &targets, folder.path(), &context);
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(fetched).map_or_else(|error| error.to_string(), |()| "fetched".to_owned())
}

// Row: D-447
// Row: D-453
#[test]
fn invalid_dependencies_are_refused_before_any_request() {
    assert_eq!(problem(&json!(null)), "fetched");
    assert_data_eq!(
        problem(&json!({})),
        str!["`parameters.kapitan.dependencies` of target `one` is not a list"]
    );
    assert_data_eq!(
        problem(&json!([{"type": "svn", "source": "x", "output_path": "y"}])),
        str![
            "`parameters.kapitan.dependencies[0]` of target `one` is invalid: unknown variant `svn`, expected one of `helm`, `http`, `https`, `git`, `oci`"
        ]
    );
    assert_data_eq!(
        problem(&json!([{"type": "helm", "source": "x", "output_path": "y"}])),
        str!["`parameters.kapitan.dependencies[0]` of target `one` is invalid: missing field `chart_name`"]
    );
    assert_data_eq!(
        problem(&json!([{"type": "git", "source": "x", "output_path": "y", "submodules": true}])),
        str![
            "`parameters.kapitan.dependencies[0]` of target `one` is invalid: submodules are not supported; add a dependency for each submodule"
        ]
    );
    assert_data_eq!(
        problem(&json!([{"type": "https", "source": "x", "output_path": "../y"}])),
        str!["dependency of target `one`: `../y` is outside of the output folder and of its component"]
    );
    assert_data_eq!(
        problem(&json!([{"type": "https", "source": "x", "output_path": "/etc/y"}])),
        str!["dependency of target `one`: `/etc/y` is outside of the output folder and of its component"]
    );
}
