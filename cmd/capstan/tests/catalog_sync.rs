//! Tests of `catalog component sync`: pull requests on GitHub.

use snapbox::{assert_data_eq, str};
use support::host::{FakeHost, Reply};

use crate::testing::template_lab_without_hook;

const API: &str = "api.github.com/repos/o";

// Row: D-477
#[test]
fn components_on_github_are_updated_by_pull_requests() {
    let (forge, world) = template_lab_without_hook();
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
