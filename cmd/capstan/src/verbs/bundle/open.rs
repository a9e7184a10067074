use repository::Bundle as Archive;

use crate::{Failure, session::Session};

/// What is written in place of a path to read standard input.
const STDIN: &str = "-";

/// Opens a bundle, from standard input where that is asked for.
pub(super) fn open(file: &str, session: &mut Session) -> Result<Archive, Failure> {
    if file == STDIN {
        return Ok(Archive::of_stream(session.stdin(), "standard input")?);
    }
    Ok(Archive::open(&session.environment().resolve(file))?)
}
