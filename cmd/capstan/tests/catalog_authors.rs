//! Tests of `catalog component` and `catalog package` for authors: creation from a template, and deletion.

use snapbox::{assert_data_eq, str};
use support::{binary::TestEnvironment, git::GitForge};

const VARIABLES: &str = r#"{
  "slug": "the-component", "name": "{{ cookiecutter.slug }}", "key": "{{ cookiecutter.slug.replace('-', '_') }}",
  "test_cases": "defaults", "add_lib": "n", "add_golden": "y", "add_matrix": "n", "github_owner": "nobody",
  "automerge_patch_regexp_blocklist": "", "copyright_holder": "nobody", "copyright_year": "1950"
}"#;

/// A forge with a template, and an environment with Git.
fn lab() -> (GitForge, TestEnvironment, String) {
    let forge = GitForge::new();
    let root = "{{ cookiecutter.slug }}";
    forge.commit(
        "template",
        &[
            ("cookiecutter.json", VARIABLES),
            (&format!("{root}/class/defaults.yml"), "parameters:\n  {{ cookiecutter.key }}:\n    =_metadata: {}\n    namespace: syn-{{ cookiecutter.slug }}\n"),
            (&format!("{root}/class/{{{{ cookiecutter.slug }}}}.yml"), "parameters:\n  kapitan:\n    compile:\n      - input_paths: ['${_base_directory}/component/main.jsonnet']\n        input_type: jsonnet\n        output_path: .\n"),
            (&format!("{root}/component/main.jsonnet"), "{ '{{ cookiecutter.slug }}': { holder: '{{ cookiecutter.copyright_holder }}' } }\n"),
            (&format!("{root}/notes"), "{{ cookiecutter.github_owner }} {{ cookiecutter.test_cases }} {{ cookiecutter.add_lib }}{{ cookiecutter.add_golden }}{{ cookiecutter.add_matrix }} {{ cookiecutter.automerge_patch_regexp_blocklist }}\n"),
            ("hooks/post_gen_project.py", "raise SystemExit(1)\n"),
        ],
    );
    let template = forge.repository("template").display().to_string();
    let path = forge.variables().into_iter().find(|(name, _)| name == "PATH").unwrap().1;
    let world = crate::world()
        .env("PATH", path)
        .env("GIT_AUTHOR_NAME", "Ann")
        .env("GIT_AUTHOR_EMAIL", "ann@example.org")
        .env("COMMODORE_COMPONENT_NEW_TEMPLATE_URL", &template)
        .env("COMMODORE_PACKAGE_NEW_TEMPLATE_URL", &template);
    (forge, world, template)
}

fn git(world: &TestEnvironment, forge: &GitForge, folder: &str, arguments: &[&str]) -> String {
    let mut command = std::process::Command::new("git");
    command.args(arguments).current_dir(world.current_dir().join(folder)).envs(forge.variables());
    String::from_utf8(command.output().unwrap().stdout).unwrap().trim().to_owned()
}

