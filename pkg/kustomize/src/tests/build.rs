use snapbox::{assert_data_eq, str};

use crate::{
    BaseObjects, Build, BuildOptions, BuildOutput, BuildReport, FetchRequest, FetchResults, FetchedContent,
    LoadRestrictor, MemoryTree, Reorder, TreePath,
};

const CONFIG_MAP: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: NAME\n";

fn config_map(name: &str) -> String {
    CONFIG_MAP.replace("NAME", name)
}

fn component(text: &str) -> String {
    format!("kind: Component\n{text}")
}

fn tree(files: &[(&str, &str)]) -> MemoryTree {
    files.iter().map(|(path, text)| (*path, text.as_bytes())).collect()
}

fn run(
    files: &[(&str, &str)],
    answers: &FetchResults,
    options: BuildOptions,
) -> Result<BuildOutput, BuildReport> {
    let tree = tree(files);
    Build { tree: &tree, fetch_results: answers, options }.run(&TreePath::new("/top"))
}

/// Returns the names of the objects of `/top`, in order, or the errors.
fn names(files: &[(&str, &str)]) -> Result<Vec<String>, String> {
    let options = BuildOptions { reorder: Reorder::None, ..BuildOptions::default() };
    let output = run(files, &FetchResults::new(), options).map_err(|report| report.to_string())?;
    Ok(output.objects.iter().map(|object| object.name().to_owned()).collect())
}

fn problems(files: &[(&str, &str)]) -> String {
    names(files).unwrap_err()
}

// Row: KUS-16, KUS-17, KUS-18
#[test]
fn resources_keep_their_order_and_folders_build_separately() {
    let list = "kind: List\napiVersion: v1\nitems:\n- {apiVersion: v1, kind: Secret, metadata: {name: s}}\n- \
                {apiVersion: v1, kind: Secret, metadata: {name: t}}\n";
    let built = names(&[
        ("/top/kustomization.yaml", "resources: [a.yaml, ../base, list.yaml]\nnameSuffix: -x"),
        ("/top/a.yaml", &config_map("a")),
        ("/top/list.yaml", list),
        ("/base/kustomization.yml", "resources: [b.yaml]\nnamePrefix: base-"),
        ("/base/b.yaml", &config_map("b")),
    ]);
    assert_eq!(built.unwrap(), ["a-x", "base-b-x", "s-x", "t-x"]);
}

#[test]
fn items_of_lists_come_after_other_objects_level_by_level() {
    let list = |items: &str| format!("{{kind: List, apiVersion: v1, items: [{items}]}}\n");
    let item = |name: &str| format!("{{apiVersion: v1, kind: Secret, metadata: {{name: {name}}}}}");
    let text = [
        list(&[item("b"), list(&item("e")), item("c")].join(", ").replace('\n', "")),
        config_map("a"),
        list(&item("d")),
    ];
    let files = [("/top/kustomization.yaml", "resources: [l.yaml]"), ("/top/l.yaml", &text.join("---\n"))];
    assert_eq!(names(&files).unwrap(), ["a", "b", "c", "d", "e"]);
}

#[test]
fn lists_without_items_are_empty() {
    for items in ["", ", items: ", ", items: text", ", items: []"] {
        let list = format!("{{kind: List, apiVersion: v1{items}}}\n---\n{}", config_map("a"));
        let files = [("/top/kustomization.yaml", "resources: [l.yaml]"), ("/top/l.yaml", &*list)];
        assert_eq!(names(&files).unwrap(), ["a"], "{items}");
    }
}

#[test]
fn files_may_be_in_utf_16() {
    let utf16 = |text: &str| -> Vec<u8> {
        [0xFEFF].into_iter().chain(text.encode_utf16()).flat_map(u16::to_le_bytes).collect()
    };
    let patch = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: b}\ndata: {é: ü}\n";
    let tree: MemoryTree = [
        ("/top/kustomization.yaml", utf16("resources: [l.yaml]\npatches: [path: p.yaml]")),
        ("/top/l.yaml", utf16(&format!("{}---\n{}", config_map("a"), config_map("b")))),
        ("/top/p.yaml", utf16(patch)),
    ]
    .into_iter()
    .collect();
    let build = Build { tree: &tree, fetch_results: &FetchResults::new(), options: BuildOptions::default() };
    let objects = build.run(&TreePath::new("/top")).unwrap().objects;
    assert_eq!(objects.iter().map(manifest::Object::name).collect::<Vec<_>>(), ["a", "b"]);
    assert_eq!(objects[1].get(&["data", "é"]).and_then(manifest::Value::as_str), Some("ü"));
}

