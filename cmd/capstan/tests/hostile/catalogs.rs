//! Hostile programs of components.

use serde_json::Value;
use support::folder;

use crate::catalog_cluster::{GREEN, edit, example};

/// The limit of such a run: that of programs, with the stacks of all threads and the value that is too large.
const MEMORY_MEBIBYTES: usize = 11 << 10;

// Row: D-505
#[test]
fn a_value_that_grows_without_end_is_an_error_and_changes_nothing() {
    let world = example();
    world.run_expecting_success(&format!("catalog compile {GREEN}"));
    let written = || ["catalog", "compiled"].map(|name| folder::files(&world.current_dir().join(name)));
    let before = written();
    edit(&world, "dependencies/storage/class/defaults.yml", "disk: standard", "disk: slow");
    world.write(
        "dependencies/web/component/main.jsonnet",
        "local twice(text) = if std.length(text) < 0 then text else twice(text + text); { web: twice('0123456789abcdef') }",
    );
    let run =
        world.run_in_memory(&format!("catalog plan {GREEN} --against catalog -o json"), MEMORY_MEBIBYTES);
    assert_eq!((run.status, run.stdout.as_str()), (1, ""), "{run}");
    let error: Value = serde_json::from_str(run.stderr.lines().last().unwrap_or_default()).unwrap();
    let reason = "cannot evaluate `[CWD]/dependencies/web/component/main.jsonnet`: the process has more than 4 GiB of memory";
    assert!(error.to_string().contains(reason), "{error}");
    assert_eq!(written(), before);
    let leftovers: Vec<String> =
        world.files().into_iter().filter(|path| path.contains(".compiling-")).collect();
    assert!(leftovers.is_empty(), "{leftovers:?}");
    // The folder is free for the next run.
    world.write("dependencies/web/component/main.jsonnet", "{ web: '%9d' % 1 }");
    world.run_expecting_success(&format!("catalog compile {GREEN}"));
}
