//! Tests of the hooks of templates, which are programs.
#![cfg(unix)]

use snapbox::{assert_data_eq, str};
use support::{binary::TestEnvironment, git::GitForge};

use crate::testing::{git, template_lab_without_hook};

const PRE: &str = "#!/bin/sh\necho \"pre in $(basename \"$PWD\"), $(ls -A | wc -l | tr -d ' ') files\"\necho \"secret is '$SECRET'\"\n";
const POST: &str = "#!/bin/sh\nset -e\nif [ '{{ cookiecutter.add_lib }}' = n ]; then rm notes; fi\necho 'made by {{ cookiecutter.slug }}' >by-hook\nprintf '#!/bin/sh\\n' >run.sh\nchmod +x run.sh\n";

/// Creates a template with hooks.
fn hooked(hooks: &[(&str, &str)]) -> (GitForge, TestEnvironment) {
    let (forge, world) = template_lab_without_hook();
    forge.commit("template", hooks);
    (forge, world.env("SECRET", "sesame"))
}

// Row: D-472
#[test]
fn allowed_hooks_change_the_files_of_a_new_component() {
    let (forge, world) = hooked(&[
        ("hooks/pre_gen_project.sh", PRE),
        ("hooks/post_gen_project", POST),
        ("hooks/other.sh", "x"),
        // Commodore runs none of these either.
        ("hooks/pre_prompt.sh", "#!/bin/sh\nexit 1\n"),
        ("hooks/pre_gen_project.sh~", "#!/bin/sh\nexit 1\n"),
        ("hooks/post_gen_project.old.sh", "#!/bin/sh\nexit 1\n"),
    ]);
    assert_data_eq!(
        world.screens([
            "catalog component new my-thing --output-dir . --allow-external",
            "catalog package new my-pack --output-dir . --allow-external",
        ]),
        str![[r#"
$ capstan catalog component new my-thing --output-dir . --allow-external
exit 0
--- stdout
Adding component my-thing...
pre in my-thing, 0 files
secret is ''
 > Changes:
     Added file .cruft.json
     Added file by-hook
     Added file class/defaults.yml
     Added file class/my-thing.yml
     Added file component/main.jsonnet
     Added file run.sh
Component my-thing successfully added 🎉

$ capstan catalog package new my-pack --output-dir . --allow-external
exit 0
--- stdout
Adding package my-pack...
pre in my-pack, 0 files
secret is ''
 > Changes:
     Added file .cruft.json
     Added file by-hook
     Added file class/defaults.yml
     Added file class/my-pack.yml
     Added file component/main.jsonnet
     Added file run.sh
Package my-pack successfully added 🎉

"#]]
    );
    assert_eq!(world.read("my-thing/by-hook"), "made by my-thing\n");
    let listed = git(&world, &forge, "my-thing", &["ls-files", "--stage", "run.sh"]);
    assert!(listed.starts_with("100755 "), "{listed}");

    forge.commit("template", &[("{{ cookiecutter.slug }}/more", "more\n")]);
    assert_data_eq!(
        world.screens(["catalog component update my-thing --lib --allow-external"]),
        str![[r#"
$ capstan catalog component update my-thing --lib --allow-external
exit 0
--- stdout
pre in my-thing, 0 files
secret is ''
pre in my-thing, 0 files
secret is ''
 > Changes:
     Added file more
     Added file notes
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
     @@ -8,7 +8,7 @@
            "name": "my-thing",
            "key": "my_thing",
            "test_cases": "defaults",
     -      "add_lib": "n",
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
Component my-thing successfully updated 🎉

"#]]
    );
    assert_eq!(git(&world, &forge, "my-thing", &["status", "--short"]), "");
}

#[test]
fn a_failed_hook_leaves_nothing() {
    for (hook, text, reason) in [
        ("pre_gen_project.sh", "#!/bin/sh\necho no >&2\nexit 3\n", "no"),
        ("post_gen_project.sh", "#!/bin/sh\nexit 3\n", "exit status: 3"),
        (
            "post_gen_project.sh",
            "",
            "Exec format error (os error 8); its first line must name an interpreter, such as `#!/bin/sh`",
        ),
        ("post_gen_project.sh", "#!/nowhere\n", "the interpreter of its first line does not exist"),
    ] {
        let (_forge, world) = hooked(&[(&format!("hooks/{hook}"), text)]);
        let run = world.run_line("catalog component new my-thing --output-dir . --allow-external");
        assert_eq!(run.status, 1, "{run}");
        let expected = format!("cause: hook `hooks/{hook}` failed: {reason}");
        assert!(run.stderr.contains(&expected), "{run}");
        assert!(world.files().iter().all(|file| !file.contains("my-thing")), "{:?}", world.files());
    }
}

// Row: D-472
#[test]
fn a_hook_that_never_ends_is_ended() {
    let (_forge, world) = hooked(&[("hooks/post_gen_project.sh", "#!/bin/sh\nsleep 300 &\nwait\n")]);
    let world = world.env("CAPSTAN_PROGRAM_TIMEOUT", "0.2s");
    let run = world.run_line("catalog component new my-thing --output-dir . --allow-external");
    assert_eq!(run.status, 1, "{run}");
    let expected = "hook `hooks/post_gen_project.sh` failed: it did not end in 0.2 s
hint: allow more time with the variable `CAPSTAN_PROGRAM_TIMEOUT=20m`
";
    assert!(run.stderr.ends_with(expected), "{run}");
    assert!(world.files().iter().all(|file| !file.contains("my-thing")), "{:?}", world.files());
}

#[test]
fn a_hook_in_python_needs_its_interpreter() {
    let (forge, world) =
        hooked(&[("hooks/post_gen_project.py", "open('by-python', 'w').write('{{ cookiecutter.slug }}')\n")]);
    let folders = forge.variables().into_iter().find(|(name, _)| name == "PATH").unwrap().1;
    let program =
        std::env::split_paths(&folders).map(|folder| folder.join("git")).find(|path| path.is_file());
    world.script("git", &format!("exec {} \"$@\"", program.unwrap().display()));
    let bin = world.bin();
    let world = world.env("PATH", bin);
    let run = world.run_line("catalog component new my-thing --output-dir . --allow-external");
    assert!(run.stderr.contains("it needs `python3`, which is not on the PATH"), "{run}");
    world.script("python3", "read -r line <\"$1\"; echo \"ran $line\" >by-python");
    world.run_expecting_success("catalog component new my-thing --output-dir . --allow-external");
    assert_eq!(world.read("my-thing/by-python"), "ran open('by-python', 'w').write('my-thing')\n");
}
