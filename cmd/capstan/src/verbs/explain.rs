use std::{fmt::Write as _, path::Path};

use api::output::{ExplainedPlace, Explanation, PlaceState};
use provider::{explain_file, explain_variable};

use crate::{
    Failure, WithContext as _,
    session::Session,
    settings::{self, ConfigSource, OutputFlag},
    verbs::provider_flags::OneProvider,
};

/// Show the origin of a value or a file
///
/// Lists every searched location in order, and the one that is used. Values are not shown because they may be secrets.
#[derive(clap::Subcommand)]
#[command(after_help = "Examples:
  {bin} explain variable AWS_REGION
  {bin} explain file metadata.yaml --infrastructure aws:v2.11.1
  {bin} explain config")]
pub(crate) enum Explain {
    Variable(ExplainVariable),
    File(Box<ExplainFile>),
    Config(ExplainConfig),
}

/// Show the origin of a variable's value
#[derive(clap::Args)]
pub(crate) struct ExplainVariable {
    /// Variable name
    #[arg(value_name = "NAME")]
    name: String,

    #[command(flatten)]
    output: OutputFlag,
}

/// Show the origin of a file in a provider release
#[derive(clap::Args)]
pub(crate) struct ExplainFile {
    /// File name, such as metadata.yaml [default: the components file]
    #[arg(value_name = "FILE")]
    file: Option<String>,

    #[command(flatten)]
    provider: OneProvider,

    #[command(flatten)]
    output: OutputFlag,
}

/// Show the configuration file that is used
#[derive(clap::Args)]
pub(crate) struct ExplainConfig {
    #[command(flatten)]
    output: OutputFlag,
}

impl Explain {
    pub(crate) fn run(self, session: &mut Session) -> Result<(), Failure> {
        match self {
            Self::Variable(args) => {
                let config = session.config()?;
                print(&explain_variable(&config, &args.name), &args.output, session)
            }
            Self::File(args) => {
                let explanation = explain_release_file(&args, session)?;
                print(&explanation, &args.output, session)
            }
            Self::Config(args) => print(&explain_config(session), &args.output, session),
        }
    }
}

/// Explains the location of the configuration: the value of `--config` only, or else all folders and extensions.
/// Fetches nothing.
fn explain_config(session: &Session) -> Explanation {
    let flag = session.globals().config.as_deref().filter(|text| !text.is_empty());
    let named = |place, state| {
        let note = Some("set by `--config`, so no other location is searched".to_owned());
        vec![ExplainedPlace { place, state, note }]
    };
    let places = match settings::config_source(flag, session.environment()) {
        ConfigSource::Url(url) => named(transport::address::redact_text(&url), PlaceState::Taken),
        ConfigSource::File(path) if flag.is_some() => named(path.display().to_string(), path_state(&path)),
        ConfigSource::File(_) | ConfigSource::None => {
            let place = |candidate: settings::ConfigCandidate| ExplainedPlace {
                place: candidate.path.display().to_string(),
                state: candidate.state,
                note: None,
            };
            settings::config_candidates(session.environment()).into_iter().map(place).collect()
        }
    };
    Explanation { subject: "configuration file".to_owned(), places }
}

fn path_state(path: &Path) -> PlaceState {
    match path.metadata() {
        Ok(found) if found.is_dir() => PlaceState::Unreadable,
        Ok(_) => PlaceState::Taken,
        Err(_) => PlaceState::Absent,
    }
}

fn explain_release_file(args: &ExplainFile, session: &Session) -> Result<Explanation, Failure> {
    let (id, version) = args.provider.provider_and_version()?;
    let releases = session.provider_releases(&id)?;
    let file = args.file.as_deref().unwrap_or_else(|| releases.repository().components_file());
    session.block_on(async {
        let release = releases.choose_release(version.as_deref()).await?;
        explain_file(&release, file).await.with_context(|| format!("cannot find `{file}`"))
    })
}

fn print(explanation: &Explanation, output: &OutputFlag, session: &mut Session) -> Result<(), Failure> {
    session.print(output.format()?, explanation, |result, _| text(result))
}

fn text(explanation: &Explanation) -> String {
    let mut text = format!("{}\n", explanation.subject);
    for place in &explanation.places {
        let state = match place.state {
            PlaceState::Taken => "used",
            PlaceState::Shadowed => "shadowed",
            PlaceState::Absent => "absent",
            PlaceState::NotAsked => "not checked",
            PlaceState::Unreadable => "unreadable",
        };
        let note = place.note.as_deref().map(|note| format!(" ({note})")).unwrap_or_default();
        let _ = writeln!(text, "  {state:<11} {}{note}", place.place);
    }
    text
}
