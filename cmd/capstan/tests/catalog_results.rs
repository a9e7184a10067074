//! Tests of results of earlier compilations: they never change the bytes of a catalog.
#![cfg(unix)]

use std::{
    fs,
    io::{BufRead as _, BufReader},
    process::Stdio,
    thread,
    time::Duration,
};

use snapbox::{assert_data_eq, str};
use support::{binary::TestEnvironment, folder};

use crate::{
    catalog_cluster::{GREEN, edit, example},
    testing::signal,
};

type Files = Vec<(String, Vec<u8>)>;

fn files(world: &TestEnvironment) -> Files {
    let of = |name: &str| folder::files(&world.current_dir().join(name));
    [of("catalog"), of("compiled")].concat()
}

/// Compiles with the results of earlier runs, and again without them. Returns the names of the compiled instances.
fn compile(world: &TestEnvironment) -> String {
    let run = world.run_expecting_success(&format!("catalog compile {GREEN} -v1"));
    let compiled = files(world);
    let fresh = world.run_expecting_success(&format!("catalog compile {GREEN} --no-cache -v1"));
    assert!(compiled == files(world), "{}", run.stderr);
    let lines = |text: &str| -> Vec<String> {
        text.lines().filter(|line| !line.contains("Skipping cleaning")).map(str::to_owned).collect()
    };
    assert_eq!(lines(&run.stdout), lines(&fresh.stdout));
    let line = run.stderr.lines().find(|line| line.contains("instances: ")).unwrap_or(&run.stderr);
    line.split_once("instances: ").map_or(String::new(), |(_, names)| names.to_owned())
}

// Row: D-483
#[test]
fn only_instances_whose_inputs_changed_are_compiled() {
    let world = example();
    // A first run creates links and folders that later runs find.
    compile(&world);
    assert_eq!(compile(&world), "");
    for (file, from, to, expected) in [
        ("inventory/classes/t-acme/c-green.yml", "disk: nvme", "disk: ssd", "storage-fast"),
        (
            "dependencies/storage/component/main.jsonnet",
            "disks.example.org",
            "d.example.org",
            "storage, storage-fast",
        ),
        ("dependencies/monitoring/lib/monitoring-alerts.libsonnet", "'-alerts'", "'-rules'", "web"),
        (
            "dependencies/monitoring/chart/values.yaml",
            "retention: 1d",
            "retention: 2d\nother: 1",
            "monitoring",
        ),
        (
            "dependencies/monitoring/class/defaults.yml",
            "namespace: monitoring",
            "namespace: metrics",
            "monitoring",
        ),
        ("dependencies/web/class/defaults.yml", "replicas: 1", "replicas: 4", "web"),
        ("inventory/classes/t-acme/common.yml", "/web/password", "/web/other", "web"),
        ("inventory/classes/global/secrets.yml", "auth: token", "auth: kubernetes", "web"),
    ] {
        edit(&world, file, from, to);
        let compiled = compile(&world);
        assert_eq!(compiled, expected, "{file}");
        assert_eq!(compile(&world), "", "{file}");
    }
    world.write(
        "dependencies/monitoring/chart/templates/more.yaml",
        "kind: ConfigMap\napiVersion: v1\nmetadata: {name: more}\n",
    );
    assert_eq!(compile(&world), "monitoring");
    fs::remove_file(world.current_dir().join("dependencies/monitoring/chart/templates/more.yaml")).unwrap();
    assert_eq!(compile(&world), "monitoring");
    // A file that an import finds first.
    world.write(
        "dependencies/web/component/lib/monitoring-alerts.libsonnet",
        "{ configMap(name, alerts):: { kind: 'Own' } }",
    );
    assert_eq!(compile(&world), "web");
}

#[test]
fn files_globs_and_templates_are_inputs() {
    let world = example();
    let class = "parameters:\n  kapitan:\n    compile:\n      - {input_type: jinja2, input_paths: ['${_base_directory}/templates'], output_path: .}\n      - {input_type: copy, input_paths: ['${_base_directory}/files/*.txt'], output_path: files}\n      - {input_type: jsonnet, input_paths: ['${_base_directory}/component/main.jsonnet'], output_path: .}\n";
    world.write("dependencies/web/class/web.yml", class);
    world.write(
        "dependencies/web/templates/a.yaml",
        "{% include 'part.j2' %}: {{ inventory.parameters.storage.disk }}\n",
    );
    world.write("dependencies/web/templates/part.j2", "disk");
    world.write("dependencies/web/files/a.txt", "a");
    world.write(
        "dependencies/web/component/main.jsonnet",
        "local kap = import 'lib/kapitan.libjsonnet';\n{ data: { exists: kap.file_exists('notes/x.txt').exists, files: kap.dir_files_list('notes'), targets: std.objectFields(kap.inventory_global()) } }",
    );
    world.write("notes/one.txt", "1");
    compile(&world);
    assert_eq!(compile(&world), "");
    let change = |path: &str, text: &str, expected: &str| {
        world.write(path, text);
        assert_eq!(compile(&world), expected, "{path}");
        assert_eq!(compile(&world), "", "{path}");
    };
    change("dependencies/web/templates/part.j2", "disks", "web");
    change("dependencies/web/files/b.txt", "b", "web");
    // The names in a folder with a pattern are inputs.
    change("dependencies/web/files/b.md", "not matched", "web");
    change("notes/x.txt", "x", "web");
    // A template may use every parameter.
    edit(&world, "dependencies/storage/class/defaults.yml", "disk: standard", "disk: slow");
    assert_eq!(compile(&world), "storage, web");
    edit(
        &world,
        "inventory/classes/t-acme/c-green.yml",
        "  - storage as storage-fast\n",
        "  - storage as storage-slow\n",
    );
    edit(&world, "inventory/classes/t-acme/c-green.yml", "storage_fast", "storage_slow");
    // The names of parameters changed, which programs may list.
    assert_eq!(compile(&world), "storage, storage-slow, web");
}

