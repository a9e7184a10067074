use std::io;

use console::Term;

/// Asks for a text that is not shown while it is typed.
/// # Errors
/// When there is no terminal, or it cannot be read.
pub(crate) fn ask_secret(what: &str) -> io::Result<String> {
    let terminal = Term::stderr();
    if !terminal.is_term() {
        return Err(io::Error::new(io::ErrorKind::NotConnected, "there is no terminal"));
    }
    terminal.write_str(&format!("{what}: "))?;
    terminal.read_secure_line()
}
