//! Tests of `catalog plan` and `catalog compile --watch` with the API and with Git repositories.

use snapbox::{assert_data_eq, str};

use crate::catalog::Lab;

/// A component with one object for each instance.
const PROGRAM: &str = "local kap = import 'lib/kapitan.libjsonnet'; local p = kap.inventory().parameters;
{ [p._instance]: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: p._instance }, data: { text: p.one.text } } }";

/// Creates the repositories of a cluster whose catalog has two objects.
fn lab() -> Lab {
    let lab = Lab::new();
    lab.forge.commit("one", &[("component/main.jsonnet", PROGRAM)]);
    lab.forge.git("one", &["tag", "-f", "v1.0.0"]);
    lab
}

#[test]
fn a_plan_compares_with_the_repository_of_the_catalog() {
    let lab = lab();
    let log = || lab.forge.git("catalog", &["log", "--all", "--format=%s"]);
    let empty = log();
    assert_data_eq!(
        lab.world.screens(["catalog plan c-1"]),
        str![[r#"
$ capstan catalog plan c-1
exit 0
--- stdout
ACTION    KIND        OBJECT    FIELDS
create    ConfigMap   one
create    ConfigMap   two
--- stderr
done in [..]: 2 to create; no object unchanged

"#]]
    );
    assert_eq!(log(), empty);
    lab.world.run_expecting_success("catalog compile c-1 --push");
    let pushed = log();
    let tenant = "applications: [one as three]\nparameters: {one: {text: new}, three: {text: own}}\n";
    assert_eq!(lab.world.run_line("catalog plan c-1 --exit-status").status, 0);
    lab.forge.commit("tenant", &[("c-1.yml", tenant)]);
    assert_data_eq!(
        lab.world.screens(["catalog plan c-1 --exit-status --diff", "catalog plan c-1 --local -o yaml"]),
        str![[r#"
$ capstan catalog plan c-1 --exit-status --diff
exit 3
--- stdout
ACTION    KIND        OBJECT    FIELDS
update    ConfigMap   one       .data.text
    @@ -1,6 +1,6 @@
     apiVersion: v1
     data:
    -  text: base
    +  text: new
     kind: ConfigMap
     metadata:
       name: one
create    ConfigMap   three
    @@ -0,0 +1,6 @@
    +apiVersion: v1
    +data:
    +  text: own
    +kind: ConfigMap
    +metadata:
    +  name: three
delete    ConfigMap   two
    @@ -1,6 +0,0 @@
    -apiVersion: v1
    -data:
    -  text: own
    -kind: ConfigMap
    -metadata:
    -  name: two
--- stderr
error: the catalog differs from its last version

$ capstan catalog plan c-1 --local -o yaml
exit 0
--- stdout
changes: true
files: []
objects:
- action: update
  diff: |
    @@ -1,6 +1,6 @@
     apiVersion: v1
     data:
    -  text: base
    +  text: new
     kind: ConfigMap
     metadata:
       name: one
  fields:
  - .data.text
  object:
    group: ""
    kind: ConfigMap
    name: one
- action: create
  diff: |
    @@ -0,0 +1,6 @@
    +apiVersion: v1
    +data:
    +  text: own
    +kind: ConfigMap
    +metadata:
    +  name: three
  object:
    group: ""
    kind: ConfigMap
    name: three
- action: delete
  diff: |
    @@ -1,6 +0,0 @@
    -apiVersion: v1
    -data:
    -  text: own
    -kind: ConfigMap
    -metadata:
    -  name: two
  object:
    group: ""
    kind: ConfigMap
    name: two
unchanged: 0

"#]]
    );
    assert_eq!(log(), pushed);
    // Nothing of the plan is staged, and a push has all of it.
    lab.world.run_expecting_success("catalog compile c-1 --push");
    assert_eq!(lab.world.run_line("catalog plan c-1 --exit-status").status, 0);
    assert_eq!(
        lab.forge.git("catalog", &["ls-tree", "-r", "--name-only", "master"]),
        "manifests/one.yaml\nmanifests/three.yaml"
    );
}

#[cfg(unix)]
#[test]
fn a_watched_catalog_of_the_api_is_compiled_without_requests() {
    use std::io::{BufRead as _, BufReader};
    use std::process::Stdio;

    let lab = lab();
    let mut command = lab.world.command(["catalog", "compile", "c-1", "--watch"]);
    let mut child =
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    let mut errors = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
    assert!(errors.any(|line| line == "watching classes and components; Ctrl-C ends"));
    let requests = lab.host.received().len();
    for (file, from, to, compiled) in [
        ("inventory/classes/t-1/c-1.yml", "text: own", "text: new", "compiled 1 of 2 instances in "),
        ("dependencies/two/component/main.jsonnet", "text: p", "words: p", "compiled 1 of 2 instances in "),
    ] {
        crate::catalog_cluster::edit(&lab.world, file, from, to);
        let line = lines.find(|line| line.starts_with("compiled ")).unwrap();
        assert!(line.starts_with(compiled), "{line}");
    }
    assert_data_eq!(
        lab.world.read("catalog/manifests/two.yaml"),
        str![[r#"
apiVersion: v1
data:
  words: new
kind: ConfigMap
metadata:
  name: two

"#]]
    );
    assert_eq!(lab.host.received().len(), requests);
    crate::testing::signal("INT", child.id().into());
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert_eq!(lab.forge.git("catalog", &["log", "--all", "--format=%s"]), "");
}

#[test]
fn a_failed_compilation_leaves_compiled_files_and_the_catalog() {
    let lab = Lab::new();
    let program = PROGRAM.replacen("{ [", "assert p.one.text != 'bad' : 'broken'; { [", 1);
    lab.forge.commit("one", &[("component/main.jsonnet", &program)]);
    lab.forge.git("one", &["tag", "-f", "v1.0.0"]);
    let set_text = |text: &str| {
        let class = format!("applications: [one as two]\nparameters: {{one: {{text: {text}}}}}\n");
        lab.forge.commit("tenant", &[("c-1.yml", &class)]);
    };
    lab.world.run_expecting_success("catalog compile c-1 --push");
    set_text("new");
    lab.world.run_expecting_success("catalog compile c-1");
    let files = || {
        ["compiled/one/one.yaml", "compiled/two/two.yaml", "catalog/manifests/one.yaml", "catalog/.git"]
            .map(|file| lab.world.read(file))
    };
    let before = files();
    set_text("bad");
    for verb in ["compile", "plan"] {
        let failed = lab.world.run_line(&format!("catalog {verb} c-1"));
        assert_eq!(failed.status, 1, "{failed}");
        assert!(failed.stderr.contains("broken"), "{failed}");
        assert_eq!(files(), before);
    }
    set_text("newer");
    let repaired = lab.world.run_expecting_success("catalog compile c-1 --push").stdout;
    assert!(repaired.contains("+  text: newer"), "{repaired}");
    assert!(lab.forge.git("catalog", &["show", "master:manifests/one.yaml"]).contains("text: newer"));
}

// Row: D-531
#[test]
fn local_work_in_a_catalog_is_discarded_only_by_force() {
    let lab = lab();
    lab.world.run_expecting_success("catalog compile c-1 --push");
    // A compilation replaces the manifests, also changed and new ones.
    lab.world.write("catalog/manifests/one.yaml", "edited");
    lab.world.write("catalog/manifests/.hidden", "new");
    let again = lab.world.run_expecting_success("catalog compile c-1").stdout;
    assert!(again.contains(" > No changes.\n"), "{again}");
    lab.world.write("catalog/README.md", "mine");
    let refused = lab.world.run_line("catalog compile c-1");
    assert_data_eq!(
        refused.to_string(),
        str![[r#"
exit 1
--- stderr
error: Catalog repo has local (uncommitted or unpushed) changes. Please specify `--force` to discard them.
hint: commit and push the changes in `[CWD]/catalog`

"#]]
    );
    assert_eq!(lab.world.read("catalog/README.md"), "mine");
    let folder = lab.world.current_dir().join("catalog").display().to_string();
    lab.forge.git(&folder, &["add", "."]);
    let user = ["-c", "user.name=Ann", "-c", "user.email=ann@example.org"];
    lab.forge.git(&folder, &[&user[..], &["commit", "-qm", "mine"]].concat());
    assert_eq!(lab.world.run_line("catalog plan c-1").stderr, refused.stderr);
    lab.world.run_expecting_success("catalog compile c-1 --force");
    assert!(!lab.world.files().iter().any(|file| file.contains("README.md")));
}

// Row: D-533
#[cfg(unix)]
#[test]
fn an_interrupted_push_is_reported_and_completed_by_the_same_command() {
    use std::process::Stdio;

    let Lab { forge, host, world } = lab();
    // This program pushes, and never ends.
    world.script(
        "git",
        "PATH=${PATH#*:}; case \" $* \" in *' push '*) git \"$@\"; sleep 300;; esac; exec git \"$@\"",
    );
    let path = forge.variables().into_iter().find(|(name, _)| name == "PATH").unwrap().1;
    let slow = format!("{}:{}", world.bin().display(), path.display());
    let world = world.env("PATH", slow);
    let mut command = world.command(["catalog", "compile", "c-1", "--push"]);
    let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    while forge.git("catalog", &["for-each-ref"]).is_empty() {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    crate::testing::signal("INT", child.id().into());
    let interrupted = world.to_output(&child.wait_with_output().unwrap());
    assert_eq!(interrupted.status, 130);
    assert_data_eq!(
        interrupted.stderr,
        str![[r#"
error: interrupted; the push may have taken effect
hint: re-run the same command to complete it

"#]]
    );
    let reports =
        || host.received().iter().filter(|request| request.address().ends_with("compileMeta")).count();
    assert_eq!(reports(), 0);
    let world = world.env("PATH", path);
    for _ in 0..2 {
        let again = world.run_expecting_success("catalog compile c-1 --push").stdout;
        assert!(again.contains(" > No changes.\n"), "{again}");
        assert_eq!(reports(), 1);
    }
}

#[cfg(unix)]
#[test]
fn a_rejected_push_shows_the_reason_of_the_host() {
    use std::os::unix::fs::PermissionsExt as _;

    let lab = lab();
    let hook = lab.forge.repository("catalog").join(".git/hooks/pre-receive");
    lab.world.write(&hook, "#!/bin/sh\necho 'needs a review' >&2\nexit 1\n");
    std::fs::set_permissions(&hook, std::fs::Permissions::from_mode(0o755)).unwrap();
    let rejected = lab.world.run_line("catalog compile c-1 --push");
    let remote = lab.forge.repository("catalog").display().to_string();
    assert_data_eq!(
        rejected.stderr.replace(&remote, "REMOTE"),
        str![[r#"
error: Failed to push to the catalog repository
  cause: cannot push to `REMOTE`
  cause: the host rejected the push: pre-receive hook declined
  cause: remote: needs a review

"#]]
    );
    std::fs::remove_file(&hook).unwrap();
    let pushed = lab.world.run_expecting_success("catalog compile c-1 --push").stdout;
    assert!(pushed.contains(" > Pushing catalog to remote...\n"), "{pushed}");
}

#[cfg(unix)]
#[test]
fn a_push_whose_record_fails_is_a_warning() {
    let Lab { forge, host, world } = lab();
    world.script(
        "git",
        "PATH=${PATH#*:}; case \" $* \" in *' update-ref refs/remotes/origin/'*) exit 1;; esac; exec git \"$@\"",
    );
    let path = forge.variables().into_iter().find(|(name, _)| name == "PATH").unwrap().1;
    let broken = format!("{}:{}", world.bin().display(), path.display());
    let world = world.env("PATH", broken);
    let pushed = world.run_expecting_success("catalog compile c-1 --push").stdout;
    assert!(
        pushed.contains(" > The catalog is pushed, but its worktree is outdated: cannot update the clone"),
        "{pushed}"
    );
    assert!(host.received().iter().any(|request| request.address().ends_with("compileMeta")));
    let again = world.run_expecting_success("catalog compile c-1 --push").stdout;
    assert!(again.contains(" > No changes.\n"), "{again}");
}
