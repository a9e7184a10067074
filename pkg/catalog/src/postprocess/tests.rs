use std::collections::BTreeMap;
use std::fs;

use serde_json::{Value, json};
use snapbox::{assert_data_eq, str};
use tempfile::TempDir;

use super::*;
use crate::jsonnet::EvaluationControl;
use crate::reclass::{KeyOrder, KeyOrders, Node};

/// A compiled instance `two` of a component `one`, whose folder is `component`.
struct Compiled {
    folder: TempDir,
}

impl Compiled {
    fn new(files: &[(&str, &str)]) -> Self {
        let folder = TempDir::new().unwrap();
        for (name, text) in files {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        Self { folder }
    }

    #[expect(clippy::needless_pass_by_value, reason = "tests write the filters in place")]
    fn run(&self, filters: Value) -> String {
        let order = |fields: Vec<(&str, KeyOrder)>| {
            KeyOrder::Map(fields.into_iter().map(|(key, order)| (key.into(), order)).collect())
        };
        let definition = order(["type", "path", "filter", "enabled"].map(|key| (key, KeyOrder::None)).into());
        let definitions = KeyOrder::List(vec![definition; filters.as_array().unwrap().len()]);
        let key_order =
            order(vec![("commodore", order(vec![("postprocess", order(vec![("filters", definitions)]))]))]);
        let parameters = json!({"_instance": "two", "commodore": {"postprocess": {"filters": filters}}});
        let node = Node { parameters, ..Node::default() };
        let key_orders = KeyOrders::new(|| BTreeMap::from([("two".to_owned(), key_order)]));
        let request = PostprocessRequest {
            instance: "two",
            component: "one",
            component_folder: &self.folder.path().join("component"),
            node: &node,
            key_orders: &key_orders,
            control: &EvaluationControl::default(),
            output: self.folder.path(),
        };
        let text = match postprocess(&request) {
            Ok(notices) => notices.iter().flat_map(|notice| [notice.as_str(), "\n"]).collect(),
            Err(error) => error.to_string(),
        };
        text.replace(&self.folder.path().display().to_string(), "[OUT]")
    }

    fn file(&self, name: &str) -> String {
        fs::read_to_string(self.folder.path().join("compiled/two").join(name)).unwrap()
    }
}

const CHART: &str =
    "# Source: x\nkind: A\nmetadata: {name: a, namespace: old}\n---\n---\nkind: B\nmetadata: {name: b}\n";

// Row: CAT-77
// Row: CAT-81
// Row: CAT-82
#[test]
fn helm_namespace_sets_the_namespace_of_all_other_objects() {
    let compiled =
        Compiled::new(&[("compiled/two/one/c.yaml", CHART), ("compiled/two/one/sub/d.yaml", "x: [")]);
    let notices = compiled.run(json!([{
        "type": "builtin", "path": "one", "filter": "helm_namespace",
        "filterargs": {"namespace": "ns", "create_namespace": true, "exclude_objects": [{"kind": "B", "name": "b"}]},
    }]));
    assert_data_eq!(
        notices,
        str![[r#"
   > [OUT]/compiled/two/one/00_namespace.yaml doesn't exist, creating...

"#]]
    );
    assert_data_eq!(
        compiled.file("one/c.yaml"),
        str![[r#"
kind: A
metadata:
  name: a
  namespace: ns
---
kind: B
metadata:
  name: b

"#]]
    );
    assert_data_eq!(
        compiled.file("one/00_namespace.yaml"),
        str![[r#"
apiVersion: v1
kind: Namespace
metadata:
  annotations: {}
  labels:
    name: ns
  name: ns

"#]]
    );
}

// Row: CAT-74
// Row: CAT-78
#[test]
fn jsonnet_filters_read_and_replace_files() {
    let program = "local com = import 'lib/commodore.libjsonnet';
local dir = std.extVar('output_path');
com.fixupDir(dir, function(o) o { metadata+: { labels: { [std.extVar('component')]: std.extVar('value') } } }) + {
  instance: com.inventory().parameters._instance,
  files: com.list_dir(dir, false),
}";
    let compiled =
        Compiled::new(&[("compiled/two/one/c.yaml", CHART), ("component/postprocess/f.jsonnet", program)]);
    let filter = json!({"type": "jsonnet", "path": "one/", "filter": "postprocess/f.jsonnet", "filterargs": {"value": "x"}});
    assert_data_eq!(
        compiled.run(json!([filter])),
        str![[r#"
   > [OUT]/compiled/two/one/files.yaml doesn't exist, creating...
   > [OUT]/compiled/two/one/instance.yaml doesn't exist, creating...

"#]]
    );
    assert_data_eq!(
        compiled.file("one/c.yaml"),
        str![[r#"
kind: A
metadata:
  labels:
    one: x
  name: a
  namespace: old
---
kind: B
metadata:
  labels:
    one: x
  name: b

"#]]
    );
    assert_data_eq!(
        compiled.file("one/instance.yaml"),
        str![[r#"
two
...

"#]]
    );
}

// Row: CAT-76
// Row: CAT-80
#[test]
fn invalid_and_disabled_filters_are_skipped() {
    let compiled = Compiled::new(&[("compiled/two/one/c.yaml", CHART), ("component/f.jsonnet", "{}")]);
    let filters = json!([
        {"path": "one", "filter": "f.jsonnet"},
        {"type": "jsonnet", "path": "one", "filter": "f.jsonnet", "enabled": "no"},
        {"type": "other", "path": "one", "filter": "f.jsonnet"},
        {"type": "builtin", "path": "one", "filter": "other", "filterargs": {"a": [1, null, "it's"]}},
        {"type": "builtin", "path": "one", "filter": "helm_namespace"},
        {"type": "builtin", "path": "none", "filter": "helm_namespace", "filterargs": {}},
        {"type": "jsonnet", "path": "one", "filter": "none.jsonnet"},
        {"type": "jsonnet", "path": "./one//", "filter": "f.jsonnet", "enabled": false},
    ]);
    assert_data_eq!(
        compiled.run(filters),
        str![[r#"
 > Skipping filter 'f.jsonnet' with invalid definition {'path': 'one', 'filter': 'f.jsonnet'}: "Filter is missing required key(s) {'type'}"
 > Skipping filter 'f.jsonnet' with invalid definition {'type': 'jsonnet', 'path': 'one', 'filter': 'f.jsonnet', 'enabled': 'no'}: Filter key 'enabled' is not a boolean
 > Skipping filter 'f.jsonnet' with invalid definition {'type': 'other', 'path': 'one', 'filter': 'f.jsonnet'}: Filter has unknown type other
 > Skipping filter 'other' with invalid definition {'type': 'builtin', 'path': 'one', 'filter': 'other', 'filterargs': {'a': [1, None, "it's"]}}: Unknown builtin filter: other
 > Skipping filter 'helm_namespace' with invalid definition {'type': 'builtin', 'path': 'one', 'filter': 'helm_namespace'}: "Builtin filter is missing required key 'filterargs'"
 > Skipping filter 'helm_namespace' with invalid definition {'type': 'builtin', 'path': 'none', 'filter': 'helm_namespace', 'filterargs': {}}: Builtin filter called on path which doesn't exist
 > Skipping filter 'none.jsonnet' with invalid definition {'type': 'jsonnet', 'path': 'one', 'filter': 'none.jsonnet'}: Jsonnet filter definition does not exist
 > Skipping disabled filter f.jsonnet on path one

"#]]
    );
}

// Row: D-447
#[test]
fn failing_filters_stop_the_run() {
    let compiled = Compiled::new(&[
        ("compiled/two/one/c.yaml", CHART),
        ("component/f.jsonnet", "{ a: std.extVar('absent') }"),
        ("component/g.jsonnet", "{ '../../a': 1 }"),
    ]);
    let builtin = |arguments: Value| {
        compiled.run(
            json!([{"type": "builtin", "path": "one", "filter": "helm_namespace", "filterargs": arguments}]),
        )
    };
    assert_data_eq!(
        builtin(json!({})),
        str!["Builtin filter 'helm_namespace': filter argument 'namespace' is required"]
    );
    assert_data_eq!(
        builtin(json!({"namespace": "x", "exclude_objects": [{"kind": "A"}]})),
        str!["cannot process `[OUT]/compiled/two/one/c.yaml`: field does not exist: name"]
    );
    let program = |filter: &str, path: &str, arguments: Value| {
        compiled.run(json!([{"type": "jsonnet", "path": path, "filter": filter, "filterargs": arguments}]))
    };
    assert_data_eq!(
        program("f.jsonnet", "one", json!({})),
        str!["[OUT]/component/f.jsonnet:1:6: undefined external variable: absent"]
    );
    assert_data_eq!(
        program("f.jsonnet", "one", json!({"absent": 1})),
        str!["argument `absent` of filter `f.jsonnet` is not a string"]
    );
    assert_data_eq!(
        program("g.jsonnet", "one", json!({})),
        str!["`../../a` is outside of the folder of the filter"]
    );
    assert_data_eq!(
        program("f.jsonnet", "../one", json!({"absent": "x"})),
        str!["`../one` is outside of the folder of the filter"]
    );
}
