//! Behaviour of whole sources.

mod charts;
mod corpus;
mod transformers;

use std::sync::Arc;

use chart::{MemoryTree, ObjectLookup, ObjectQuery};
use serde_json::{Value, json};

use super::*;

/// Renders files with values, and returns the objects.
fn rendered(files: &[(&str, &str)], values: Value) -> Result<Vec<Value>, RenderError> {
    let tree: MemoryTree = files.iter().map(|(path, text)| (*path, text.as_bytes())).collect();
    let mut request = RenderRequest::new(&tree, "web", "shop");
    request.values = values;
    Ok(render(&request)?.into_iter().map(Object::into_value).collect())
}

fn problem(files: &[(&str, &str)]) -> String {
    rendered(files, json!({})).expect_err("a problem").to_string()
}

fn map(name: &str) -> String {
    format!("{{apiVersion: v1, kind: ConfigMap, metadata: {{name: {name}}}}}")
}

fn names(objects: &[Value]) -> Vec<&str> {
    objects.iter().filter_map(|object| object["metadata"]["name"].as_str()).collect()
}

fn rendered_names(files: &[(&str, &str)], values: Value) -> Vec<String> {
    let objects = rendered(files, values).expect("objects");
    names(&objects).into_iter().map(str::to_owned).collect()
}

// Row: D-417
#[test]
fn problems_of_all_templates_are_reported_at_once() {
    let files = [("/a.yaml", "{{ fail \"one\" }}"), ("/b.yaml", "{{ .x.y }}"), ("/c.yaml", "{{ ")];
    let error = rendered(&files[..2], json!({})).expect_err("two problems");
    let texts: Vec<String> = error.problems.iter().map(ToString::to_string).collect();
    assert_eq!(texts.len(), 2, "{texts:?}");
    assert!(texts[0].contains("a.yaml:1") && texts[0].contains("one"), "{texts:?}");
    assert!(texts[1].contains("b.yaml:1") && texts[1].contains(".x.y"), "{texts:?}");
    assert!(problem(&files).contains("c.yaml:1"), "{}", problem(&files));
}

#[test]
fn a_path_stays_in_the_source() {
    let tree: MemoryTree = [("x/y/a.yaml", map("a").as_bytes())].into_iter().collect();
    for (path, is_inside) in [
        ("x", true),
        ("./x//y/", true),
        ("x/../x/y", true),
        ("/x", false),
        ("x/../../x", false),
        ("..", false),
    ] {
        let mut request = RenderRequest::new(&tree, "web", "shop");
        request.path = path;
        let result = render(&request);
        let problem = result.as_ref().err().map(|error| &error.problems[0]);
        assert_eq!(result.is_ok(), is_inside, "{path}");
        assert!(is_inside || matches!(problem, Some(RenderProblem::PathOutside { .. })), "{problem:?}");
    }
}

// Row: CMP-04, CMP-08, ENG-21
#[test]
fn a_folder_is_a_chart_if_it_has_a_chart_yaml() {
    let text = map("{{ with .Values }}chart-{{ .who }}{{ else }}kustomization-{{ .who }}{{ end }}");
    let (text, beside) = (text.as_str(), map("beside"));
    let files = [("templates/a.yaml", text), ("beside.yaml", &beside), ("Chart.yaml", "name: demo")];
    let values = json!({"who": "me"});
    assert_eq!(rendered_names(&files, values.clone()), ["chart-me"]);
    assert_eq!(rendered_names(&files[..2], values), ["beside", "kustomization-me"]);
}

