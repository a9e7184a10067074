//! What is said at the end of the tour.

use std::path::{Path, PathBuf};

use super::tour::Tour;
use crate::{Environment, program::Program, session::Session};

/// What to type next, and how to remove it all.
pub(super) fn closing(tour: &Tour, session: &Session) -> String {
    let (program, environment) = (session.program(), session.environment());
    let executable = std::env::current_exe().ok();
    let folder = executable.and_then(|path| folder_to_add(&path, program, environment));
    let path = folder.map(|folder| format!("export PATH=\"{}:$PATH\"", folder.display()));
    let next = tour.next.iter().map(|command| command.typed(program, environment.home()));
    let lines: Vec<String> = path.into_iter().chain(next).map(|line| format!("  {line}")).collect();
    format!(
        "# Both management clusters go on running. Look around:\n{}\n\n# Remove all of it:\n  {} quickstart --remove\n",
        lines.join("\n"),
        program.name()
    )
}

/// The folder of the program, when a shell does not find it there: a newcomer has just built it.
fn folder_to_add(executable: &Path, program: Program, environment: &Environment) -> Option<PathBuf> {
    let folder = executable.parent()?;
    let is_named_so = executable.file_stem()? == program.name();
    let mut found = environment.get("PATH").map(std::env::split_paths).into_iter().flatten();
    let is_found = found.any(|on_path| {
        // Also through a link.
        on_path == folder || on_path.join(program.name()).canonicalize().is_ok_and(|path| path == executable)
    });
    (is_named_so && !is_found).then(|| folder.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_of_the_program_is_told_unless_a_shell_finds_it_there() {
        let told = |path: &str, program| {
            let environment = Environment::new([("PATH", path)], "/");
            folder_to_add(Path::new("/src/target/release/capstan"), program, &environment)
        };
        assert_eq!(told("/bin:/usr/bin", Program::Capstan), Some("/src/target/release".into()));
        assert_eq!(told("/bin:/src/target/release", Program::Capstan), None);
        assert_eq!(told("/bin", Program::Clusterctl), None);
    }

    #[cfg(unix)]
    #[test]
    fn a_program_that_a_shell_finds_through_a_link_needs_no_path() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        let executable = root.join("target/capstan");
        for folder in ["target", "bin"] {
            std::fs::create_dir(root.join(folder)).unwrap();
        }
        std::fs::write(&executable, "").unwrap();
        std::os::unix::fs::symlink(&executable, root.join("bin/capstan")).unwrap();
        let environment = Environment::new([("PATH", root.join("bin"))], "/");
        assert_eq!(folder_to_add(&executable, Program::Capstan, &environment), None);
    }
}
