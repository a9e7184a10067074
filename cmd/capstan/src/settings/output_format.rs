use serde::Serialize;

use crate::{Failure, ui::clean};

/// The forms a result can be printed in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OutputFormat {
    /// For people; the peer's text where the peer prints.
    Text,
    /// For scripts.
    Yaml,
    /// For scripts.
    Json,
}

impl OutputFormat {
    /// Reads the value of `--output`.
    /// # Errors
    /// Names the forms there are.
    pub(crate) fn parse(text: &str) -> Result<Self, Failure> {
        match text {
            "text" => Ok(Self::Text),
            "yaml" => Ok(Self::Yaml),
            "json" => Ok(Self::Json),
            other => Err(Failure::user(format!("invalid output format `{other}`"))
                .hint("take one of text, yaml, json with `--output`")),
        }
    }

    /// Prints a result in this form; `text` makes the one for people, in which control characters of foreign text are
    /// escaped. All end in a newline.
    pub(crate) fn render<T: Serialize>(
        self,
        result: &T,
        text: impl FnOnce(&T) -> String,
    ) -> Result<String, Failure> {
        match self {
            Self::Text => Ok(clean(&text(result)).into_owned()),
            Self::Yaml => to_yaml(result),
            Self::Json => to_json(result),
        }
    }
}

/// Prints a result as json, indented by two.
pub(crate) fn to_json(result: &impl Serialize) -> Result<String, Failure> {
    Ok(format!("{}\n", serde_json::to_string_pretty(result)?))
}

/// Prints a result as yaml, keys in order.
pub(crate) fn to_yaml(result: &impl Serialize) -> Result<String, Failure> {
    Ok(manifest::yaml::write(&serde_json::to_value(result)?))
}
