use serde::Serialize;

use crate::{Failure, ui::sanitize};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OutputFormat {
    /// Text for people. The same text as clusterctl, if clusterctl prints any.
    Text,
    Yaml,
    Json,
}

impl OutputFormat {
    /// Parses the value of `--output`.
    pub(crate) fn parse(text: &str) -> Result<Self, Failure> {
        match text {
            "text" => Ok(Self::Text),
            "yaml" => Ok(Self::Yaml),
            "json" => Ok(Self::Json),
            other => Err(Failure::user(format!("invalid output format `{other}`"))
                .hint("use `--output` with text, yaml or json")),
        }
    }

    /// Formats a result with a final newline. `text` builds the form for people, in which control characters are
    /// escaped.
    pub(crate) fn render<T: Serialize>(
        self,
        result: &T,
        text: impl FnOnce(&T) -> String,
    ) -> Result<String, Failure> {
        match self {
            Self::Text => Ok(sanitize(&text(result)).into_owned()),
            Self::Yaml => to_yaml(result),
            Self::Json => to_json(result),
        }
    }
}

/// The flag of verbs that print a result for people or for scripts.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct OutputFlag {
    /// Output format: text, json or yaml
    #[arg(short, long, value_name = "FORMAT", default_value = "text")]
    output: String,
}

impl OutputFlag {
    pub(crate) fn format(&self) -> Result<OutputFormat, Failure> {
        OutputFormat::parse(&self.output)
    }
}

pub(crate) fn to_json(result: &impl Serialize) -> Result<String, Failure> {
    Ok(format!("{}\n", serde_json::to_string_pretty(result)?))
}

pub(crate) fn to_yaml(result: &impl Serialize) -> Result<String, Failure> {
    Ok(manifest::yaml::write(&serde_json::to_value(result)?))
}