#[test]
fn results_of_other_clusters_and_damaged_ones_are_not_used() {
    let world = example();
    compile(&world);
    world.run_expecting_success("catalog compile c-blue --local --cluster-file clusters/c-blue.yml");
    assert_eq!(compile(&world), "", "the results of both clusters are kept");
    let cache = world.home().join(".cache/capstan");
    for damage in [&b""[..], b"{\"key\":", b"text\n"] {
        for (path, content) in folder::files(&cache.join("blobs/sha256")) {
            fs::write(
                cache.join("blobs/sha256").join(&path[1..]),
                [damage, &content[..content.len() / 2]].concat(),
            )
            .unwrap();
        }
        assert_eq!(compile(&world), "monitoring, storage, storage-fast, web");
        assert_eq!(compile(&world), "");
    }
    fs::remove_dir_all(&cache).unwrap();
    fs::write(&cache, "a file").unwrap();
    assert_eq!(compile(&world), "monitoring, storage, storage-fast, web");
}

#[test]
fn two_runs_at_once_give_the_same_catalog() {
    let world = example();
    for (path, content) in folder::files(&world.current_dir()) {
        world.write(format!("other{path}"), content);
    }
    edit(&world, "dependencies/web/class/defaults.yml", "replicas: 1", "replicas: 7");
    let line = format!("catalog compile {GREEN}");
    let second = thread::scope(|scope| {
        let second = scope.spawn(|| world.run_line(&format!("{line} -d other")));
        world.run_expecting_success(&line);
        second.join().unwrap()
    });
    assert_eq!(second.status, 0, "{second}");
    assert!(world.read("catalog/manifests/web/20_deployment.yaml").contains("replicas: 7"));
    assert!(world.read("other/catalog/manifests/web/20_deployment.yaml").contains("replicas: 1"));
    assert_eq!(compile(&world), "");
}

#[test]
fn runs_in_one_working_folder_wait_for_each_other() {
    let world = example();
    let lines = ["", " -d .", " -d catalog/..", " -d dependencies/.."]
        .map(|folder| format!("catalog compile {GREEN}{folder}"));
    world.write("catalog/README.md", "A catalog.");
    let outputs: Vec<_> = thread::scope(|scope| {
        let runs: Vec<_> = lines.iter().map(|line| scope.spawn(|| world.run_line(line))).collect();
        runs.into_iter().map(|run| run.join().unwrap()).collect()
    });
    for output in outputs {
        assert_eq!(output.status, 0, "{output}");
    }
    assert_eq!(compile(&world), "");
}

