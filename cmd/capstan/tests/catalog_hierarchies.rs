//! Tests of whole hierarchies: where components and packages may be named, and which values reach a component.

use snapbox::{assert_data_eq, str};
use support::{
    binary::TestEnvironment,
    git::GitForge,
    host::{FakeHost, Reply},
};

use crate::testing::with_lieutenant;

const API: &str = "api.syn.example.org";

/// A class that compiles `component/main.jsonnet`.
const CLASS: &str = "parameters: {kapitan: {compile: [{input_type: jsonnet, input_paths: ['${_base_directory}/component/main.jsonnet'], output_path: .}]}}";
/// A program that prints the parameters of its component, whose key is `@key@`, into a file named after the instance.
const PROGRAM: &str = "local p = (import 'lib/kapitan.libjsonnet').inventory().parameters;
{ [p._instance]: { instance: p._instance, own: { [k]: p['@key@'][k] for k in std.objectFields(p['@key@']) if k != '_metadata' } } }";

/// The clusters c-1 and c-2 of a tenant, with repositories for everything.
struct Site {
    forge: GitForge,
    host: FakeHost,
    world: TestEnvironment,
}

impl Site {
    fn new() -> Self {
        let (forge, host) = (GitForge::new(), FakeHost::start(&[API]));
        let world = with_lieutenant(crate::world(), &forge, &host, API);
        let site = Self { forge, host, world };
        let [tenant, global] = ["tenant", "global"].map(|name| site.path(name));
        let tenant = format!(
            r#"{{"id": "t-1", "displayName": "T", "gitRepo": {{"url": "{tenant}"}}, "globalGitRepoURL": "{global}"}}"#
        );
        site.host.on(format!("{API}/tenants/t-1"), Reply::json(200, tenant));
        site.describe("c-1", "{}");
        site.describe("c-2", "{}");
        site
    }

    /// The path of a repository, which is created.
    fn path(&self, name: &str) -> String {
        self.forge.repository(name).display().to_string()
    }

    /// Describes a cluster in the API.
    fn describe(&self, cluster: &str, dynamic_facts: &str) {
        let catalog = self.path(&format!("catalog-{cluster}"));
        let body = format!(
            r#"{{"id": "{cluster}", "displayName": "C", "tenant": "t-1", "gitRepo": {{"url": "{catalog}"}}, "dynamicFacts": {dynamic_facts},
            "facts": {{"cloud": "lab", "distribution": "k3s"}}}}"#
        );
        self.host.on(format!("{API}/clusters/{cluster}"), Reply::json(200, body));
    }

    /// Commits files. `@name@` in a file becomes the path of the repository `name`, if the forge has it.
    fn commit(&self, name: &str, files: &[(&str, &str)]) -> String {
        let known = ["one", "two", "three", "mono", "fork", "p", "q", "lib"];
        let texts: Vec<_> = files
            .iter()
            .map(|(path, text)| {
                let filled = |text: String, name: &&str| {
                    let marker = format!("@{name}@");
                    if text.contains(&marker) { text.replace(&marker, &self.path(name)) } else { text }
                };
                (*path, known.iter().fold((*text).to_owned(), filled))
            })
            .collect();
        let files: Vec<_> = texts.iter().map(|(path, text)| (*path, text.as_str())).collect();
        self.forge.commit(name, &files)
    }

    /// Commits a component with defaults and the common class and program.
    fn component(&self, repository: &str, folder: &str, name: &str, defaults: &str) -> String {
        let program = PROGRAM.replace("@key@", &name.replace('-', "_"));
        let [class, defaults_file, main] =
            [&format!("class/{name}.yml"), "class/defaults.yml", "component/main.jsonnet"]
                .map(|file| format!("{folder}{file}"));
        self.commit(repository, &[(&class, CLASS), (&defaults_file, defaults), (&main, &program)])
    }

    /// Commits the classes of both hierarchies. The parameters of all clusters are in a class of their own, so that the
    /// other classes can change them.
    fn hierarchy(&self, global: &str, tenant: &str) {
        let (head, parameters) = global.split_once("parameters:").unwrap_or((global, ""));
        let head = match head.split_once("classes: [") {
            Some((before, classes)) => format!("{before}classes: [global.base, {classes}"),
            None => format!("classes: [global.base]\n{head}"),
        };
        let base = format!("parameters:{parameters}");
        self.commit("global", &[("commodore.yml", &head), ("base.yml", &base)]);
        self.commit("tenant", &[("c-1.yml", tenant), ("c-2.yml", "{}")]);
    }

    /// Compiles the cluster c-1.
    fn compile(&self) {
        self.world.run_expecting_success("catalog compile c-1");
    }

    /// The names of the files of the catalog of c-1.
    fn manifests(&self) -> Vec<String> {
        let files = self.world.files().into_iter();
        files.filter_map(|file| file.strip_prefix("[CWD]/catalog/manifests/").map(str::to_owned)).collect()
    }
}

