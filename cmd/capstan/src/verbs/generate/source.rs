use provider::TemplateText;

use crate::{Failure, Within as _, session::Session};

/// What stands for standard input.
const STDIN: &str = "-";

/// Reads a template from `-`, a path, a `file://` or `https://` url.
/// Source: clusterctl v1.14 client/cluster/template.go (GetFromURL).
pub(super) fn read(from: &str, session: &mut Session) -> Result<TemplateText, Failure> {
    if from == STDIN {
        let bytes = session.read_stdin()?;
        return Ok(TemplateText::new("<stdin>", &bytes)?);
    }
    let context = session.repositories()?;
    let path = match from.split_once("://") {
        None => Some(from),
        Some(("file", path)) => Some(path),
        Some(_) => None,
    };
    let file = match path {
        Some(path) => {
            repository::read_file(&context, &session.environment().resolve(path)).map_err(Failure::from)
        }
        None => session.block_on(repository::fetch_template(&context, from)),
    };
    let file = file.within(|| format!("cannot read the template `{}`", repository::shown_text(from)))?;
    Ok(TemplateText::new(file.origin.to_string(), &file.bytes)?)
}
