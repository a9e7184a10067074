use std::io::Write as _;

/// Prints a line of a task's result. A closed pipe is not an error.
pub(crate) fn print_line(line: &str) {
    let _ = writeln!(std::io::stdout().lock(), "{line}");
}

/// Prints a line that is not part of the result.
pub(crate) fn print_error_line(line: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{line}");
}