// Row: CAT-99
// Row: D-472
#[test]
fn a_component_is_created_compiled_and_deleted() {
    let (forge, world, _) = lab();
    assert_data_eq!(
        world.screens([
            "catalog component new my-thing --output-dir . --owner ann --lib -t one -t one -t two --no-golden-tests --add-automerge-patch-block-depname x --add-automerge-patch-block-pattern ^a --copyright Ann",
            "catalog component compile my-thing -o out",
            "catalog component new my-thing",
            "catalog component delete my-thing",
            "catalog component delete my-thing --force",
            "catalog component delete my-thing --force",
        ]),
        str![[r#"
$ capstan catalog component new my-thing --output-dir . --owner ann --lib -t one -t one -t two --no-golden-tests --add-automerge-patch-block-depname x --add-automerge-patch-block-pattern ^a --copyright Ann
exit 0
--- stdout
Adding component my-thing...
 > Changes:
     Added file .cruft.json
     Added file class/defaults.yml
     Added file class/my-thing.yml
     Added file component/main.jsonnet
     Added file notes
Component my-thing successfully added 🎉
--- stderr
warning: hook `hooks/post_gen_project.py` of the template is a program and did not run: check the files that it would change

$ capstan catalog component compile my-thing -o out
exit 0
--- stdout
Compile component my-thing...
Installing component library aliases
No jsonnetfile.json found, skipping Jsonnet Bundler install.
Compiling catalog...
 > Component compiled to [CWD]/out/compiled/my-thing
Postprocessing...

$ capstan catalog component new my-thing
exit 0
--- stdout
Adding component my-thing...
 > Changes:
     Added file .cruft.json
     Added file class/defaults.yml
     Added file class/my-thing.yml
     Added file component/main.jsonnet
     Added file notes
Component my-thing successfully added 🎉
--- stderr
warning: hook `hooks/post_gen_project.py` of the template is a program and did not run: check the files that it would change

$ capstan catalog component delete my-thing
exit 1
--- stderr
warning: component my-thing has work that is not on its remote
error: cannot ask whether to delete component my-thing
  cause: there is no terminal
hint: run the command in a terminal, or with `--force`

$ capstan catalog component delete my-thing --force
exit 0
--- stdout
Component my-thing successfully deleted 🎉

$ capstan catalog component delete my-thing --force
exit 1
--- stderr
error: Cannot find component with slug 'my-thing'.
hint: components are in `[CWD]/dependencies`

"#]]
    );
    assert_data_eq!(
        world.read("my-thing/notes"),
        str![[r#"
ann defaults one two yny ^a;^x$

"#]]
    );
    assert!(world.read("my-thing/class/defaults.yml").contains("=_metadata: {}"));
    assert_data_eq!(
        world.read("out/compiled/my-thing/my-thing.yaml"),
        str![[r#"
holder: Ann

"#]]
    );
    let log = git(&world, &forge, "my-thing", &["log", "--format=%an %ae %s", "master"]);
    assert_eq!(log, "Ann ann@example.org Initial commit");
    assert_eq!(git(&world, &forge, "my-thing", &["status", "--short"]), "");
    let remote = git(&world, &forge, "my-thing", &["remote", "get-url", "origin"]);
    assert_eq!(remote, "git@github.com:ann/component-my-thing.git");
    let cruft: serde_json::Value = serde_json::from_str(&world.read("my-thing/.cruft.json")).unwrap();
    let commit = forge.git("template", &["rev-parse", "HEAD"]);
    assert_eq!(cruft["commit"], commit);
    assert_eq!(cruft["checkout"], "main");
    assert_eq!(cruft["context"]["cookiecutter"]["key"], "my_thing");
    let left: Vec<_> = world.files().into_iter().filter(|file| file.contains("[CWD]/dependencies")).collect();
    assert_eq!(left, ["[CWD]/dependencies/.repos/github.com/projectsyn/.component-my-thing.git.lock"]);
}

#[test]
fn a_new_component_is_a_worktree_of_a_clone() {
    let (forge, world, _) = lab();
    world.run_expecting_success("catalog component new one -d work");
    world.run_expecting_success("catalog package new one -d work");
    let folder = "work/dependencies/one";
    assert_eq!(git(&world, &forge, folder, &["status", "--short", "--branch"]), "## master");
    assert_eq!(git(&world, &forge, folder, &["rev-list", "--count", "HEAD"]), "1");
    let clone = git(&world, &forge, folder, &["rev-parse", "--git-common-dir"]);
    assert!(clone.ends_with("work/dependencies/.repos/github.com/projectsyn/component-one.git"), "{clone}");
    assert_eq!(world.read("work/dependencies/pkg.one/notes"), "projectsyn defaults nyn \n");
}

#[test]
fn impossible_components_are_refused_and_leave_nothing() {
    let (forge, world, template) = lab();
    world.write("there/one/file", "");
    assert_data_eq!(
        world.screens([
            "catalog component new component-one",
            "catalog component new X",
            "catalog package new t-one",
            "catalog component new one --output-dir there",
            "catalog component new one --output-dir nowhere",
            "catalog component new one --template-version v9",
            "catalog component delete nope",
        ]),
        str![[r#"
$ capstan catalog component new component-one
exit 1
--- stderr
error: The component slug may not start with 'component-'

$ capstan catalog component new X
exit 1
--- stderr
error: The component slug must match '^[a-z][a-z0-9-]+[a-z0-9]$'

$ capstan catalog package new t-one
exit 1
--- stderr
error: Package slug can't use reserved tenant prefix 't-'

$ capstan catalog component new one --output-dir there
exit 1
--- stdout
Adding component one...
--- stderr
error: Unable to add component one: [CWD]/there/one already exists.
hint: use another name, or another folder with `--output-dir`

$ capstan catalog component new one --output-dir nowhere
exit 1
--- stderr
error: Output directory [CWD]/nowhere doesn't exist

$ capstan catalog component new one --template-version v9
exit 1
--- stdout
Adding component one...
--- stderr
error: while fetching template [..]/repositories/template: Failed to checkout revision 'v9'

$ capstan catalog component delete nope
exit 1
--- stderr
error: Cannot find component with slug 'nope'.
hint: components are in `[CWD]/dependencies`

"#]]
    );
    let missing = format!("{template}-missing");
    let run = world.run(["catalog", "component", "new", "one", "--template-url", &missing]);
    assert_eq!((run.status, run.stdout.as_str()), (1, "Adding component one...\n"), "{run}");
    forge.commit("template", &[("{{ cookiecutter.slug }}/bad", "{{ cookiecutter.nope }}\n")]);
    let run = world.run_line("catalog component new one");
    assert!(run.stderr.contains("cannot render `bad`: `cookiecutter.nope` is undefined"), "{run}");
    let left: Vec<_> = world.files().into_iter().filter(|file| !file.contains("there/one")).collect();
    assert_eq!(left, [""; 0]);
}

#[test]
fn a_package_is_compiled_for_an_invented_cluster() {
    let (forge, world, _) = lab();
    let component = forge.repository("one").display().to_string();
    forge.commit(
        "one",
        &[
            ("class/defaults.yml", "parameters: {one: {text: none}}"),
            ("class/one.yml", "parameters: {kapitan: {compile: [{input_type: jsonnet, input_paths: ['${_base_directory}/component/main.jsonnet'], output_path: .}]}}"),
            ("component/main.jsonnet", "local p = (import 'lib/kapitan.libjsonnet').inventory().parameters; local argocd = import 'lib/argocd.libjsonnet';
{ one: { text: p.one.text, cloud: p.facts.cloud, secret: p.one.secret }, app: argocd.App('one', 'syn') }"),
        ],
    );
    world.write("package-mine/main.yml", format!("applications: [one]\nparameters:\n  components: {{one: {{url: '{component}', version: main}}}}\n  one: {{text: '${{facts:size}}', secret: '?{{vaultkv:a/b/c}}'}}\n"));
    world.write("package-mine/tests/defaults.yml", "classes: [..main]\n");
    world.write("facts.yml", "parameters: {facts: {size: large}}\n");
    assert_data_eq!(
        world.screens([
            "catalog package compile package-mine tests/defaults.yml -f facts.yml --tmp-dir work",
            "catalog package compile package-mine tests/defaults.yml -f facts.yml --tmp-dir work --local -F",
            "catalog package compile package-mine tests/defaults.yml",
            "catalog package compile package-mine tests/nope.yml",
            "catalog package compile package-mine tests/defaults.yml --local",
        ]),
        str![[r#"
$ capstan catalog package compile package-mine tests/defaults.yml -f facts.yml --tmp-dir work
exit 0
--- stdout
Cleaning working tree
Updating Kapitan target for cluster...
Discovering components...
Registering component aliases...
Fetching components...
Updating Kapitan target for cluster...
Updating Kapitan target for one...
Installing component library aliases
Updating Kapitan secret references...
Compiling catalog...
Postprocessing...

$ capstan catalog package compile package-mine tests/defaults.yml -f facts.yml --tmp-dir work --local -F
exit 0
--- stdout
Updating Kapitan target for cluster...
Discovering included components...
Registering components and aliases...
Updating Kapitan target for cluster...
Updating Kapitan target for one...
Installing component library aliases
Updating Kapitan secret references...
Compiling catalog...
Postprocessing...

$ capstan catalog package compile package-mine tests/defaults.yml
exit 1
--- stdout
Cleaning working tree
Updating Kapitan target for cluster...
Discovering components...
--- stderr
error: While rendering inventory: Error while rendering inventory: Error rendering node cluster
  cause: cannot render target `cluster`
  cause: inventory/classes/mine/main.yml:4: lookup error for reference '${facts:size}' in parameter 'one.text': key 'size' not found

$ capstan catalog package compile package-mine tests/nope.yml
exit 1
--- stdout
Cleaning working tree
--- stderr
error: Test class 'tests.nope' doesn't exist.
hint: name a file in the package, such as tests/defaults.yml

$ capstan catalog package compile package-mine tests/defaults.yml --local
exit 1
--- stderr
error: `--local` needs the working folder of an earlier run
hint: name it with `--tmp-dir`

"#]]
    );
    assert_data_eq!(
        world.read("package-mine/compiled/one/one.yaml"),
        str![[r#"
cloud: x-fake-cloud
secret: ?{vaultkv:a/b/c:1102b92f}
text: large

"#]]
    );
}

// Row: D-476
#[test]
fn changes_of_the_template_are_merged_into_a_component() {
    let (forge, world, _) = lab();
    let root = "{{ cookiecutter.slug }}";
    let commit = |message: &str| {
        git(&world, &forge, "my-thing", &["add", "--all"]);
        git(&world, &forge, "my-thing", &["commit", "-q", "-m", message]);
    };
    forge.git("template", &["rm", "-q", "hooks/post_gen_project.py"]);
    forge.commit("template", &[(&format!("{root}/old"), "old\n"), (&format!("{root}/kept"), "old\n")]);
    world.run_expecting_success("catalog component new my-thing --output-dir .");
    world.write("my-thing/own", "mine\n");
    world.write(
        "my-thing/class/my-thing.yml",
        format!("{}# mine\n", world.read("my-thing/class/my-thing.yml")),
    );
    commit("own");
    forge.git("template", &["rm", "-q", &format!("{root}/old")]);
    let class = format!("{root}/class/{{{{ cookiecutter.slug }}}}.yml");
    let text = "# theirs\nparameters:\n  kapitan:\n    compile:\n      - input_paths: ['${_base_directory}/component/main.jsonnet']\n        input_type: jsonnet\n        output_path: .\n";
    forge.commit(
        "template",
        &[(&class, text), (&format!("{root}/new"), "new {{ cookiecutter.test_cases }}\n")],
    );
    assert_data_eq!(
        world
            .screens(["catalog component update my-thing --no-commit", "catalog component update my-thing",]),
        str![[r#"
$ capstan catalog component update my-thing --no-commit
exit 0
--- stdout
 > Changes:
     Deleted file old
     Added file new
     --- .cruft.json
     +++ .cruft.json
     @@ -1,6 +1,6 @@
      {
        "template": "[..]",
     -  "commit": "[..]",
     +  "commit": "[..]",
        "checkout": "main",
        "context": {
          "cookiecutter": {
     @@ -16,7 +16,7 @@
            "copyright_holder": "VSHN AG <info@vshn.ch>",
            "copyright_year": "[..]",
            "_template": "[..]",
     -      "_commit": "[..]"
     +      "_commit": "[..]"
          }
        },
        "directory": null
     --- class/my-thing.yml
     +++ class/my-thing.yml
     @@ -1,3 +1,4 @@
     +# theirs
      parameters:
        kapitan:
          compile:
 > User requested to skip committing the rendered changes.
Component my-thing successfully updated 🎉

$ capstan catalog component update my-thing
exit 1
--- stderr
error: cannot update the component: `[CWD]/my-thing` has uncommitted changes
hint: commit or discard them first

"#]]
    );
    git(&world, &forge, "my-thing", &["reset", "-q", "--hard"]);
    git(&world, &forge, "my-thing", &["clean", "-q", "-d", "--force"]);
    assert_data_eq!(
        world
            .screens(["catalog component update my-thing -t two --lib", "catalog component update my-thing"]),
        str![[r#"
$ capstan catalog component update my-thing -t two --lib
exit 0
--- stdout
 > Changes:
     Deleted file old
     Added file new
     --- .cruft.json
     +++ .cruft.json
     @@ -1,14 +1,14 @@
      {
        "template": "[..]",
     -  "commit": "[..]",
     +  "commit": "[..]",
        "checkout": "main",
        "context": {
          "cookiecutter": {
            "slug": "my-thing",
            "name": "my-thing",
            "key": "my_thing",
     -      "test_cases": "defaults",
     -      "add_lib": "n",
     +      "test_cases": "defaults two",
     +      "add_lib": "y",
            "add_golden": "y",
            "add_matrix": "y",
            "github_owner": "projectsyn",
     @@ -16,7 +16,7 @@
            "copyright_holder": "VSHN AG <info@vshn.ch>",
            "copyright_year": "[..]",
            "_template": "[..]",
     -      "_commit": "[..]"
     +      "_commit": "[..]"
          }
        },
        "directory": null
     --- class/my-thing.yml
     +++ class/my-thing.yml
     @@ -1,3 +1,4 @@
     +# theirs
      parameters:
        kapitan:
          compile:
     --- notes
     +++ notes
     @@ -1,2 +1,2 @@
     -projectsyn defaults nyy 
     +projectsyn defaults two yyy
Component my-thing successfully updated 🎉

$ capstan catalog component update my-thing
exit 0
--- stdout
 > No changes.
Component my-thing already up-to-date 🎉

"#]]
    );
    assert_data_eq!(
        world.read("my-thing/class/my-thing.yml"),
        str![[r#"
# theirs
parameters:
  kapitan:
    compile:
      - input_paths: ['${_base_directory}/component/main.jsonnet']
        input_type: jsonnet
        output_path: .
# mine

"#]]
    );
    let log = git(&world, &forge, "my-thing", &["log", "-1", "--format=%an|%B"]);
    let short = &forge.git("template", &["rev-parse", "HEAD"])[..7];
    assert_eq!(log, format!("Ann|Update from template\n\nTemplate version: main ({short})"));
    assert_eq!(
        git(&world, &forge, "my-thing", &["ls-files"]),
        ".cruft.json\nclass/defaults.yml\nclass/my-thing.yml\ncomponent/main.jsonnet\nkept\nnew\nnotes\nown"
    );

    world.write("elsewhere/file", "");
    world.write("my-thing/new", "mine\n");
    commit("conflict");
    forge.commit("template", &[(&format!("{root}/new"), "theirs\n"), (&format!("{root}/more"), "more\n")]);
    assert_data_eq!(
        world.screens([
            "catalog component update my-thing",
            "catalog component update my-thing",
            "catalog component update elsewhere",
            "catalog package update my-thing --remove-test-case defaults --remove-test-case two",
        ]),
        str![[r#"
$ capstan catalog component update my-thing
exit 1
--- stderr
error: Can't commit template changes: merge error in 'new'. Please resolve conflicts and commit manually.
hint: or discard the update with `git reset --hard` and `git clean -d --force`

$ capstan catalog component update my-thing
exit 1
--- stderr
error: cannot update the component: `[CWD]/my-thing` has uncommitted changes
hint: commit or discard them first

$ capstan catalog component update elsewhere
exit 1
--- stderr
error: Provided component path doesn't have `.cruft.json`, can't update.
hint: only a component that was created from a template can be updated

$ capstan catalog package update my-thing --remove-test-case defaults --remove-test-case two
exit 1
--- stderr
error: Package template doesn't support removing all test cases.
hint: keep or add a test case

"#]]
    );
    assert_data_eq!(
        world.read("my-thing/new"),
        str![[r#"
<<<<<<< current
mine
=======
theirs
>>>>>>> template

"#]]
    );
}

// Row: D-477
#[test]
fn components_on_github_are_updated_by_pull_requests() {
    use support::host::{FakeHost, Reply};
    const API: &str = "api.github.com/repos/o";
    let (forge, world, _) = lab();
    forge.git("template", &["rm", "-q", "hooks/post_gen_project.py"]);
    forge.git("template", &["commit", "-q", "-m", "no hook"]);
    let host = FakeHost::start(&["api.github.com"]);
    let (ca, root) = (world.write("ca.pem", host.ca_pem()), forge.repository("template"));
    let root = root.parent().unwrap().display().to_string();
    let rewritten = format!(
        "[url \"{root}/\"]\n  insteadOf = https://github.com/o/\n  insteadOf = ssh://git@github.com/o/\n"
    );
    let config = world.write("gitconfig", rewritten);
    let world = world
        .env("HTTPS_PROXY", host.proxy_url())
        .env("SSL_CERT_FILE", ca)
        .env("GIT_CONFIG_GLOBAL", config)
        .env("COMMODORE_GITHUB_TOKEN", "sesame");
    world.run_expecting_success("catalog component new one --output-dir .");
    for name in ["component-one", "component-two", "component-plain"] {
        let folder = forge.repository(&format!("{name}.git"));
        if name != "component-plain" {
            let from = world.current_dir().join("one").display().to_string();
            forge.git(&format!("{name}.git"), &["pull", "-q", &from, "master"]);
        }
        forge.commit(&format!("{name}.git"), &[("own", "1")]);
        let description = format!(
            r#"{{"clone_url": "https://github.com/o/{name}.git", "default_branch": "main", "archived": false}}"#
        );
        host.on(format!("{API}/{name}"), Reply::json(200, description));
        assert!(folder.exists());
    }
    host.on(format!("{API}/component-old"), Reply::json(200, r#"{"archived": true}"#));
    host.on(format!("{API}/component-none"), Reply::json(404, "{}"));
    world.write(
        "list.yaml",
        "- o/component-one\n- o/component-two\n- o/component-plain\n- o/component-old\n- o/component-none\n",
    );
    let pulls = |name: &str, open: &str| {
        host.on(format!("{API}/{name}/pulls?state=open&head=o:template-sync"), Reply::json(200, open));
    };
    pulls("component-one", "[]");
    host.on(format!("{API}/component-one/pulls"), Reply::json(201, r#"{"number": 7}"#));
    host.on(format!("{API}/component-one/issues/7/labels"), Reply::json(200, "[]"));
    pulls("component-two", r#"[{"number": 9, "head": {"ref": "template-sync"}}]"#);
    host.on(format!("{API}/component-two/pulls/9"), Reply::json(403, r#"{"message": "not allowed"}"#));
    assert_data_eq!(
        world.screens(["catalog component sync list.yaml --filter one$"]),
        str![[r#"
$ capstan catalog component sync list.yaml --filter one$
exit 0
--- stdout
Synchronizing o/component-one
 > No changes.
Component o/component-one already up-to-date
Synchronizing o/component-none
 > Repository o/component-none doesn't exist, skipping...

"#]]
    );
    forge.commit("template", &[("{{ cookiecutter.slug }}/new", "new\n")]);
    assert_data_eq!(
        world.screens([
            "catalog component sync list.yaml --filter one$ --dry-run",
            "catalog component sync list.yaml -l template --github-pause 0 --pr-batch-size 1",
            "catalog component sync gitconfig",
            "catalog component sync list.yaml --filter (",
        ]),
        str![[r#"
$ capstan catalog component sync list.yaml --filter one$ --dry-run
exit 0
--- stdout
Synchronizing o/component-one
 > Changes:
     Added file new
     --- .cruft.json
     +++ .cruft.json
     @@ -1,6 +1,6 @@
      {
        "template": "[..]",
     -  "commit": "[..]",
     +  "commit": "[..]",
        "checkout": "main",
        "context": {
          "cookiecutter": {
     @@ -16,7 +16,7 @@
            "copyright_holder": "VSHN AG <info@vshn.ch>",
            "copyright_year": "[..]",
            "_template": "[..]",
     -      "_commit": "[..]"
     +      "_commit": "[..]"
          }
        },
        "directory": null
 > User requested to skip committing the rendered changes.
Would create or update PR for o/component-one
Synchronizing o/component-none
 > Repository o/component-none doesn't exist, skipping...

$ capstan catalog component sync list.yaml -l template --github-pause 0 --pr-batch-size 1
exit 1
--- stdout
Synchronizing o/component-one
 > Changes:
     Added file new
     --- .cruft.json
     +++ .cruft.json
     @@ -1,6 +1,6 @@
      {
        "template": "[..]",
     -  "commit": "[..]",
     +  "commit": "[..]",
        "checkout": "main",
        "context": {
          "cookiecutter": {
     @@ -16,7 +16,7 @@
            "copyright_holder": "VSHN AG <info@vshn.ch>",
            "copyright_year": "[..]",
            "_template": "[..]",
     -      "_commit": "[..]"
     +      "_commit": "[..]"
          }
        },
        "directory": null
PR for component o/component-one successfully created
 > Created or updated 1 PRs, pausing for 0s to avoid secondary rate limits.
Synchronizing o/component-two
 > Changes:
     Added file new
     --- .cruft.json
     +++ .cruft.json
     @@ -1,6 +1,6 @@
      {
        "template": "[..]",
     -  "commit": "[..]",
     +  "commit": "[..]",
        "checkout": "main",
        "context": {
          "cookiecutter": {
     @@ -16,7 +16,7 @@
            "copyright_holder": "VSHN AG <info@vshn.ch>",
            "copyright_year": "[..]",
            "_template": "[..]",
     -      "_commit": "[..]"
     +      "_commit": "[..]"
          }
        },
        "directory": null
Synchronizing o/component-plain
 > Skipping repo o/component-plain which doesn't have `.cruft.json`
Synchronizing o/component-old
 > Repository o/component-old is archived, skipping...
Synchronizing o/component-none
 > Repository o/component-none doesn't exist, skipping...
--- stderr
warning: cannot update o/component-two: Unable to create or update PR for o/component-two. Please make sure your GitHub token has permission 'public_repo'
error: cannot update 1 component
hint: re-run the command to update the others again

$ capstan catalog component sync gitconfig
exit 1
--- stderr
error: Failed to parse YAML in '[CWD]/gitconfig': line 2, column 3: did not find expected <document start>

$ capstan catalog component sync list.yaml --filter (
exit 1
--- stderr
error: cannot use the filter of repositories: regex parse error:
        (
        ^
    error: unclosed group

"#]]
    );
    let posted = |end: &str| {
        let requests = host.received().into_iter().filter(|request| request.address().ends_with(end));
        requests
            .filter(|request| request.method == "POST")
            .map(|request| String::from_utf8(request.body).unwrap())
            .collect::<Vec<_>>()
    };
    let short = &forge.git("template", &["rev-parse", "HEAD"])[..7];
    assert_eq!(
        posted("component-one/pulls"),
        [format!(
            r#"{{"base":"main","body":"Template version: main ({short})","head":"template-sync","title":"Update from component template"}}"#
        )]
    );
    assert_eq!(posted("/labels"), [r#"{"labels":["template"]}"#]);
    let log = forge.git("component-one.git", &["log", "--format=%s", "template-sync"]);
    assert_eq!(log, "Update from template\nchange\nInitial commit");
    assert!(host.received().iter().all(
        |request| request.method == "CONNECT" || request.header("authorization") == Some("Bearer sesame")
    ));
}
