//! The tour of Components: two Components on one sandbox, without a controller.

use super::{
    CommandLine, Tour,
    setup::{SOURCE, TourSetup},
};

const DATABASE: &str = include_str!("components/database.yaml");
const WEB: &str = include_str!("components/web.yaml");
/// The folder of both Components, and the file of the edited one.
const FOLDER: &str = "components";
const EDITED: &str = "edited/web.yaml";

impl Tour {
    /// Returns a tour that applies two Components, edits one, lists and deletes them.
    pub(super) fn of_components(setup: &TourSetup) -> Self {
        let (folder, edited) = (setup.path_of(FOLDER), setup.path_of(EDITED));
        let on_sandbox = |line: &str, files: &str| {
            CommandLine::new(line, &["-f", files, "--sandbox", SOURCE].map(str::to_owned))
        };
        let list = || CommandLine::new(&format!("capstan component list --sandbox {SOURCE}"), &[]);
        let steps = vec![
            (
                "Start a Kubernetes API server on this machine",
                CommandLine::new(&format!("capstan sandbox start {SOURCE}"), &[]),
            ),
            (
                "Apply two Components: a database, and a web server that depends on it",
                on_sandbox("capstan component apply", &folder),
            ),
            ("List the Components", list()),
            (
                "Edit one: the new file has 3 replicas. Show what would change",
                on_sandbox("capstan component diff", &edited),
            ),
            ("Apply the change", on_sandbox("capstan component apply", &edited)),
            (
                "Show the objects of a Component",
                CommandLine::new(&format!("capstan component status web -n shop --sandbox {SOURCE}"), &[]),
            ),
            ("Delete both, the dependent one first", on_sandbox("capstan component delete", &folder)),
            ("No Component is left", list()),
        ];
        let files = vec![
            (format!("{FOLDER}/database.yaml"), DATABASE.to_owned()),
            (format!("{FOLDER}/web.yaml"), WEB.to_owned()),
            (EDITED.to_owned(), WEB.replace("    replicas: 1\n", "    replicas: 3\n")),
        ];
        let next = vec![
            on_sandbox("capstan component render", &folder),
            CommandLine::new("capstan sandbox start lab --with controller", &[]),
        ];
        Self {
            steps,
            next,
            files,
            closing: "The sandbox keeps running. Explore it, or let a controller do the work:",
        }
    }
}
