use std::cell::RefCell;
use std::fs;

use super::*;

#[test]
fn each_field_with_a_removed_reference_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    write(
        "a.yml",
        "# ${cluster:dist}\nparameters: {x: ['${cloud:region}', 1], y: '${cluster:dist}${customer:name}'}\n",
    );
    write(".hidden.yml", "a: ${cluster:dist}");
    write("list.yml", "- ${cluster:dist}");
    let lines = RefCell::new(Vec::new());
    let report = |step: Step| lines.borrow_mut().push(step.to_string());
    let checked = check_removed_references("hierarchy", &[folder.path().to_owned()], &report);
    assert_eq!(
        checked.unwrap_err().to_string(),
        "Found 3 usages of removed reclass variables in the hierarchy. See individual lint errors for details."
    );
    let file = folder.path().join("a.yml");
    let line = |field: &str, reference: &str| {
        format!("> Field '{field}' in file '{}' contains deprecated parameter '{reference}'", file.display())
    };
    assert_eq!(
        lines.into_inner(),
        [
            line("parameters.x[0]", "${cloud:region}"),
            line("parameters.y", "${customer:name}"),
            line("parameters.y", "${cluster:dist}"),
        ]
    );
}

#[test]
fn entries_of_dependencies_have_known_fields_and_texts() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.yml");
    fs::write(
        &file,
        "parameters:\n  components:\n    a: {url: u, version: 1.10}\n    b: {url: u, verison: v1}\n    c: v1\n    d: {version: v2}\n  packages:\n    p: {url: 1}\n",
    )
    .unwrap();
    let rules = [LintRule::Components, LintRule::Packages];
    let found = lint(&[folder.path().to_owned()], &rules).findings;
    let shown: Vec<String> = found
        .iter()
        .map(|finding| finding.to_string().replace(&file.display().to_string(), "FILE"))
        .collect();
    assert_eq!(
        shown,
        [
            "> Component a version is no text in FILE (line 3)",
            "> Component specification for b is missing key 'version' in FILE (line 4)",
            "> Component specification for b contains unknown key(s) 'verison' in FILE (line 4)",
            "> Component specification for c isn't a dictionary in FILE (line 5)",
            "> Package specification for p is missing key 'version' in FILE (line 8)",
            "> Package p url is no text in FILE (line 8)",
        ]
    );
}

const DEFAULTS: &str = "parameters:\n  store:\n    =_metadata: {multi_instance: true}\n    namespace: s\n    disk: d\n    labels: {}\n";
const PROGRAM: &str = "local inv = std.extVar('inventory');\nlocal params = inv.parameters.store;\n\
    { a: params.disk, b: std.get(params, 'extra'), c: inv.parameters.region_name }\n";
const GLOBAL: &str = "classes: [t.common]\napplications:\n  - store\n  - store as store-fast\nparameters:\n  \
    components:\n    store: {url: u, version: v1}\n";

