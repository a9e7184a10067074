//! Tests of `catalog component compile`.

use snapbox::{assert_data_eq, str};
use support::binary::TestEnvironment;

const CLASS: &str = "parameters:
  kapitan:
    compile:
      - {input_type: jsonnet, input_paths: [web/component/app.jsonnet], output_path: .}
      - {input_type: jsonnet, input_paths: ['${_base_directory}/component/main.jsonnet'], output_path: web}
      - {input_type: helm, input_paths: [web/chart], output_path: web, helm_params: {name: r, namespace: '${web:namespace}'}}
      - {input_type: jsonnet, input_paths: [web/component/kustomization.jsonnet], output_path: '${_base_directory}/k'}
      - input_type: external
        input_paths: ['${_kustomize_wrapper}']
        env_vars: {INPUT_DIR: '${_base_directory}/k'}
        args: ['\\${compiled_target_dir}/web/k']
        output_path: .
      - {input_type: remove, input_paths: ['${_base_directory}/k'], output_path: .}
  commodore:
    postprocess:
      filters:
        - type: builtin
          path: web/web/templates
          filter: helm_namespace
          filterargs: {namespace: '${web:namespace}', create_namespace: true}
";

/// A component `web` with a program, a chart and a kustomization.
fn world() -> TestEnvironment {
    let world = crate::world();
    for (path, text) in [
        ("class/defaults.yml", "parameters: {web: {=_metadata: {multi_instance: true}, namespace: none, key: '?{vaultkv:a/b}'}}"),
        ("class/web.yml", CLASS),
        ("component/app.jsonnet", "local argocd = import 'lib/argocd.libjsonnet'; { 'apps/web': argocd.App('web', 'ns') }"),
        (
            "component/main.jsonnet",
            "local kap = import 'lib/kapitan.libjsonnet'; local kube = import 'lib/kube.libjsonnet'; local p = kap.inventory().parameters;
{ '10_secret': kube.Secret(p._instance) { stringData: { key: p.web.key, cluster: p.cluster.name } } }",
        ),
        ("component/kustomization.jsonnet", "{ kustomization: { resources: ['map.yaml'], namePrefix: 'p-' }, map: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'm' } } }"),
        ("chart/Chart.yaml", "apiVersion: v2\nname: web\nversion: 1.0.0\n"),
        ("chart/templates/a.yaml", "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: '{{ .Release.Name }}'}\n"),
        ("tests/values.yml", "parameters: {web: {namespace: prod}}"),
        ("bad/class/defaults.yml", "parameters: {bad: {}}"),
        ("bad/class/bad.yml", "parameters: {kapitan: {compile: [{input_type: external, input_paths: [/bin/false], output_path: .}]}}"),
    ] {
        let path = if path.starts_with("bad/") { path.to_owned() } else { format!("component-web/{path}") };
        world.write(&path, text);
    }
    world
}

