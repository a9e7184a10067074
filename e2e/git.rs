//! Providers in Git repositories.

use support::git::GitForge;

use crate::{COMPONENTS, METADATA, world};

const GENERATE: [&str; 4] = ["generate", "provider", "-i", "lab"];

#[test]
fn the_newest_tag_is_the_newest_release_and_moved_tags_warn() {
    let forge = GitForge::new();
    let path = forge.variables().into_iter().find(|(name, _)| name == "PATH").unwrap().1;
    let world = world().env("PATH", path);
    forge.commit("r", &[("deploy/metadata.yaml", METADATA), ("deploy/c.yaml", COMPONENTS)]);
    forge.git("r", &["tag", "v2.1.0"]);
    let url = format!("git+file://{}//deploy/c.yaml", forge.repository("r").display());
    world.configure(format!("providers:\n- name: lab\n  type: InfrastructureProvider\n  url: {url}\n"));
    let first = world.run(GENERATE);
    assert!(first.status == 0 && first.stdout.contains("capa-system"), "{first}");
    forge.commit("r", &[("deploy/note", "moved")]);
    forge.git("r", &["tag", "--force", "v2.1.0"]);
    let second = world.run(GENERATE);
    assert!(second.status == 0 && second.stderr.contains("the tag `v2.1.0`"), "{second}");
    let missing = world.run(["generate", "provider", "-i", "lab:v3.0.0"]);
    assert!(missing.status == 1 && missing.stderr.contains("the newest releases are `v2.1.0`"), "{missing}");
}
