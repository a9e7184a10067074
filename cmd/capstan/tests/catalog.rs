//! Tests of `catalog`: rendered targets, and the whole compilation with Git repositories and an API.

use snapbox::{assert_data_eq, str};
use support::{
    binary::TestEnvironment,
    git::GitForge,
    host::{FakeHost, Reply},
};

use crate::testing::with_lieutenant;

const API: &str = "api.syn.example.org";

/// The repositories and the API of one cluster.
pub(crate) struct Lab {
    pub(crate) forge: GitForge,
    pub(crate) host: FakeHost,
    pub(crate) world: TestEnvironment,
}

impl Lab {
    /// Creates a cluster with the component `one` and its instance `two`.
    pub(crate) fn new() -> Self {
        let forge = GitForge::new();
        let path = |name: &str| forge.repository(name).display().to_string();
        let defaults = "parameters: {one: {=_metadata: {multi_instance: true}, text: none}}";
        let class = "parameters: {kapitan: {compile: [{input_type: jsonnet, input_paths: ['${_base_directory}/component/main.jsonnet'], output_path: ., output_type: yaml}]}}";
        let program = "local kap = import 'lib/kapitan.libjsonnet'; local p = kap.inventory().parameters;
{ [p._instance]: { kind: 'ConfigMap', text: p.one.text, cloud: p.facts.cloud } }";
        forge.commit(
            "one",
            &[
                ("class/defaults.yml", defaults),
                ("class/one.yml", class),
                ("component/main.jsonnet", program),
            ],
        );
        forge.git("one", &["tag", "v1.0.0"]);
        let global = format!(
            "classes: ['${{cluster:tenant}}.${{cluster:name}}']\napplications: [one]\nparameters:\n  components:\n    one: {{url: {}, version: v1.0.0}}\n",
            path("one")
        );
        forge.commit("global", &[("commodore.yml", &global)]);
        forge.commit(
            "tenant",
            &[("c-1.yml", "applications: [one as two]\nparameters: {one: {text: base}, two: {text: own}}\n")],
        );
        forge.repository("catalog");
        forge.git("catalog", &["config", "receive.denyCurrentBranch", "ignore"]);
        let host = FakeHost::start(&[API]);
        let cluster = format!(
            r#"{{"id": "c-1", "displayName": "One", "tenant": "t-1", "facts": {{"cloud": "lab", "distribution": "k3s"}}, "gitRepo": {{"url": "{}"}}}}"#,
            path("catalog")
        );
        let tenant = format!(
            r#"{{"id": "t-1", "displayName": "Tenant", "gitRepo": {{"url": "{}"}}, "globalGitRepoURL": "{}"}}"#,
            path("tenant"),
            path("global")
        );
        host.on(format!("{API}/clusters/c-1"), Reply::json(200, cluster));
        host.on(format!("{API}/tenants/t-1"), Reply::json(200, tenant));
        host.on(format!("{API}/clusters/c-1/compileMeta"), Reply::status(204));
        host.on(
            format!("{API}/clusters/?sort_by=id"),
            Reply::json(200, r#"[{"id": "c-1", "displayName": "One", "tenant": "t-1"}]"#),
        );
        host.on(format!("{API}/clusters/c-2"), Reply::json(404, r#"{"reason": "object does not exist"}"#));
        let world = with_lieutenant(crate::world(), &forge, &host, API)
            .env("COMMODORE_API_TOKEN", "sesame")
            .env("GIT_AUTHOR_NAME", "Ann")
            .env("GIT_AUTHOR_EMAIL", "ann@example.org");
        Self { forge, host, world }
    }
}

const CLASSES: [(&str, &str); 4] = [
    (
        "inventory/classes/base.yml",
        "parameters:\n  app: {replicas: 1, image: 'web:${version}'}\n  version: v1\n",
    ),
    (
        "inventory/classes/prod.yml",
        "classes: [base]\napplications: [web]\nparameters:\n  app: {replicas: 3}\n",
    ),
    ("inventory/targets/prod.yml", "classes: [prod]\n"),
    ("inventory/targets/bad.yml", "classes: [prod, nope]\nparameters:\n  app: [1]\n  x: ${versio}\n"),
];

// Row: CAT-73, D-445
#[test]
fn targets_are_printed_and_parameters_explained() {
    let world = crate::world();
    for (path, text) in CLASSES {
        world.write(path, text);
    }
    assert_data_eq!(
        world.screens([
            "catalog inventory",
            "catalog inventory prod -o yaml",
            "catalog explain prod app:replicas",
            "catalog explain prod app:size",
            "catalog explain prod app:size -d inventory",
            "catalog inventory bad -o json",
            "catalog inventory prd",
            "catalog inventory prod -d elsewhere",
        ]),
        str![[r#"
$ capstan catalog inventory
exit 0
--- stdout
bad
prod

$ capstan catalog inventory prod -o yaml
exit 0
--- stdout
applications:
- web
classes:
- base
- prod
parameters:
  _reclass_:
    environment: base
    name:
      full: prod
      parts:
      - prod
      path: prod
      short: prod
  app:
    image: web:v1
    replicas: 3
  version: v1

$ capstan catalog explain prod app:replicas
exit 0
--- stdout
inventory/classes/base.yml:2 sets app:replicas: 1
inventory/classes/prod.yml:4 merges app:replicas: 3
app:replicas: 3

$ capstan catalog explain prod app:size
exit 1
--- stderr
error: cannot explain parameter `app:size`: target `prod` has no such parameter
hint: list the parameters with `capstan catalog inventory prod`

$ capstan catalog explain prod app:size -d inventory
exit 1
--- stderr
error: cannot explain parameter `app:size`: target `prod` has no such parameter
hint: list the parameters with `capstan catalog inventory prod --directory inventory`

$ capstan catalog inventory bad -o json
exit 1
--- stderr
error: cannot render target `bad`
  cause: inventory/targets/bad.yml:1: Class nope not found

$ capstan catalog inventory prd
exit 1
--- stderr
error: Unknown node prd
hint: did you mean `prod`?

$ capstan catalog inventory prod -d elsewhere
exit 1
--- stderr
error: cannot read inventory `[CWD]/elsewhere`: it has no folder `targets`
hint: name the folder that contains `classes` and `targets` with `--directory`

"#]]
    );
}

// Row: CAT-01
// Row: CAT-02
// Row: CAT-04
// Row: CAT-05
// Row: CAT-20
// Row: CAT-21
// Row: CAT-22
// Row: CAT-41
// Row: CAT-46
// Row: CAT-47
// Row: CAT-97
// Row: CAT-98
#[test]
fn a_catalog_is_compiled_pushed_and_unchanged_afterwards() {
    let lab = Lab::new();
    assert_data_eq!(
        lab.world.screens(["catalog compile c-1 --push", "catalog compile c-1 --push", "catalog list"]),
        str![[r#"
$ capstan catalog compile c-1 --push
exit 0
--- stdout
Cleaning working tree
Updating Kapitan target for cluster...
Updating cluster parameters...
Updating global config...
Updating customer config...
Discovering config packages...
Discovering components...
Registering component aliases...
Fetching components...
Updating Kapitan target for cluster...
Updating Kapitan target for one...
Updating Kapitan target for two...
Updating cluster catalog...
 > Revision 'master' not found in repository, creating initial commit for [CWD]/catalog
Installing component library aliases
Updating Kapitan secret references...
Cleaning catalog repository...
 > Skipping cleaning, catalog directory [CWD]/catalog/manifests doesn't exist
Compiling catalog...
Postprocessing...
Updating catalog repository...
 > Changes:
     Added file manifests/one.yaml
     Added file manifests/two.yaml
 > Commiting changes...
 > Pushing catalog to remote...
Catalog compiled! 🎉

$ capstan catalog compile c-1 --push
exit 0
--- stdout
Cleaning working tree
Updating Kapitan target for cluster...
Updating cluster parameters...
Updating global config...
Updating customer config...
Discovering config packages...
Discovering components...
Registering component aliases...
Fetching components...
Updating Kapitan target for cluster...
Updating Kapitan target for one...
Updating Kapitan target for two...
Updating cluster catalog...
Installing component library aliases
Updating Kapitan secret references...
Cleaning catalog repository...
Compiling catalog...
Postprocessing...
Updating catalog repository...
 > No changes.
 > Skipping commit+push to catalog...
Catalog compiled! 🎉

$ capstan catalog list
exit 0
--- stdout
ID   DISPLAY NAME TENANT
c-1  One          t-1

"#]]
    );
    assert_data_eq!(
        lab.forge.git("catalog", &["show", "master:manifests/two.yaml"]),
        str![[r#"
cloud: lab
kind: ConfigMap
text: own
"#]]
    );
    let message = lab.forge.git("catalog", &["log", "-1", "--format=%an <%ae>%n%s", "master"]);
    assert_eq!(message, "Ann <ann@example.org>\nAutomated catalog update from Commodore");
    let posted: Vec<_> = lab
        .host
        .received()
        .into_iter()
        .filter(|request| request.address().ends_with("compileMeta"))
        .collect();
    assert_eq!(posted.len(), 1);
    assert_eq!(posted[0].header("authorization"), Some("Bearer sesame"));
}

// Row: D-437
#[test]
fn local_changes_stop_a_compilation_and_local_mode_uses_them() {
    let lab = Lab::new();
    lab.world.run_expecting_success("catalog compile c-1");
    lab.world.write("inventory/classes/t-1/c-1.yml", "parameters: {one: {text: mine}}\n");
    lab.world.write("dependencies/one/component/main.jsonnet", "{ a: { changed: true } }");
    assert_data_eq!(
        lab.world.screens([
            "catalog compile c-1",
            "catalog compile c-1 --local",
            "catalog compile c-9 --local",
            "catalog compile c-2",
            "catalog compile c-1 --push -g v2",
        ]),
        str![[r#"
$ capstan catalog compile c-1
exit 1
--- stderr
error: Tenant repo has local (uncommitted or unpushed) changes. Please specify `--force` to discard them.
hint: commit and push the changes in `[CWD]/inventory/classes/t-1`

$ capstan catalog compile c-1 --local
exit 0
--- stdout
Running in local mode
 > Will use existing inventory, components, and catalog
 > Assert current working dir state matches requested compilation
Registering config...
Resetting targets...
Resetting component symlinks in inventory...
Creating bootstrap target...
Updating Kapitan target for cluster...
Discovering config packages...
Discovering included components...
Registering components and aliases...
Updating Kapitan target for one...
Updating Kapitan target for cluster...
Configuring catalog repo...
Installing component library aliases
Updating Kapitan secret references...
Cleaning catalog repository...
Compiling catalog...
Postprocessing...
Updating catalog repository...
 > Changes:
     Added file manifests/a.yaml
 > Skipping commit+push to catalog in local mode...
Catalog compiled! 🎉

$ capstan catalog compile c-9 --local
exit 1
--- stdout
Running in local mode
 > Will use existing inventory, components, and catalog
 > Assert current working dir state matches requested compilation
--- stderr
error: [Local mode] Cluster ID mismatch: local state targets c-1, compilation was requested for c-9
hint: name the parameters of another cluster with `--cluster-file`

$ capstan catalog compile c-2
exit 1
--- stderr
error: While fetching cluster specification: API returned 404: object does not exist
hint: check the id; list the known clusters with `capstan catalog list`

$ capstan catalog compile c-1 --push -g v2
exit 1
--- stderr
error: Cannot push changes when local global or tenant repo override is specified
hint: compile without `--push`, or without a revision

"#]]
    );
    let output = lab.world.run_expecting_success("catalog compile c-1 --force").stdout;
    assert!(output.starts_with("Discarding local changes, if there are any\n"), "{output}");
    assert!(lab.world.read("compiled/two/two.yaml").contains("text: own"));
}

// Row: D-443
#[test]
fn unusable_dynamic_facts_are_reported_and_the_folder_is_selected() {
    let lab = Lab::new();
    let output = lab
        .world
        .run_expecting_success("catalog compile c-1 -d work --dynamic-fact a= --dynamic-fact b.c=1 -F");
    assert!(
        output.stdout.starts_with(
            "[WARN] --no-fetch-dependencies doesn't take effect unless --local is specified\n\
             Ignoring malformed dynamic fact 'a=' with no value. Please specify empty string value as 'json:\"\"'\n\
             Cleaning working tree\n"
        ),
        "{}",
        output.stdout
    );
    assert!(
        lab.world
            .read("work/inventory/classes/params/cluster.yml")
            .contains("dynamic_facts:\n    b:\n      c: \"1\"\n")
    );
    let world = lab.world.env("COMMODORE_WORKING_DIR", "work");
    let output = world.run_expecting_success("catalog clean").stdout;
    assert_eq!(output, "Cleaning working tree\n");
    assert!(
        world.files().iter().all(|file| !file.contains("work/inventory") && !file.contains("work/catalog/"))
    );
}

#[test]
fn a_hierarchy_is_checked_without_a_compilation() {
    let world = crate::world();
    world.write("global/a.yml", "parameters:\n  x: ${cluster:dist}\n  components:\n    one: {verison: v1}\n");
    world.write("clean/a.yml", "parameters: {components: {one: {url: u, version: v1}}}\n");
    assert_data_eq!(
        world.screens([
            "catalog lint global",
            "catalog lint clean",
            "catalog lint --linter deprecated-parameters -l packages global",
            "catalog lint -l package",
            "catalog lint nowhere",
        ]),
        str![[r#"
$ capstan catalog lint global
exit 1
--- stdout
> Component specification for one is missing key 'version' in [CWD]/global/a.yml (line 4)
> Component specification for one contains unknown key(s) 'verison' in [CWD]/global/a.yml (line 4)
> Field 'parameters.x' in file '[CWD]/global/a.yml' contains deprecated parameter '${cluster:dist}' (line 2)
--- stderr
error: found 3 errors

$ capstan catalog lint clean
exit 0
--- stdout
No errors 🎉 ✨

$ capstan catalog lint --linter deprecated-parameters -l packages global
exit 1
--- stdout
> Field 'parameters.x' in file '[CWD]/global/a.yml' contains deprecated parameter '${cluster:dist}' (line 2)
--- stderr
error: found 1 error

$ capstan catalog lint -l package
exit 1
--- stderr
error: invalid value `package` for `--linter`
hint: use components, packages, deprecated-parameters, secrets, unknown-references, unused-dependencies, unused-parameters

$ capstan catalog lint nowhere
exit 1
--- stderr
error: cannot check `[CWD]/nowhere`: it does not exist

"#]]
    );
}

// Row: CAT-69
#[test]
fn files_of_repositories_are_fetched_before_the_compilation() {
    let lab = Lab::new();
    lab.forge.commit("files", &[("sub/note.txt", "from a repository\n")]);
    let source = lab.forge.repository("files").display().to_string();
    let class = format!(
        "parameters:\n  kapitan:\n    dependencies:\n    - {{type: git, source: {source}, ref: main, output_path: fetched}}\n    \
         compile:\n    - {{input_type: copy, input_paths: [fetched/sub/note.txt], output_path: note.txt}}\n"
    );
    lab.forge.commit("one", &[("class/one.yml", &class)]);
    lab.forge.git("one", &["tag", "-f", "v1.0.0"]);
    lab.world.run_expecting_success("catalog compile c-1");
    assert_eq!(lab.world.read("fetched/sub/note.txt"), "from a repository\n");
    assert!(lab.world.files().iter().any(|file| file.contains("catalog/manifests/note.txt")));
}