// Row: D-561
#[test]
fn keys_that_json_lacks_are_printed() {
    let text =
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {8080: x, true: y, 1.5: z, null: n}\n";
    let files = [("/top/kustomization.yaml", "resources: [l.yaml]"), ("/top/l.yaml", text)];
    let output = run(&files, &FetchResults::new(), BuildOptions::default()).unwrap().text();
    let data = "data:\n  \"\": \"n\"\n  \"1.5\": z\n  \"8080\": x\n  \"true\": \"y\"\n";
    assert!(output.contains(data), "{output}");
    let files = [files[0], ("/top/l.yaml", &text.replace("8080: x", "x: .inf"))];
    assert!(run(&files, &FetchResults::new(), BuildOptions::default()).is_err());
}

// Row: D-562
#[test]
fn a_missing_value_is_null_everywhere() {
    let text = "apiVersion: e/v1\nkind: X\nmetadata: {name: a}\nspec: {a: }\n";
    let patches =
        "patches: [{target: {kind: X}, patch: '[{op: add, path: /spec/b, value: 9007199254740993}]'}]";
    let kustomization = format!("resources: [l.yaml]\n{patches}");
    let files = [("/top/kustomization.yaml", &*kustomization), ("/top/l.yaml", text)];
    let output = run(&files, &FetchResults::new(), BuildOptions::default()).unwrap().text();
    assert!(output.ends_with("spec:\n  a: null\n  b: 9007199254740993\n"), "{output}");
}

// Row: KUS-06, KUS-22, KUS-23, KUS-24
#[test]
fn a_component_changes_every_earlier_object() {
    let built = names(&[
        ("/top/kustomization.yaml", "resources: [a.yaml]\ncomponents: [../one, ../two]\nnamePrefix: top-"),
        ("/top/a.yaml", &config_map("a")),
        ("/one/kustomization.yaml", &component("resources: [b.yaml]\nnamePrefix: one-")),
        ("/one/b.yaml", &config_map("b")),
        ("/two/kustomization.yaml", &component("components: [inner]\nnameSuffix: -two")),
        ("/two/inner/kustomization.yaml", &component("nameSuffix: -inner")),
    ]);
    assert_eq!(built.unwrap(), ["top-one-a-inner-two", "top-one-b-inner-two"]);
}

// Row: KUS-13, KUS-14, KUS-15
#[test]
fn all_entries_in_the_wrong_list_are_reported_at_once() {
    let reported = problems(&[
        ("/top/kustomization.yaml", "resources: [../c]\ncomponents: [../k, a.yaml]"),
        ("/top/a.yaml", &config_map("a")),
        ("/c/kustomization.yaml", &component("namePrefix: x")),
        ("/k/kustomization.yaml", "namePrefix: k-"),
    ]);
    assert_data_eq!(
        reported,
        str![
            "/top/kustomization.yaml: resources[0]: `/c` is of kind Component: list it under `components`; /top/kustomization.yaml: components[0]: `/k` is of kind Kustomization: list it under `resources`; /top/kustomization.yaml: components[1]: `a.yaml` is a file; a component must be a folder with a kustomization"
        ]
    );
}

// Row: KUS-11, KUS-21
#[test]
fn an_object_included_twice_is_refused_unless_it_is_renamed() {
    let mut files = vec![
        ("/top/kustomization.yaml", "resources: [../one, ../two]"),
        ("/one/kustomization.yaml", "resources: [../base]"),
        ("/two/kustomization.yaml", "resources: [../base]"),
        ("/base/kustomization.yaml", "resources: [a.yaml]"),
    ];
    let text = config_map("a");
    files.push(("/base/a.yaml", &text));
    let reported = problems(&files);
    assert_data_eq!(
        reported,
        str![
            "/top/kustomization.yaml: resources[1]: duplicate object `ConfigMap.v1.[noGrp]/a.[noNs]`: from `/base/a.yaml` and from `/base/a.yaml`"
        ]
    );
    files[2].1 = "resources: [../base]\nnamePrefix: two-";
    assert_eq!(names(&files).unwrap(), ["a", "two-a"]);
}