// Row: CAT-06
// Row: CAT-07
// Row: CAT-09
// Row: CAT-16
// Row: CAT-26
// Row: CAT-27
// Row: CAT-68
// Row: CAT-100
#[test]
fn components_of_hierarchies_and_packages_are_compiled() {
    let site = Site::new();
    site.component("one", "", "one", "parameters: {one: {version: first}}");
    site.forge.git("one", &["tag", "v1"]);
    site.component("one", "", "one", "parameters: {one: {version: second, from: none}}");
    site.forge.git("one", &["tag", "v2"]);
    site.component("two", "", "two", "parameters: {two: {}}");
    site.component("mono", "deep/three/", "three", "parameters: {three: {}}");
    site.commit(
        "p",
        &[(
            "sub/main.yml",
            "applications: [three]\nparameters:\n  components: {one: {version: v2}}\n  one: {from: package}\n",
        )],
    );
    site.commit("q", &[("more.yml", "parameters: {two: {from: package q}}")]);
    let global = "classes: [p.main, '${cluster:tenant}.${cluster:name}']
applications: [pkg.p, one]
parameters:
  packages:
    p: {url: '@p@', version: main, path: /sub}
    q: {url: '@q@', version: main}
  components:
    one: {url: '@one@', version: v1}
    two: {url: '@two@', version: main}
    three: {url: '@mono@', version: main, path: deep/three}
";
    site.hierarchy(global, "classes: [q.more]\napplications: [pkg.q, two]\n");
    site.compile();
    assert_eq!(site.manifests(), ["one.yaml", "three.yaml", "two.yaml"]);
    assert_data_eq!(
        ["one", "two"].map(|name| site.world.read(format!("compiled/{name}/{name}.yaml"))).concat(),
        str![[r#"
instance: one
own:
  from: package
  version: second
instance: two
own:
  from: package q

"#]]
    );
    assert!(!site.world.current_dir().join("dependencies/two/lib").exists());
    site.hierarchy(global, "{}");
    site.compile();
    assert_eq!(site.manifests(), ["one.yaml", "three.yaml"], "an application was removed");
}

// Row: CAT-15
// Row: CAT-28
// Row: CAT-32
// Row: CAT-33
#[test]
fn the_hierarchy_selects_versions_and_components_do_not() {
    let site = Site::new();
    let other = "parameters: {one: {}, components: {two: {version: v9, url: nowhere}}}";
    site.component("one", "", "one", other);
    site.component("two", "", "two", "parameters: {two: {text: first}}");
    site.forge.git("two", &["tag", "v1"]);
    site.component("two", "", "two", "parameters: {two: {text: second}}");
    site.forge.git("two", &["tag", "v2"]);
    site.component("fork", "", "two", "parameters: {two: {text: fork}}");
    let global = |version: &str| {
        format!(
            "classes: ['${{cluster:tenant}}.${{cluster:name}}']\napplications: [one, two]\nparameters:\n  components:\n    one: {{url: '@one@', version: main}}\n    two: {{url: '@two@', version: {version}}}\n"
        )
    };
    let text = |folder: &str| {
        let compiled = site.world.read(format!("{folder}compiled/two/two.yaml"));
        compiled.lines().last().unwrap_or_default().trim().to_owned()
    };
    site.hierarchy(&global("v1"), "{}");
    site.compile();
    assert_eq!(text(""), "text: first");
    site.hierarchy(&global("v2"), "{}");
    site.compile();
    assert_eq!(text(""), "text: second");
    site.commit("tenant", &[("c-2.yml", "parameters: {components: {two: {url: '@fork@', version: main}}}")]);
    site.world.run_expecting_success("catalog compile c-2 -d other");
    assert_eq!((text(""), text("other/")), ("text: second".to_owned(), "text: fork".to_owned()));
}

// Row: CAT-35
// Row: CAT-43
// Row: CAT-50
// Row: CAT-51
#[test]
fn instances_of_one_component_have_their_own_values_and_names() {
    let site = Site::new();
    let name = "nfs-subdir-external-provisioner";
    site.component(
        "one",
        "",
        name,
        "parameters:\n  nfs_subdir_external_provisioner:\n    =_metadata: {multi_instance: true}\n    server: nfs.example.org\n    path: /none\n    class: nfs-${_instance}\n",
    );
    let global = format!(
        "classes: ['${{cluster:tenant}}.${{cluster:name}}']\napplications: ['{name} as nfs-1', '{name} as nfs-2']\nparameters:\n  components:\n    {name}: {{url: '@one@', version: main}}\n"
    );
    site.hierarchy(&global, "parameters: {nfs_1: {path: /path-1}, nfs_2: {path: /path-2}}");
    site.compile();
    assert_eq!(site.manifests(), ["nfs-1.yaml", "nfs-2.yaml"], "there is no instance of the name");
    assert_data_eq!(
        ["nfs-1", "nfs-2"].map(|name| site.world.read(format!("compiled/{name}/{name}.yaml"))).concat(),
        str![[r#"
instance: nfs-1
own:
  class: nfs-nfs-1
  path: /path-1
  server: nfs.example.org
instance: nfs-2
own:
  class: nfs-nfs-2
  path: /path-2
  server: nfs.example.org

"#]]
    );
}

// Row: CAT-58
// Row: CAT-60
// Row: CAT-66
// Row: CAT-70
#[test]
fn a_library_is_imported_by_its_name_and_by_its_alias() {
    let site = Site::new();
    let library = "local p = (import 'lib/kapitan.libjsonnet').inventory().parameters.rancher_monitoring;
{ alertLabels: p.labels, filterRules(rules):: [r for r in rules if !std.member(p.ignored, r)] }";
    site.component(
        "one",
        "",
        "rancher-monitoring",
        "parameters: {rancher_monitoring: {=_metadata: {library_aliases: {alerts.libsonnet: rancher-monitoring-alerts.libsonnet}}, labels: {syn: 'true'}, ignored: [noisy]}}",
    );
    site.commit("one", &[("lib/rancher-monitoring-alerts.libsonnet", library)]);
    site.component("two", "", "two", "parameters: {two: {}}");
    let program = "local byAlias = import 'lib/alerts.libsonnet'; local byName = import 'lib/rancher-monitoring-alerts.libsonnet';
{ rules: { labels: byAlias.alertLabels, rules: byName.filterRules(['noisy', 'loud']) } }";
    site.commit("two", &[("component/main.jsonnet", program)]);
    let global = "applications: [rancher-monitoring, two]\nparameters:\n  components:\n    rancher-monitoring: {url: '@one@', version: main}\n    two: {url: '@two@', version: main}\n";
    site.hierarchy(global, "{}");
    site.compile();
    assert_data_eq!(
        site.world.read("compiled/two/rules.yaml"),
        str![[r#"
labels:
  syn: 'true'
rules:
  - loud

"#]]
    );
}

// Row: CAT-03
// Row: CAT-56
#[test]
fn facts_of_a_cluster_select_the_version_of_a_library() {
    let site = Site::new();
    for version in ["v1.18", "v1.20"] {
        site.commit("lib", &[("libs/version.libsonnet", &format!("'{version}'"))]);
        site.forge.git("lib", &["tag", version]);
    }
    site.component(
        "one",
        "",
        "rancher-monitoring",
        "parameters:\n  rancher_monitoring:\n    versions: {'18': v1.18, '20': v1.20}\n    jsonnetfile_parameters:\n      version: ${rancher_monitoring:versions:${dynamic_facts:kubernetes:minor}}\n",
    );
    let jsonnetfile = "{ version: 1, dependencies: [{ source: { git: { remote: '@lib@', subdir: 'libs' } }, version: std.extVar('version') }] }";
    site.commit(
        "one",
        &[
            ("jsonnetfile.jsonnet", jsonnetfile),
            ("component/main.jsonnet", "{ version: { is: import 'libs/version.libsonnet' } }"),
        ],
    );
    let global = "applications: [rancher-monitoring]\nparameters:\n  components:\n    rancher-monitoring: {url: '@one@', version: main}\n";
    site.hierarchy(global, "{}");
    site.describe("c-1", r#"{"kubernetes": {"minor": 18}}"#);
    site.describe("c-2", r#"{"kubernetes": {"minor": 20}}"#);
    site.compile();
    site.world.run_expecting_success("catalog compile c-2 -d other");
    let version = |folder: &str| site.world.read(format!("{folder}compiled/rancher-monitoring/version.yaml"));
    assert_eq!((version(""), version("other/")), ("is: v1.18\n".to_owned(), "is: v1.20\n".to_owned()));
}

// Row: CAT-72
// Row: CAT-86
// Row: CAT-87
// Row: CAT-88
// Row: CAT-89
// Row: CAT-94
// Row: CAT-95
// Row: CAT-96
#[test]
fn references_to_secrets_follow_the_parameters_of_all_classes() {
    let site = Site::new();
    site.component("one", "", "one", "parameters: {one: {secret: none}}");
    site.commit(
        "p",
        &[(
            "main.yml",
            "parameters: {one: {secret: '?{vaultkv:${cluster:tenant}/${cluster:name}/web/password}'}}",
        )],
    );
    site.commit(
        "global",
        &[(
            "common.yml",
            "parameters:\n  secret_management: {vault_addr: https://vault.example.org, vault_mount: clusters/kv}\n  kapitan:\n    secrets:\n      vaultkv: {VAULT_ADDR: '${secret_management:vault_addr}', auth: token, engine: kv-v2, mount: '${secret_management:vault_mount}'}\n",
        )],
    );
    let global = "classes: [global.common, p.main, '${cluster:tenant}.${cluster:name}']
applications: [pkg.p, one]
parameters:
  packages: {p: {url: '@p@', version: main}}
  components: {one: {url: '@one@', version: main}}
";
    site.hierarchy(global, "parameters: {another: '?{vaultkv:a/b/c}'}");
    site.compile();
    let file = "catalog/refs/t-1/c-1/web/password";
    assert_data_eq!(
        site.world.read(file),
        str![[r#"
data: dC0xL2MtMS93ZWI6cGFzc3dvcmQ=
encoding: original
type: vaultkv
vault_params:
  VAULT_ADDR: https://vault.example.org
  auth: token
  engine: kv-v2
  mount: clusters/kv

"#]]
    );
    let compiled = site.world.read("catalog/manifests/one.yaml");
    assert!(compiled.contains("secret: ?{vaultkv:t-1/c-1/web/password:"), "{compiled}");
    assert_eq!(site.world.read("catalog/refs/a/b/c").lines().next(), Some("data: YS9iOmM="));

    site.hierarchy(global, "parameters: {secret_management: {vault_mount: own/kv}}");
    site.compile();
    assert!(site.world.read(file).ends_with("mount: own/kv\n"));
    assert!(!site.world.current_dir().join("catalog/refs/a/b/c").exists());
}

// Row: CAT-75
// Row: CAT-79
// Row: CAT-83
#[test]
fn filters_of_an_instance_run_in_their_order_on_its_own_files() {
    let site = Site::new();
    site.component("one", "", "metrics-server", "{}");
    let class = "parameters:
  kapitan: {compile: [{input_type: jsonnet, input_paths: ['${_base_directory}/component/main.jsonnet'], output_path: out}]}
  commodore:
    postprocess:
      filters:
        - {path: out, type: builtin, filter: helm_namespace, filterargs: {namespace: '${metrics_server:namespace}'}}
        - {path: out, type: jsonnet, filter: postprocess/second.jsonnet}
";
    let second = "local object = std.native('yaml_load')(std.extVar('output_path') + '/object.yaml');
{ object: object { seen: object.metadata.namespace } }";
    site.commit(
        "one",
        &[
            ("class/metrics-server.yml", class),
            (
                "class/defaults.yml",
                "parameters: {metrics_server: {=_metadata: {multi_instance: true}, namespace: none}}",
            ),
            (
                "component/main.jsonnet",
                "{ object: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'm' } } }",
            ),
            ("postprocess/second.jsonnet", second),
        ],
    );
    let global = "classes: ['${cluster:tenant}.${cluster:name}']\napplications: [metrics-server as second]\nparameters:\n  components: {metrics-server: {url: '@one@', version: main}}\n";
    site.hierarchy(global, "parameters: {second: {namespace: metrics}}");
    site.compile();
    assert_data_eq!(
        site.world.read("compiled/second/out/object.yaml"),
        str![[r#"
apiVersion: v1
kind: ConfigMap
metadata:
  name: m
  namespace: metrics
seen: metrics

"#]]
    );
}

// Row: D-470
#[cfg(unix)]
#[test]
fn a_component_with_a_link_out_of_its_repository_is_refused() {
    let site = Site::new();
    site.component("one", "", "one", "parameters: {one: {}}");
    std::os::unix::fs::symlink("/etc", site.forge.repository("one").join("etc")).unwrap();
    site.commit("one", &[]);
    site.hierarchy(
        "applications: [one]\nparameters:\n  components: {one: {url: '@one@', version: main}}\n",
        "{}",
    );
    let run = site.world.run_line("catalog compile c-1");
    assert_data_eq!(
        run.stderr,
        str![[r#"
error: while fetching component one
  cause: cannot check out `[..]/repositories/one`
  cause: the link `etc` in commit [..] points outside the repository, to `/etc`

"#]]
    );
    assert_eq!(run.status, 1);
    assert!(!site.world.current_dir().join("dependencies/one").exists());
}

// Row: CAT-97
#[cfg(unix)]
#[test]
fn an_interactive_compilation_asks_before_the_push() {
    let site = Site::new();
    site.component("one", "", "one", "parameters: {one: {}}");
    site.hierarchy(
        "applications: [one]\nparameters:\n  components: {one: {url: '@one@', version: main}}\n",
        "{}",
    );
    site.path("catalog-c-1");
    site.forge.git("catalog-c-1", &["config", "receive.denyCurrentBranch", "ignore"]);
    site.host.on(format!("{API}/clusters/c-1/compileMeta"), Reply::status(204));
    let commits = || site.forge.git("catalog-c-1", &["rev-list", "--all", "--count"]);
    for (answer, expected) in [("\r", "0"), ("no\r", "0"), ("\u{4}", "0"), ("y\r", "2")] {
        let terminal = support::terminal::Terminal::with_columns(80);
        let run = terminal.spawn(site.world.command(["catalog", "compile", "c-1", "--push", "-i"]));
        let shown = terminal.read_until("Should the push be done? [y/N] ");
        assert!(shown.contains("Added file manifests/one.yaml"), "the changes are shown first: {shown}");
        terminal.press(answer);
        terminal.read_until("Catalog compiled!");
        assert_eq!(run.wait().0, Some(0), "{answer:?}");
        assert_eq!(commits(), expected, "{answer:?}");
    }
    let run = site.world.run_line("catalog compile c-2 --push --interactive");
    assert_data_eq!(
        run.stderr,
        str![[r#"
error: cannot ask whether to push the catalog
  cause: there is no terminal
hint: run the command in a terminal, or without `--interactive`

"#]]
    );
}