/// Creates a working folder with a component that has two instances, and a class of the tenant.
fn work(tenant: &str, more: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let files = [
        ("dependencies/store/class/defaults.yml", DEFAULTS),
        ("dependencies/store/class/store.yml", "parameters: {kapitan: {compile: ['${store:disk}']}}\n"),
        ("dependencies/store/component/main.jsonnet", PROGRAM),
        ("dependencies/store/tests/defaults.yml", "parameters: {store: {password: hunter2}}\n"),
        ("inventory/classes/global/commodore.yml", GLOBAL),
        ("inventory/classes/t/common.yml", tenant),
    ];
    for (path, text) in files.iter().chain(more) {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    folder
}

/// Returns the findings of one check, with `F` for the folder, and the skipped checks.
fn found(folder: &tempfile::TempDir, path: &str, rule: LintRule) -> Vec<String> {
    let root = folder.path().canonicalize().unwrap();
    let report = lint(&[root.join(path)], &[rule]);
    let shown = report.findings.iter().map(|finding| {
        let line = finding.line.map(|line| line.to_string()).unwrap_or_default();
        assert!(finding.message.contains(&finding.file.display().to_string()), "{}", finding.message);
        format!("{} {line}: {}", finding.code.as_str(), finding.message)
    });
    let all = shown.chain(report.skipped.iter().map(|text| format!("skipped {text}")));
    all.map(|text| text.replace(&root.display().to_string(), "F")).collect()
}

#[test]
fn parameters_that_nothing_reads_are_reported() {
    let rule = LintRule::UnusedParameters;
    let tenant = "parameters:\n  store:\n    disk: x\n    dsik: x\n    extra: x\n    labels: {any: 1}\n    other: 1\n    \
        ~size: '${sizes:small}${store:other}'\n  store_fast:\n    dsik: y\n  region_name: r\n  strage: {disk: x}\n  \
        sizes: {small: 1}\n";
    // Compilations create such a target.
    let target =
        ("inventory/targets/store-fast.yml", "parameters: {store_fast: {}, store: '${store_fast}'}\n");
    let folder = work(tenant, &[target]);
    assert_eq!(
        found(&folder, "", rule),
        [
            "unused-parameter 4: Nothing reads parameter 'store:dsik' in file 'F/inventory/classes/t/common.yml'",
            "unused-parameter 8: Nothing reads parameter 'store:size' in file 'F/inventory/classes/t/common.yml'",
            "unused-parameter 10: Nothing reads parameter 'store_fast:dsik' in file 'F/inventory/classes/t/common.yml'",
            "unused-parameter 12: Nothing reads parameter 'strage' in file 'F/inventory/classes/t/common.yml'",
        ]
    );
    assert_eq!(found(&folder, "inventory/classes/global", rule), [""; 0]);
    // A library may read any parameter of its name; a component that passes on its parameters reads all.
    let library = ("vendor/lib/x.libsonnet", "{ a(inv):: inv.parameters.strage }");
    let passes = ("dependencies/store/component/more.jsonnet", "lib.all(params)");
    assert_eq!(found(&work(tenant, &[library, passes]), "", rule), [""; 0]);
    // A component without a checkout may read any parameter, and any field of its own.
    let missing =
        ("inventory/classes/t/more.yml", "applications: [away]\nparameters: {away: {a: 1}, b: 1}\n");
    let texts = found(&work("parameters: {store: {dsik: 1}}\n", &[missing]), "", rule);
    assert_eq!(
        texts,
        [
            "unused-parameter 1: Nothing reads parameter 'store:dsik' in file 'F/inventory/classes/t/common.yml'",
            "skipped unused-parameters: only parameters of components, because `dependencies` lacks away",
        ]
    );
}

#[test]
fn references_without_a_value_are_reported() {
    let rule = LintRule::UnknownReferences;
    let tenant = "classes: ['${cluster:tenant}.x', '${cluster:tenant}.${nope:class}']\nparameters:\n  store:\n    a: \
        ${store:disc}\n    b: ['${store:disk} ${open:x:y} ${store_fast:namespace}', '${store:none::x}']\n    c: \
        ${store:${store:disk}}\n    d: \\${no:reference}\n    e: ${cloud:region}\n  open: ${store:labels}\n";
    let expected = [
        "unknown-reference 1: Reference '${nope:class}' of field 'classes[1]' in file 'F/inventory/classes/t/common.yml' has no value",
        "unknown-reference 4: Reference '${store:disc}' of field 'parameters.store.a' in file 'F/inventory/classes/t/common.yml' has no value",
    ];
    assert_eq!(found(&work(tenant, &[]), "", rule), expected);
    let set = ("inventory/classes/t/more.yml", "parameters: {store: {disc: 1}, nope: {class: c}}\n");
    assert_eq!(found(&work(tenant, &[set]), "", rule), [""; 0]);
    let package = ("inventory/classes/t/more.yml", "applications: [pkg.away]\n");
    assert_eq!(
        found(&work(tenant, &[package]), "", rule),
        ["skipped unknown-references: the classes of away are not in `dependencies`"]
    );
}

#[test]
fn dependencies_that_no_application_includes_are_reported() {
    let rule = LintRule::UnusedDependencies;
    let tenant = "applications: [~gone, pkg.one]\nparameters:\n  components:\n    gone: {url: u, version: v1}\n    \
        store-fast: {version: v2}\n  packages:\n    one: {url: u, version: v1}\n    two: {url: u, version: v1}\n";
    let package = ("dependencies/pkg.one/main.yml", "parameters: {}\n");
    assert_eq!(
        found(&work(tenant, &[package]), "inventory", rule),
        [
            "unused-component 4: No application includes component 'gone' of file 'F/inventory/classes/t/common.yml'",
            "unused-package 8: No application includes package 'two' of file 'F/inventory/classes/t/common.yml'",
        ]
    );
    // A package may include applications.
    let including = ("dependencies/pkg.one/main.yml", "applications: [gone, pkg.two]\n");
    let two = ("dependencies/pkg.two/main.yml", "parameters: {}\n");
    assert_eq!(found(&work(tenant, &[including, two]), "inventory", rule), [""; 0]);
}

#[test]
fn secrets_are_reported_without_their_values() {
    let tenant = "parameters:\n  store:\n    password: hunter2\n    nested: [{adminPassword: admin}]\n    safe: \
        '?{vaultkv:t/c/store/password}'\n    passwordSecret: store-password\n";
    assert_eq!(
        found(&work(tenant, &[]), "", LintRule::Secrets),
        [
            "secret 3: Field 'parameters.store.password' in file 'F/inventory/classes/t/common.yml' looks like a password",
            "secret 4: Field 'parameters.store.nested[0].adminPassword' in file 'F/inventory/classes/t/common.yml' looks like a password",
        ]
    );
    let in_test = "F/dependencies/store/tests/defaults.yml";
    assert_eq!(
        found(&work(tenant, &[]), "dependencies/store/tests/defaults.yml", LintRule::Secrets),
        [format!("secret 1: Field 'parameters.store.password' in file '{in_test}' looks like a password")]
    );
}

#[test]
fn files_outside_of_a_working_folder_have_no_context() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a.yml"), "parameters: {a: '${b}'}\n").unwrap();
    assert_eq!(
        found(&folder, "a.yml", LintRule::UnknownReferences),
        ["skipped unknown-references: `F/a.yml` is in no working folder"]
    );
}
