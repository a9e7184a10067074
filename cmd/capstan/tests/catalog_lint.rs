//! Tests of the checks of `catalog lint` that need a whole working folder.

use snapbox::{assert_data_eq, str};

use crate::catalog_cluster::{edit, example};

#[test]
fn the_example_has_no_findings() {
    let world = example();
    assert_eq!(world.run_expecting_success("catalog lint").stdout, "No errors 🎉 ✨\n");
    world.run_expecting_success(&format!("catalog compile {}", crate::catalog_cluster::GREEN));
    assert_eq!(world.run_expecting_success("catalog lint").stdout, "No errors 🎉 ✨\n");
}

// Row: D-494
#[test]
fn findings_have_codes_lines_and_next_steps() {
    let world = example();
    let class = "inventory/classes/t-acme/c-green.yml";
    edit(&world, class, "disk: nvme", "dsik: nvme\n  web:\n    image: ${web:imgae}\n    password: hunter2");
    edit(
        &world,
        "inventory/classes/global/components.yml",
        "    web:",
        "    old:\n      url: https://git.example.org/components/old.git\n      version: v1.0.0\n    web:",
    );
    assert_data_eq!(
        world.screens(["catalog lint", "catalog lint inventory/classes/t-acme -l unused-parameters -o json"]),
        str![[r#"
$ capstan catalog lint
exit 1
--- stdout
> Field 'parameters.web.password' in file '[CWD]/inventory/classes/t-acme/c-green.yml' looks like a password (line 10)
  move the value to Vault, change it, and write a reference such as `?{vaultkv:path/key}`
> Reference '${web:imgae}' of field 'parameters.web.image' in file '[CWD]/inventory/classes/t-acme/c-green.yml' has no value (line 9)
  correct the reference, set the parameter, or give a default: `${a:b::value}`
> No application includes component 'old' of file '[CWD]/inventory/classes/global/components.yml' (line 10)
  add it to `applications` of a class, or delete the entry
> Nothing reads parameter 'storage_fast:dsik' in file '[CWD]/inventory/classes/t-acme/c-green.yml' (line 7)
  correct its name, or delete it
--- stderr
error: found 4 errors

$ capstan catalog lint inventory/classes/t-acme -l unused-parameters -o json
exit 1
--- stdout
{
  "findings": [
    {
      "code": "unused-parameter",
      "file": "[CWD]/inventory/classes/t-acme/c-green.yml",
      "line": 7,
      "message": "Nothing reads parameter 'storage_fast:dsik' in file '[CWD]/inventory/classes/t-acme/c-green.yml'",
      "advice": "correct its name, or delete it"
    }
  ]
}
--- stderr
{"kind":"user","exitCode":1,"message":"found 1 error","causes":[],"hints":[]}

"#]]
    );
    let yaml = world.run_line("catalog lint -l unused-dependencies -o yaml");
    assert!(yaml.stdout.starts_with("findings:\n- advice: "), "{yaml}");
}

#[test]
fn checks_that_are_not_possible_are_named_if_they_are_selected() {
    let world = crate::world();
    world.write("global/a.yml", "parameters: {a: '${b}'}\n");
    assert_data_eq!(
        world.screens(["catalog lint global", "catalog lint global -l unknown-references"]),
        str![[r#"
$ capstan catalog lint global
exit 0
--- stdout
No errors 🎉 ✨

$ capstan catalog lint global -l unknown-references
exit 0
--- stdout
No errors 🎉 ✨
--- stderr
warning: skipped unknown-references: `[CWD]/global` is in no working folder

"#]]
    );
}
