//! Journeys of a user through the built binary.

mod corpus;
mod first_cluster;
mod hosts;

use std::path::PathBuf;

use support::binary::World;

fn world() -> World {
    World::new(env!("CARGO_BIN_EXE_capstan"))
}

/// A path from the root of the project.
fn project(path: &str) -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join(path)
}