#[test]
fn a_component_is_compiled_and_processed() {
    let world = world();
    assert_data_eq!(
        world.screens([
            "catalog component compile component-web -f component-web/tests/values.yml -o out",
            "catalog component compile component-web -a blue -o out",
        ]),
        str![[r#"
$ capstan catalog component compile component-web -f component-web/tests/values.yml -o out
exit 0
--- stdout
Compile component web...
Installing component library aliases
No jsonnetfile.json found, skipping Jsonnet Bundler install.
Compiling catalog...
 > Component compiled to [CWD]/out/compiled/web
Postprocessing...
   > [CWD]/out/compiled/web/web/web/templates/00_namespace.yaml doesn't exist, creating...

$ capstan catalog component compile component-web -a blue -o out
exit 0
--- stdout
Compile component web as blue...
Installing component library aliases
No jsonnetfile.json found, skipping Jsonnet Bundler install.
Compiling catalog...
 > Component compiled to [CWD]/out/compiled/blue
Postprocessing...
   > [CWD]/out/compiled/blue/web/web/templates/00_namespace.yaml doesn't exist, creating...

"#]]
    );
    let read = |path: &str| world.read(path);
    assert_eq!(read("out/compiled/web/apps/web.yaml"), "");
    assert_data_eq!(
        read("out/compiled/web/web/10_secret.yaml"),
        str![[r#"
apiVersion: v1
data: {}
kind: Secret
metadata:
  annotations: {}
  labels:
    name: web
  name: web
stringData:
  cluster: c-green-test-1234
  key: a/b
type: Opaque

"#]]
    );
    assert_data_eq!(
        read("out/compiled/web/web/web/templates/a.yaml"),
        str![[r#"
apiVersion: v1
kind: ServiceAccount
metadata:
  name: r
  namespace: prod

"#]]
    );
    assert_data_eq!(
        read("out/compiled/web/web/k/v1_configmap_p-m.yaml"),
        str![[r#"
apiVersion: v1
kind: ConfigMap
metadata:
  name: p-m

"#]]
    );
    assert!(read("out/compiled/blue/web/10_secret.yaml").contains("name: blue\n"));
    assert!(!world.current_dir().join("component-web/k").exists());
}

// Row: D-446
#[test]
fn a_component_that_cannot_be_compiled_writes_nothing() {
    let world = world();
    assert_data_eq!(
        world.screens([
            "catalog component compile bad -o out",
            "catalog component compile bad -o out --allow-external",
            "catalog component compile bad -o out -a other",
            "catalog component compile component-web --name nope -o out",
            "catalog component compile component-web -f nope.yml -o out",
        ]),
        str![[r#"
$ capstan catalog component compile bad -o out
exit 1
--- stdout
Compile component bad...
Installing component library aliases
No jsonnetfile.json found, skipping Jsonnet Bundler install.
Compiling catalog...
--- stderr
error: cannot compile `bad`
  cause: Error compiling targets: Error compiling bad: cannot run `/bin/false`: programs of components are not allowed
hint: allow them with `--allow-external`, if you trust the component

$ capstan catalog component compile bad -o out --allow-external
exit 1
--- stdout
Compile component bad...
Installing component library aliases
No jsonnetfile.json found, skipping Jsonnet Bundler install.
Compiling catalog...
--- stderr
error: cannot compile `bad`
  cause: Error compiling targets: Error compiling bad: cannot run `/bin/false`: exit status: 1

$ capstan catalog component compile bad -o out -a other
exit 1
--- stdout
Compile component bad as other...
--- stderr
error: Component bad with alias other does not support instantiation.
hint: set `_metadata.multi_instance: true` in the defaults of the component, if it supports instances

$ capstan catalog component compile component-web --name nope -o out
exit 1
--- stdout
Compile component nope...
--- stderr
error: Could not find component class file: [CWD]/component-web/class/nope.yml
hint: name the component with `--name`, if its name is not that of its folder

$ capstan catalog component compile component-web -f nope.yml -o out
exit 1
--- stderr
error: cannot read `nope.yml`
  cause: No such file or directory (os error 2)

"#]]
    );
}

#[test]
fn errors_name_the_files_of_the_command_line() {
    let world = world();
    world.write("tests/broken.yml", "parameters:\n  web: {namespace: '${none}'}\n");
    assert_data_eq!(
        world.run_line("catalog component compile component-web -f tests/broken.yml -o out").stderr,
        str![[r#"
error: While rendering inventory: Error while rendering inventory: Error rendering node web
  cause: cannot render target `web`
  cause: [CWD]/tests/broken.yml:2: lookup error for reference '${none}' in parameter 'kapitan.compile[2].helm_params.namespace': key 'none' not found (through ${web:namespace})
hint: define each missing parameter in a class, or give its reference a default: `${NAME::DEFAULT}`

"#]]
    );
    world.write(
        "component-web/component/app.jsonnet",
        "local a = import 'lib/argocd.libjsonnet';\n{ x: a.None }\n",
    );
    assert_data_eq!(
        world.run_line("catalog component compile component-web -o out").stderr,
        str![[r#"
error: cannot compile `web`
  cause: Error compiling targets: Error compiling web: [CWD]/component-web/component/app.jsonnet:2:6: field does not exist: None

"#]]
    );
}

/// Lets component `bad` run a program that never ends, and whose child process never ends.
#[cfg(unix)]
fn endless() -> TestEnvironment {
    let world = world();
    let words = r#"['-c', "'sleep 300 & echo $! >child.part; mv child.part child; wait'"]"#;
    let input = format!(
        "{{input_type: external, input_paths: [/bin/sh], args: {words}, env_vars: {{PATH: /usr/bin:/bin}}, output_path: .}}"
    );
    world.write("bad/class/bad.yml", format!("parameters: {{kapitan: {{compile: [{input}]}}}}"));
    world
}

/// True if a process runs.
#[cfg(unix)]
fn runs(pid: &str) -> bool {
    let shown = std::process::Command::new("ps").args(["-o", "stat=", "-p", pid.trim()]).output().unwrap();
    let state = String::from_utf8(shown.stdout).unwrap();
    !state.trim().is_empty() && !state.trim().starts_with('Z')
}

// Row: D-446
#[cfg(unix)]
#[test]
fn a_program_that_never_ends_is_ended_with_its_children() {
    let world = endless().env("CAPSTAN_PROGRAM_TIMEOUT", "2s");
    let line = "catalog component compile bad -o out --allow-external";
    let slow = world.run_line(line);
    assert_data_eq!(
        slow.stderr,
        str![[r#"
error: cannot compile `bad`
  cause: Error compiling targets: Error compiling bad: cannot run `/bin/sh`: it did not end in 2 s
hint: allow more time with the variable `CAPSTAN_PROGRAM_TIMEOUT=20m`

"#]]
    );
    assert_eq!(slow.status, 1);
    assert!(!runs(&world.read("child")));
    let invalid = world.env("CAPSTAN_PROGRAM_TIMEOUT", "soon").run_line(line);
    assert!(invalid.stderr.contains("invalid value `soon` for `CAPSTAN_PROGRAM_TIMEOUT`"), "{invalid}");
}

#[cfg(unix)]
#[test]
fn ctrl_c_ends_a_program_with_its_children() {
    let world = endless();
    let mut command = world.command("catalog component compile bad -o out --allow-external".split(' '));
    let piped = std::process::Stdio::piped;
    let child = command.stdin(std::process::Stdio::null()).stdout(piped()).stderr(piped()).spawn().unwrap();
    while !world.current_dir().join("child").exists() {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    let pid = world.read("child");
    assert!(runs(&pid));
    crate::testing::signal("INT", child.id().into());
    let output = world.to_output(&child.wait_with_output().unwrap());
    assert_eq!((output.status, output.stderr.as_str()), (130, "error: interrupted, nothing was written\n"));
    assert!(!runs(&pid));
}
