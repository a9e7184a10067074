use std::io;

/// Returns the text of an error and of each of its sources, on one line.
pub fn with_causes(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(error.source(), |cause| cause.source());
    causes.fold(error.to_string(), |text, cause| format!("{text}: {cause}"))
}

/// Returns an error of the crate `tar` without the bytes of the archive that its text quotes. They may be the secrets of a file
/// that is no archive.
#[must_use]
pub fn tar_error(error: io::Error) -> io::Error {
    match error.kind() {
        io::ErrorKind::Other => {
            io::Error::new(io::ErrorKind::InvalidData, "the header of an entry is invalid")
        }
        _ => error,
    }
}
