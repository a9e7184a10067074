//! The disaster recovery drill of the guide: back up, lose the management cluster, restore.

use support::binary::{RunOutput, TestEnvironment};

use crate::{project, world};

/// The commands of the guide in an isolated environment. Dropping the value deletes the sandboxes.
struct Guide {
    world: TestEnvironment,
    text: String,
}

impl Guide {
    fn open() -> Self {
        let world = world();
        let state = world.home().join("state");
        let text = std::fs::read_to_string(project("docs/guide/backup.md")).unwrap();
        Self { world: world.env("XDG_STATE_HOME", state), text: text.replace("\\\n", " ") }
    }

    fn run(&self, typed: &str) -> RunOutput {
        let lines = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let mut known = self.text.lines().map(lines);
        assert!(known.any(|line| line == typed), "the guide does not say `{typed}`");
        self.world.run(typed.strip_prefix("capstan ").unwrap().split_whitespace())
    }

    fn done(&self, typed: &str) -> RunOutput {
        let run = self.run(typed);
        assert_eq!(run.status, 0, "{typed}\n{run}");
        run
    }
}

impl Drop for Guide {
    fn drop(&mut self) {
        self.world.run(["quickstart", "--remove"]);
    }
}

#[test]
fn the_recovery_drill_of_the_guide_restores_a_lost_cluster() {
    let guide = Guide::open();
    guide.done("capstan quickstart");
    guide.done("capstan backup demo.tar.gz --sandbox tour-b");
    let inspected = guide.done("capstan backup inspect demo.tar.gz");
    assert!(inspected.stdout.contains("\ndefault/demo   v1.35.0   3 "), "{inspected}");
    let refused = guide.run("capstan restore demo.tar.gz --sandbox tour-a --source-sandbox tour-b");
    assert!(refused.status == 1 && refused.stderr.contains(" would run twice: "), "{refused}");
    guide.done("capstan restore demo.tar.gz --sandbox tour-a --map-namespace default=drill --paused");
    guide.done("capstan sandbox delete tour-b");
    guide.done("capstan restore demo.tar.gz --sandbox tour-a --dry-run");
    guide.done("capstan restore demo.tar.gz --sandbox tour-a");
    guide.done("capstan describe cluster demo --sandbox tour-a --watch --exit-status --timeout 2m");
    let again = guide.done("capstan restore demo.tar.gz --sandbox tour-a");
    assert!(
        again.stderr.ends_with(": restored no object from `demo.tar.gz`; 31 objects already existed\n"),
        "{again}"
    );
    guide.done("capstan quickstart --remove");
}