#[test]
fn a_problem_names_the_chain_of_files() {
    let reported = problems(&[
        ("/top/kustomization.yaml", "resources: [../mid, gone.yaml]"),
        ("/mid/kustomization.yaml", "resources: [../base]"),
        ("/base/kustomization.yaml", "resource: [x]\nimages: [{newTag: 1.20}]"),
    ]);
    assert_data_eq!(
        reported.replace("; /top", "\n/top"),
        str![[r#"
/top/kustomization.yaml > /mid/kustomization.yaml > /base/kustomization.yaml: `images[0].newTag` must be a string, not a number
/top/kustomization.yaml > /mid/kustomization.yaml > /base/kustomization.yaml: unknown field `resource`; did you mean `resources`?
/top/kustomization.yaml: resources[1]: cannot find `gone.yaml`: no file or folder at `/top/gone.yaml`
"#]]
    );
}

#[test]
fn problems_caused_by_an_unloadable_file_are_not_reported() {
    let uses = "patches:\n- {patch: '{apiVersion: v1, kind: ConfigMap, metadata: {name: b}}'}\n- {path: gone.yaml}\n\
                replicas: [{name: b, count: 1}]\nreplacements:\n- source: {name: b}\n  targets: [{select: {name: a}}]\n\
                vars: [{name: V, objref: {apiVersion: v1, kind: ConfigMap, name: b}}]\n";
    let gone = "/top/kustomization.yaml: patches[1].path: ";
    let a = config_map("a");
    let whole = format!("resources: [a.yaml]\n{uses}");
    let reported = problems(&[("/top/kustomization.yaml", &whole), ("/top/a.yaml", &a)]);
    assert_data_eq!(
        reported.replace("; /top", "\n/top"),
        str![[r#"
/top/kustomization.yaml: patches[0]: no object matches `ConfigMap.v1.[noGrp]/b.[noNs]`
/top/kustomization.yaml: patches[1].path: cannot find `gone.yaml`: no file or folder at `/top/gone.yaml`
/top/kustomization.yaml: replicas[0]: no workload named `b` has a replica count
/top/kustomization.yaml: replacements[0].source: no object matches name `b`
/top/kustomization.yaml: vars[0]: cannot read variable `V`: no object `ConfigMap.v1.[noGrp]/b.[noNs]`
"#]]
    );
    for (text, file, content) in [
        ("resources: [a.yaml, b.yaml]", "/top/b.yaml", "kind: ["),
        (
            "resources: [a.yaml, b.yaml]\nconfigMapGenerator: [{name: b, behavior: merge}]",
            "/top/b.yaml",
            "kind: [",
        ),
        ("resources: [a.yaml, ../base]", "/base/kustomization.yaml", "resources: [b.yaml]"),
        ("resources: [a.yaml, ../base]", "/base/kustomization.yaml", "resource: []"),
        (
            "resources: [a.yaml]\ncomponents: [../base]",
            "/base/kustomization.yaml",
            "{kind: Component, resources: [x]}",
        ),
        ("resources: [a.yaml]\ncomponents: [../base]", "/base/kustomization.yaml", "namePrefix: x"),
        ("resources: [a.yaml]\nsecretGenerator: [{type: x}]", "/other", ""),
    ] {
        let text = format!("{text}\n{uses}");
        let reported = problems(&[("/top/kustomization.yaml", &text), ("/top/a.yaml", &a), (file, content)]);
        assert_eq!(
            (reported.matches(".yaml: ").count(), reported.contains(gone)),
            (2, true),
            "{text}: {reported}"
        );
    }
    // A base without the missing file is not affected.
    let patched = format!("resources: [a.yaml]\n{uses}");
    let reported = problems(&[
        ("/top/kustomization.yaml", "resources: [b.yaml, ../base]"),
        ("/base/kustomization.yaml", &patched),
        ("/base/a.yaml", &a),
    ]);
    assert_data_eq!(
        reported,
        str![
            "/top/kustomization.yaml: resources[0]: cannot find `b.yaml`: no file or folder at `/top/b.yaml`; /top/kustomization.yaml > /base/kustomization.yaml: patches[0]: no object matches `ConfigMap.v1.[noGrp]/b.[noNs]`; /top/kustomization.yaml > /base/kustomization.yaml: patches[1].path: cannot find `gone.yaml`: no file or folder at `/base/gone.yaml`; /top/kustomization.yaml > /base/kustomization.yaml: replicas[0]: no workload named `b` has a replica count; /top/kustomization.yaml > /base/kustomization.yaml: replacements[0].source: no object matches name `b`"
        ]
    );
}

#[test]
fn cycles_and_files_outside_the_root_are_refused() {
    let reported = problems(&[
        ("/top/kustomization.yaml", "resources: [../base]"),
        ("/base/kustomization.yaml", "resources: [../top]"),
    ]);
    assert_data_eq!(
        reported,
        str![
            "/top/kustomization.yaml > /base/kustomization.yaml: resources[0]: cycle detected: `/top` contains `/top`, which includes it"
        ]
    );
    let files = [("/top/kustomization.yaml", "resources: [../a.yaml]"), ("/a.yaml", &*config_map("a"))];
    assert_data_eq!(
        problems(&files),
        str!["/top/kustomization.yaml: resources[0]: `/a.yaml` is outside `/top`"]
    );
    let free = BuildOptions { load_restrictor: LoadRestrictor::None, ..BuildOptions::default() };
    assert!(run(&files, &FetchResults::new(), free).is_ok());
}

// Row: D-221
#[test]
fn endless_nesting_of_kustomizations_is_refused() {
    let mut tree = MemoryTree::default();
    let mut folder = TreePath::new("/top");
    for _ in 0..10_000 {
        tree.insert(folder.join("kustomization.yaml"), *b"resources: [in]");
        folder = if folder.as_str().len() < 1_000 { folder.join("in") } else { break };
    }
    let build = Build { tree: &tree, fetch_results: &FetchResults::new(), options: BuildOptions::default() };
    let reported = build.run(&TreePath::new("/top")).unwrap_err().errors;
    let reported = reported[0].error.to_string();
    assert_data_eq!(reported, str!["kustomizations are nested more than 200 levels deep"]);
}

#[test]
fn one_pass_requests_all_remote_content() {
    let files =
        [("/top/kustomization.yaml", "resources: ['https://a.example/x.yaml', 'https://b.example/r//p']")];
    let wanted = run(&files, &FetchResults::new(), BuildOptions::default()).unwrap_err().requests;
    let mut answers = FetchResults::new();
    for request in wanted {
        let FetchRequest::Remote(remote) = &request else { panic!("{request:?}") };
        let answer = if remote.text.ends_with("yaml") {
            FetchedContent::Bytes(config_map("a").into_bytes().into())
        } else {
            FetchedContent::Folder { top: TreePath::new("/.remote"), root: TreePath::new("/.remote/p") }
        };
        answers.insert(request, Ok(answer));
    }
    let mut all = files.to_vec();
    let text = config_map("b");
    all.extend([
        ("/.remote/p/kustomization.yaml", "resources: [b.yaml]"),
        ("/.remote/p/b.yaml", text.as_str()),
    ]);
    let output = run(&all, &answers, BuildOptions::default()).unwrap();
    assert_eq!(output.objects.len(), 2);
}

fn onto(files: &[(&str, &str)]) -> Result<Vec<String>, String> {
    let read = |name: &str| {
        manifest::read_stream(config_map(name).as_bytes(), &manifest::YamlLimits::default()).unwrap().objects
    };
    let base =
        BaseObjects { objects: ["a", "b"].into_iter().flat_map(read).collect(), name: "given.yaml".into() };
    let (tree, answers) = (tree(files), FetchResults::new());
    let options = BuildOptions { reorder: Reorder::None, ..BuildOptions::default() };
    let outcome =
        Build { tree: &tree, fetch_results: &answers, options }.run_onto(&TreePath::new("/top"), None, base);
    let output = outcome.map_err(|report| report.to_string())?;
    Ok(output.objects.iter().map(|it| it.name().to_owned()).collect())
}

#[test]
fn base_objects_act_as_the_first_resources() {
    let rest = "resources: [c.yaml]\npatches: [{patch: '{$patch: delete, apiVersion: v1, kind: ConfigMap, \
                metadata: {name: b}}'}]\n";
    let c = config_map("c");
    for text in [format!("{rest}namePrefix: x-\n"), component(&format!("{rest}namePrefix: x-\n"))] {
        let built = onto(&[("/top/kustomization.yaml", &text), ("/top/c.yaml", &c)]);
        assert_eq!(built.unwrap(), ["x-a", "x-c"], "{text}");
    }
    let twice =
        onto(&[("/top/kustomization.yaml", "resources: [a.yaml]\n"), ("/top/a.yaml", &config_map("a"))]);
    let reported = twice.unwrap_err();
    assert_data_eq!(
        reported,
        str![
            "/top/kustomization.yaml: resources[0]: duplicate object `ConfigMap.v1.[noGrp]/a.[noNs]`: from `given.yaml` and from `/top/a.yaml`"
        ]
    );
}

#[test]
fn empty_mappings_are_ignored_in_documents_and_lists() {
    let object = "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}";
    for text in [
        format!("{{}}\n---\n{object}\n---\n{{}}\n"),
        format!("{{apiVersion: v1, kind: List, items: [{{}}, {object}]}}"),
    ] {
        let objects = super::build(&[("/kustomization.yaml", "resources: [r.yaml]"), ("/r.yaml", &text)]);
        assert_eq!(objects.unwrap().len(), 1, "{text}");
    }
}