// Row: CMP-06
#[test]
fn a_kustomization_becomes_the_objects_of_kustomize() {
    let kustomization = "
namePrefix: test-
resources: [base]
configMapGenerator: [{name: settings, literals: [port=80]}]
patches: [{target: {kind: Pod}, patch: '- {op: add, path: /spec/hostname, value: web}'}]
";
    let pod = "
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  containers: [{name: web, image: nginx, envFrom: [{configMapRef: {name: settings}}]}]
";
    let files = [
        ("kustomization.yaml", kustomization),
        ("base/kustomization.yaml", "resources: [pod.yaml]"),
        ("base/pod.yaml", pod),
    ];
    let objects = rendered(&files, json!({})).expect("objects");
    // Source: `kustomize build` v5, which sorts the objects.
    let expected = json!([
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": "test-web"},
            "spec": {
                "hostname": "web",
                "containers": [{
                    "name": "web",
                    "image": "nginx",
                    "envFrom": [{"configMapRef": {"name": "test-settings-t257hhhf6t"}}],
                }],
            },
        },
        {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": "test-settings-t257hhhf6t"},
            "data": {"port": "80"},
        },
    ]);
    assert_eq!(Value::Array(objects), expected);
}

// Row: CMP-04, CMP-07
#[test]
fn all_files_of_a_kustomization_are_templates() {
    let map =
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\ndata: {tier: {{ include \"tier\" .tier }}}";
    let files = [
        ("kustomization.yaml", "{namePrefix: '{{ .stage }}-', resources: [map.yaml]}"),
        ("helpers.txt", "{{ define \"tier\" }}{{ . | upper | quote }}{{ end }}"),
        ("map.yaml", map),
    ];
    let objects = rendered(&files, json!({"stage": "test", "tier": "front"})).expect("objects");
    assert_eq!(names(&objects), ["test-web"]);
    assert_eq!(objects[0]["data"]["tier"], "FRONT");
}

// Row: D-411
#[test]
fn a_value_replaces_a_table_of_the_defaults() {
    let config = "values: {a: {b: 1}, c: {d: 1, e: 2}}";
    let files = [(".component-config.yaml", config), ("a.yaml", &map("{{ .a }}-{{ .c.d }}{{ .c.e }}"))];
    assert_eq!(rendered_names(&files, json!({"a": "x", "c": {"d": 3}})), ["x-32"]);
}

// Row: D-412
#[test]
fn remote_resources_are_refused_without_their_credentials() {
    let files = [("kustomization.yaml", "resources: ['https://me:secret@example.org/x.yaml']")];
    let text = problem(&files);
    assert!(text.contains("example.org/x.yaml") && !text.contains("secret"), "{text}");
}

// Row: D-413
#[test]
fn templates_see_no_environment_and_no_hosts() {
    for function in ["env", "expandenv"] {
        let text = problem(&[("a.yaml", &format!("{{{{ {function} \"HOME\" }}}}"))]);
        assert!(text.contains(&format!("function \"{function}\" not defined")), "{text}");
    }
    assert_eq!(rendered_names(&[("a.yaml", &map("a{{ getHostByName \"localhost\" }}"))], json!({})), ["a"]);
}

// Row: D-416
#[test]
fn templates_are_rendered_in_the_order_of_their_paths() {
    let files = [
        ("b.yaml", map("{{ .seen | default \"first\" }}-b{{ $_ := set . \"seen\" \"b\" }}")),
        ("a/z.yaml", map("{{ .seen | default \"first\" }}-z{{ $_ := set . \"seen\" \"z\" }}")),
        ("a-b.yaml", map("{{ .seen | default \"first\" }}-ab{{ $_ := set . \"seen\" \"ab\" }}")),
    ];
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (*path, text.as_str())).collect();
    assert_eq!(rendered_names(&files, json!({})), ["first-z", "z-ab", "ab-b"]);
}

#[test]
fn a_cycle_of_included_kustomizations_names_its_folders() {
    let files = [
        ("app/.component-config.yaml", "includedKustomizations: [../b]"),
        ("b/.component-config.yaml", "includedKustomizations: [../c]"),
        ("c/.component-config.yaml", "includedKustomizations: [../b]"),
    ];
    let tree: MemoryTree = files.iter().map(|(path, text)| (*path, text.as_bytes())).collect();
    let mut request = RenderRequest::new(&tree, "web", "shop");
    request.path = "app";
    match &render(&request).expect_err("a cycle").problems[0] {
        RenderProblem::Cycle { chain, part_of } => {
            let chain: Vec<&str> = chain.iter().map(TreePath::as_str).collect();
            assert_eq!((chain, part_of.as_str()), (vec!["/app", "/b", "/c", "/b"], "/b"));
        }
        other => panic!("expected a cycle, found {other}"),
    }
}

#[test]
fn a_template_that_prints_too_much_is_stopped() {
    let huge = "{{ repeat 100000000 \"x\" }}";
    for file in ["a.yaml", "templates/a.yaml"] {
        let files = [(file, huge), ("Chart.yaml", "name: demo")];
        let files = if file == "a.yaml" { &files[..1] } else { &files };
        let error = rendered(files, json!({})).expect_err("a limit");
        assert!(error.problems[0].limit().is_some(), "{error}");
    }
}

#[test]
fn a_file_name_with_a_space_is_refused_unless_it_is_ignored() {
    assert!(problem(&[("read me.md", "x")]).contains("read me.md"));
    let files = [("read me.md", "{{"), (".component-ignore", "*.md"), ("a.yaml", &map("a"))];
    assert_eq!(rendered_names(&files, json!({})), ["a"]);
}

#[test]
fn templates_read_the_fields_of_their_component() {
    let text = map(
        "{{ component.Name }}-{{ component.Spec.Path }}-{{ component.GetNamespace }}-{{ component.Spec.Values.x }}",
    );
    let tree: MemoryTree = [("/p/a.yaml", text.as_bytes())].into_iter().collect();
    let mut request = RenderRequest::new(&tree, "web", "shop");
    request.path = "p";
    request.component =
        json!({"metadata": {"name": "c", "namespace": "n"}, "spec": {"path": "p", "values": {"x": 1}}});
    assert_eq!(render(&request).expect("an object")[0].name(), "c-p-n-1");
    for (field, reason) in [("Spec.Pth", "can't evaluate field Pth"), ("Spec.KubeConfig.SecretRef", "nil")] {
        let text = format!("{{{{ component.{field} }}}}");
        let tree: MemoryTree = [("/a.yaml", text.as_bytes())].into_iter().collect();
        let mut request = RenderRequest::new(&tree, "web", "shop");
        request.component = json!({"spec": {}});
        let text = render(&request).expect_err("no such field").to_string();
        assert!(text.contains(reason), "{text}");
    }
}

/// Decrypts files that start with `secret:`.
fn decrypt(path: &str, content: &[u8]) -> Result<Option<Vec<u8>>, DecryptError> {
    match content.strip_prefix(b"secret:") {
        Some(b"broken") => Err(Box::new(std::io::Error::other(format!("no key for {path}")))),
        Some(plain) => Ok(Some(plain.to_vec())),
        None => Ok(None),
    }
}

// Row: D-415
#[test]
fn all_files_are_decrypted_before_they_are_used() {
    let secret = |name: &str| format!("secret:{}", map(name));
    let files = [
        ("app/.component-config.yaml", "includedKustomizations: [../b]\nincludedFiles: [../x]".to_owned()),
        ("app/kustomization.yaml", "secret:resources: [a.yaml, ../b]".to_owned()),
        ("app/a.yaml", secret("a-{{ readFile \"../x\" | toString }}")),
        ("b/b.yaml", secret("b-{{ name }}")),
        ("x", "secret:plain".to_owned()),
        ("broken/a.yaml", "secret:broken".to_owned()),
    ];
    let tree: MemoryTree = files.iter().map(|(path, text)| (*path, text.as_bytes())).collect();
    let mut request = RenderRequest::new(&tree, "web", "shop");
    request.path = "app";
    request.decrypt = Some(&decrypt);
    let objects = render(&request).expect("objects");
    assert_eq!(objects.iter().map(Object::name).collect::<Vec<_>>(), ["a-plain", "b-web"]);
    request.path = "broken";
    let text = render(&request).expect_err("no key").to_string();
    assert!(text.contains("/broken/a.yaml") && text.contains("no key"), "{text}");
}

/// Clusters that each have one Secret, with this value.
#[derive(Debug)]
struct OneSecret;

#[derive(Debug)]
struct SecretOf {
    name: Option<&'static str>,
    value: Value,
}

impl ClusterReader for OneSecret {
    fn cluster(&self, cluster: LookupCluster<'_>) -> Result<Arc<dyn ObjectLookup>, String> {
        match cluster {
            LookupCluster::Target => Ok(Arc::new(SecretOf { name: Some("known"), value: json!(5) })),
            LookupCluster::Local => Err("no permission".to_owned()),
            LookupCluster::KubeConfig(text) => Ok(Arc::new(SecretOf { name: None, value: json!(text) })),
        }
    }
}

impl ObjectLookup for SecretOf {
    fn get(&self, object: &ObjectQuery<'_>) -> Result<Option<Value>, String> {
        let is_known = self.name.is_none_or(|name| object.kind == "Secret" && object.selector == name);
        Ok(is_known.then(|| json!({"data": {"n": self.value}})))
    }

    fn list(&self, objects: &ObjectQuery<'_>) -> Result<Vec<Value>, String> {
        Ok(vec![json!({"selector": objects.selector}); 2])
    }
}

#[test]
fn lookups_ask_the_cluster_that_their_name_says() {
    let ask = |text: &str| {
        let tree: MemoryTree = [("/a", text.as_bytes())].into_iter().collect();
        let mut request = RenderRequest::new(&tree, "web", "shop");
        request.cluster = Some(Arc::new(OneSecret));
        let printed = render_template(&request, "a").map_err(|error| error.to_string())?;
        Ok::<_, String>(String::from_utf8(printed).expect("UTF-8"))
    };
    let known = "(lookup \"v1\" \"Secret\" \"ns\" \"known\").data.n";
    assert_eq!(ask(&format!("{{{{ {known} }}}} {{{{ kindOf {known} }}}}")).unwrap(), "5 int64");
    assert_eq!(ask("{{ lookup \"v1\" \"Secret\" \"ns\" \"x\" }}").unwrap(), "map[]");
    assert!(ask("{{ mustLookup \"v1\" \"Secret\" \"ns\" \"x\" }}").unwrap_err().contains("not found"));
    assert!(ask("{{ localLookup \"v1\" \"Secret\" \"ns\" \"x\" }}").unwrap_err().contains("no permission"));
    let remote = "{{ (lookupWithKubeConfig \"v1\" \"Secret\" \"ns\" \"x\" \"kc\").data.n }}";
    assert_eq!(ask(remote).unwrap(), "kc");
    let list = "{{ range lookupList \"v1\" \"Secret\" \"ns\" \"a=b\" }}{{ .selector }} {{ end }}";
    assert_eq!(ask(list).unwrap(), "a=b a=b ");
}

#[test]
fn random_sources_never_panic() {
    const PIECES: [&str; 24] = [
        "{{",
        "}}",
        "{{-",
        " -}}",
        "a: ",
        "- ",
        "\n",
        "\n---\n",
        "|",
        "[",
        "]",
        "{",
        "}",
        "'",
        "\"",
        "*x",
        "&x",
        "kind: ConfigMap",
        "name: a",
        "{{ .x }}",
        "{{ end }}",
        "{{ range . }}",
        "\u{1F600}",
        "\0",
    ];
    const NAMES: [&str; 9] = [
        "a.yaml",
        ".component-config.yaml",
        ".component-ignore",
        "kustomization.yaml",
        "Chart.yaml",
        "values.yaml",
        "templates/a.yaml",
        "charts/s/Chart.yaml",
        "charts/s/templates/a.yaml",
    ];
    let mut state = 1_u64;
    let mut next = |limit: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(state >> 33).unwrap() % limit
    };
    for _ in 0..500 {
        let text = |next: &mut dyn FnMut(usize) -> usize| {
            (0..next(12)).map(|_| PIECES[next(PIECES.len())]).collect::<String>()
        };
        let files: Vec<(&str, String)> =
            (0..next(5)).map(|_| (NAMES[next(NAMES.len())], text(&mut next))).collect();
        let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (*path, text.as_str())).collect();
        if let Err(error) = rendered(&files, json!({"x": {"y": 1}})) {
            assert!(!error.problems.is_empty() && !error.to_string().is_empty());
        }
    }
}
