use chart::Values;
use manifest::provenance::Trace;
use repository::RepositoryContext;

use crate::{Failure, WithContext as _, session::Session, settings::CHART_VALUES};

/// A character that no argument contains, so that clap does not split these flags at commas.
const NO_DELIMITER: char = '\0';

/// Flags that set values, in Helm's grammar.
#[derive(clap::Args)]
pub(super) struct ValueFlags {
    /// YAML file with values, or `-` for standard input; may be repeated, later files win
    #[arg(short = 'f', long, value_name = "FILE,…", help_heading = CHART_VALUES)]
    values: Vec<String>,

    /// Set values: `a.b=1,list[0]=x`; may be repeated
    #[arg(long, value_name = "NAME=VALUE,…", value_delimiter = NO_DELIMITER, help_heading = CHART_VALUES)]
    set: Vec<String>,

    /// Set strings: as --set, but numbers and booleans stay text
    #[arg(long, value_name = "NAME=TEXT,…", value_delimiter = NO_DELIMITER, help_heading = CHART_VALUES)]
    set_string: Vec<String>,

    /// Set values from JSON: `a.b={"c":[1]}`
    #[arg(long, value_name = "NAME=JSON,…", value_delimiter = NO_DELIMITER, help_heading = CHART_VALUES)]
    set_json: Vec<String>,

    /// Set strings from files
    #[arg(long, value_name = "NAME=FILE,…", value_delimiter = NO_DELIMITER, help_heading = CHART_VALUES)]
    set_file: Vec<String>,

    /// Set a string in which commas, braces and backslashes have no meaning
    #[arg(long, value_name = "NAME=TEXT", value_delimiter = NO_DELIMITER, help_heading = CHART_VALUES)]
    set_literal: Vec<String>,
}

impl ValueFlags {
    /// Reads the values in Helm's order: files, JSON, --set, strings, files of strings, literals.
    pub(super) fn read(&self, trace: Trace, session: &mut Session) -> Result<Values, Failure> {
        let mut values = if trace == Trace::On { Values::traced() } else { Values::default() };
        for file in self.values.iter().filter(|file| !file.is_empty()) {
            let text = read_file(file, session)?;
            values.merge_file(file, &text)?;
        }
        for text in &self.set_json {
            values.set_json(text).with_context(|| context("--set-json", text))?;
        }
        for text in &self.set {
            values.set(text).with_context(|| context("--set", text))?;
        }
        for text in &self.set_string {
            values.set_string(text).with_context(|| context("--set-string", text))?;
        }
        for text in &self.set_file {
            let mut read = |file: &str| read_file(file, session).map_err(|failure| failure.one_line());
            values.set_file(text, &mut read).with_context(|| context("--set-file", text))?;
        }
        for text in &self.set_literal {
            values.set_literal(text).with_context(|| context("--set-literal", text))?;
        }
        Ok(values)
    }
}

/// Returns the context of an error, without the value, which may be secret.
fn context(flag: &str, text: &str) -> String {
    let name = text.split('=').next().unwrap_or_default();
    format!("cannot read `{flag} {name}=…`")
}

fn read_file(file: &str, session: &mut Session) -> Result<Vec<u8>, Failure> {
    if file.trim() == "-" {
        return session.read_stdin();
    }
    if file.contains("://") {
        return Err(Failure::user(format!("cannot read values from `{file}`: URLs are not supported"))
            .hint(format!("download the file first: `curl -fLO {file}`")));
    }
    let path = session.environment().resolve(file);
    Ok(repository::read_file(&RepositoryContext::default(), &path)?.bytes.into())
}
