//! Explanations of values and files: every source in order of precedence, and the selected one.

use api::output::{ExplainedPlace, Explanation, PlaceState};

use crate::{
    config::{Config, environment_variable},
    release::{Release, ReleaseError},
};

/// The sources of a template variable. Values are not included, because they may be secrets.
///
/// Shape: environment, configuration file, default of the template. The first source with a value is selected.
pub fn explain_variable(config: &Config, name: &str) -> Explanation {
    let variable = environment_variable(name);
    let in_environment = config.environment().get(&variable).is_some();
    let in_file = config.file_setting(name).is_some();
    let mut places = vec![ExplainedPlace {
        note: (variable != name)
            .then(|| format!("environment variables are upper case; capstan does not read `{name}`")),
        state: place_state(in_environment, false),
        place: format!("environment variable {variable}"),
    }];
    if let Some(origin) = config.origin() {
        places.push(ExplainedPlace {
            place: format!("{origin}, key {name}"),
            state: place_state(in_file, in_environment),
            note: None,
        });
    }
    places.push(ExplainedPlace {
        place: "default in the template".to_owned(),
        state: if in_environment || in_file { PlaceState::Shadowed } else { PlaceState::NotAsked },
        note: Some("`${NAME:=default}`; see --list-variables".to_owned()),
    });
    Explanation { subject: format!("variable {name}"), places }
}

/// The sources of a release file: the override, then the repository, which may need a connection.
///
/// If an override exists, the repository is not queried.
/// # Errors
/// Fails if the version or the file name would lead out of a folder.
pub async fn explain_file(release: &Release<'_>, file: &str) -> Result<Explanation, repository::Error> {
    let mut places = Vec::new();
    let files = release.releases().files();
    let candidate = files.overrides().path(files.label(), release.version(), file)?;
    let found = release.read(file).await;
    let overridden = matches!(&found, Ok(found) if found.source.is_override());
    if let Some(path) = candidate {
        places.push(ExplainedPlace {
            place: path.display().to_string(),
            state: place_state(overridden, false),
            note: Some("override".to_owned()),
        });
    }
    let (place, place_state, note) = match &found {
        Ok(_) if overridden => (files.repository().display_address(), PlaceState::NotAsked, None),
        Ok(found) => (found.source.to_string(), PlaceState::Taken, None),
        Err(ReleaseError::Read { source, .. }) if source.is_not_found() => {
            (files.repository().display_address(), PlaceState::Absent, Some(source.to_string()))
        }
        Err(error) => (files.repository().display_address(), PlaceState::Unreadable, Some(root_cause(error))),
    };
    places.push(ExplainedPlace { place, state: place_state, note });
    let subject = format!("{file} of {} {}", release.provider().id, release.version());
    Ok(Explanation { subject, places })
}

fn root_cause(error: &dyn std::error::Error) -> String {
    std::iter::successors(Some(error), |error| error.source())
        .last()
        .map(ToString::to_string)
        .unwrap_or_default()
}

/// The state of a source, depending on earlier sources.
fn place_state(found: bool, already_taken: bool) -> PlaceState {
    match (found, already_taken) {
        (true, false) => PlaceState::Taken,
        (true, true) => PlaceState::Shadowed,
        (false, _) => PlaceState::Absent,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{ConfigFile, ConfigFormat, Environment};

    fn states(environment: &[(&str, &str)], file: &str) -> Vec<PlaceState> {
        let file = ConfigFile {
            origin: "clusterctl.yaml".to_owned(),
            folder: None,
            format: ConfigFormat::Yaml,
            text: file.to_owned(),
        };
        let environment = Environment::new(environment.iter().copied());
        let config = Config::new(Some(file), environment).unwrap();
        explain_variable(&config, "REGION").places.into_iter().map(|place| place.state).collect()
    }

    #[test]
    fn the_environment_wins_over_the_file_and_the_file_over_the_default() {
        use PlaceState::{Absent, NotAsked, Shadowed, Taken};
        assert_eq!(states(&[("REGION", "")], "REGION: x\n"), [Taken, Shadowed, Shadowed]);
        assert_eq!(states(&[], "region: x\n"), [Absent, Taken, Shadowed]);
        assert_eq!(states(&[("region", "x")], ""), [Absent, Absent, NotAsked]);
    }
}