#[test]
fn a_watched_catalog_is_compiled_after_each_change_until_ctrl_c() {
    let world = example();
    let mut command = world.command(format!("catalog compile {GREEN} --watch").split(' '));
    let mut child =
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    let errors = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
    let mut errors = errors.skip_while(|line| !line.contains("watching"));
    assert_eq!(errors.next().unwrap(), "watching classes and components; Ctrl-C ends");
    let mut pass = || {
        let line = lines.find(|line| line.starts_with("compiled ")).unwrap();
        let (count, rest) = line.split_once(" in ").unwrap();
        format!("{count}:{}", rest.split_once(':').unwrap().1)
    };
    edit(&world, "dependencies/web/class/defaults.yml", "replicas: 1", "replicas: 5");
    assert_eq!(pass(), "compiled 1 of 4 instances: web");
    assert!(world.read("catalog/manifests/web/20_deployment.yaml").contains("replicas: 5"));
    edit(&world, "inventory/classes/t-acme/c-green.yml", "disk: nvme", "disk: [");
    assert!(errors.any(|line| line.contains("c-green.yml")));
    edit(&world, "inventory/classes/t-acme/c-green.yml", "disk: [", "disk: ssd");
    assert_eq!(pass(), "compiled 1 of 4 instances: storage-fast");
    edit(&world, "inventory/classes/t-acme/c-green.yml", "disk: ssd", "disk: ssd # a comment");
    assert_eq!(pass(), "compiled 4 instances: no instance changed");
    signal("INT", child.id().into());
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

/// A program that never ends and whose values do not grow.
const ENDLESS: &str = "local loop(n) = std.foldl(function(sum, i) if n == 0 then sum else loop(n - 1), std.range(1, 1000), 0); { a: loop(9) }";

// Row: D-521
#[test]
fn a_program_that_never_ends_leaves_the_catalog_as_it_was() {
    let world = example();
    world.run_expecting_success(&format!("catalog compile {GREEN}"));
    let before = files(&world);
    world.write("dependencies/web/component/main.jsonnet", ENDLESS);
    let world = world.env("CAPSTAN_JSONNET_TIMEOUT", "0.2s");
    let line = format!("catalog compile {GREEN}");
    let slow = world.run_line(&line);
    assert_data_eq!(
        slow.stderr.clone(),
        str![[r#"
error: cannot compile `web`
  cause: Error compiling targets: Error compiling web: cannot evaluate `[CWD]/dependencies/web/component/main.jsonnet`: it did not end in 0.2 s
hint: look for a loop without an end, or allow more time with the variable `CAPSTAN_JSONNET_TIMEOUT=20m`

"#]]
    );
    assert_eq!(slow.status, 1, "{slow}");
    assert!(before == files(&world));
    let invalid = world.env("CAPSTAN_JSONNET_TIMEOUT", "soon").run_line(&line);
    assert!(invalid.stderr.contains("invalid value `soon` for `CAPSTAN_JSONNET_TIMEOUT`"), "{invalid}");
}

#[test]
fn a_watch_ends_if_a_program_never_ends() {
    let world = example();
    world.run_expecting_success(&format!("catalog compile {GREEN}"));
    let world = world.env("CAPSTAN_JSONNET_TIMEOUT", "0.2s");
    let mut command = world.command(format!("catalog compile {GREEN} --watch").split(' '));
    let mut child =
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut errors = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
    assert!(errors.any(|line| line.contains("watching")));
    world.write("dependencies/web/component/main.jsonnet", ENDLESS);
    assert!(errors.any(|line| line.contains("it did not end in 0.2 s")));
    assert_eq!(child.wait().unwrap().code(), Some(1));
}

#[test]
fn ctrl_c_ends_a_program_and_leaves_no_files() {
    let world = example();
    world.run_expecting_success(&format!("catalog compile {GREEN}"));
    let before = files(&world);
    world.write("dependencies/web/component/main.jsonnet", ENDLESS);
    let is_compiling = || {
        let names = fs::read_dir(world.current_dir()).unwrap();
        names.flatten().any(|entry| entry.file_name().to_string_lossy().starts_with(".compiling-"))
    };
    let mut command = world.command(format!("catalog compile {GREEN}").split(' '));
    let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    while !is_compiling() {
        thread::sleep(Duration::from_millis(10));
    }
    signal("INT", child.id().into());
    let output = world.to_output(&child.wait_with_output().unwrap());
    assert_eq!((output.status, output.stderr.as_str()), (130, "error: interrupted, nothing was written\n"));
    assert!(before == files(&world) && !is_compiling());
}

// Row: D-495
#[test]
fn only_changed_files_are_written_again() {
    use std::os::unix::fs::MetadataExt as _;

    let world = example();
    let run = format!("catalog compile {GREEN}");
    world.run_expecting_success(&run);
    let identity = |path: &str| {
        let found = fs::metadata(world.current_dir().join(path)).unwrap();
        (found.ino(), found.mtime(), found.mtime_nsec())
    };
    let unchanged = [
        "compiled/web/web/10_secret.yaml",
        "catalog/manifests/web/10_secret.yaml",
        "catalog/manifests/monitoring/monitoring/templates/config.yaml",
        "catalog/refs/t-acme/c-green/web/password",
    ];
    let changed = ["compiled/web/web/20_deployment.yaml", "catalog/manifests/web/20_deployment.yaml"];
    let before = (unchanged.map(identity), changed.map(identity));
    world.write("catalog/manifests/gone/x.yaml", "kind: Old\n");
    world.write("compiled/web/gone.yaml", "kind: Old\n");
    edit(&world, "dependencies/web/class/defaults.yml", "replicas: 1", "replicas: 4");
    edit(&world, "inventory/classes/t-acme/c-green.yml", "  - storage as storage-fast\n", "");
    edit(&world, "inventory/classes/t-acme/c-green.yml", "applications:\n", "");
    world.run_expecting_success(&run);
    assert_eq!(unchanged.map(identity), before.0);
    for (path, old) in changed.into_iter().zip(before.1) {
        assert_ne!(identity(path), old, "{path}");
        assert!(world.read(path).contains("replicas: 4"), "{path}");
    }
    let manifests = folder::files(&world.current_dir().join("catalog/manifests"));
    let gone = |path: &str| path.contains("gone") || path.contains("storage-fast");
    assert!(!manifests.iter().any(|(path, _)| gone(path)), "{manifests:?}");
    assert!(!world.current_dir().join("compiled/web/gone.yaml").exists());
    // A failed compilation changes nothing.
    edit(&world, "dependencies/web/component/main.jsonnet", "\n{\n", "\n{ assert false,\n");
    let all = files(&world);
    assert_eq!(world.run_line(&run).status, 1);
    assert!(all == files(&world));
}
