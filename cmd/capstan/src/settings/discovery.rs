use std::path::PathBuf;

use api::output::PlaceState;
use provider::config::ConfigFormat;

use super::xdg::config_home;
use crate::Environment;

/// A place where the configuration file may lie.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Candidate {
    /// The file.
    pub(crate) path: PathBuf,
    /// What is there, and whether it is the one that counts.
    pub(crate) state: PlaceState,
}

/// Every place looked at when no `--config` is given, in order.
/// Shape: the folders one after the other, in each the endings one after the other; the first file wins, also one of
/// a format that cannot be read; files are never merged. A folder of a matching name is passed over.
/// Source: clusterctl v1.14 through viper 1.21, run.
pub(crate) fn candidates(environment: &Environment) -> Vec<Candidate> {
    let folders = config_home(environment)
        .map(|folder| folder.join("cluster-api"))
        .into_iter()
        .chain(environment.home().map(|home| home.join(".cluster-api")));
    let paths = folders.flat_map(|folder| {
        ConfigFormat::SEARCHED.iter().map(move |ending| folder.join(format!("clusterctl.{ending}")))
    });
    let mut taken = false;
    paths
        .map(|path| {
            let state = match (path.is_file(), taken) {
                (false, _) => PlaceState::Absent,
                (true, true) => PlaceState::Shadowed,
                (true, false) => PlaceState::Taken,
            };
            taken |= state == PlaceState::Taken;
            Candidate { path, state }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn world(files: &[&str]) -> (tempfile::TempDir, Environment) {
        let home = tempfile::tempdir().unwrap();
        for file in files {
            let path = home.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        let text = home.path().to_str().unwrap().to_owned();
        let environment = Environment::new(
            [("HOME", text.clone()), ("XDG_CONFIG_HOME", format!("{text}/xdg"))],
            home.path(),
        );
        (home, environment)
    }

    fn taken(environment: &Environment) -> Vec<String> {
        let name =
            |candidate: Candidate| candidate.path.iter().next_back().unwrap().to_str().unwrap().to_owned();
        candidates(environment).into_iter().filter(|c| c.state == PlaceState::Taken).map(name).collect()
    }

    #[test]
    fn the_folder_counts_before_the_ending() {
        let (_home, environment) = world(&["xdg/cluster-api/clusterctl.yml", ".cluster-api/clusterctl.json"]);
        assert_eq!(taken(&environment), ["clusterctl.yml"]);
    }

    #[test]
    fn of_two_files_in_one_folder_the_first_ending_wins_and_the_other_is_shadowed() {
        let (_home, environment) =
            world(&["xdg/cluster-api/clusterctl.yaml", "xdg/cluster-api/clusterctl.toml"]);
        assert_eq!(taken(&environment), ["clusterctl.toml"]);
        let shadowed =
            candidates(&environment).into_iter().filter(|c| c.state == PlaceState::Shadowed).count();
        assert_eq!(shadowed, 1);
    }

    #[test]
    fn looking_creates_no_folder() {
        let (home, environment) = world(&[]);
        assert_eq!(taken(&environment), Vec::<String>::new());
        assert_eq!(fs::read_dir(home.path()).unwrap().count(), 0);
    }
}
