use std::io;

/// The most bytes of a text of [`shortened`].
const MAX_BYTES: usize = 8 * 1024;
const OMISSION: &str = "…";

/// Returns the text of an error and of each of its sources, on one line.
pub fn with_causes(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(error.source(), |cause| cause.source());
    causes.fold(error.to_string(), |text, cause| format!("{text}: {cause}"))
}

/// Returns a text with at most 8 KiB, for statuses and logs: the start and the end of a longer text, with `…` between them.
#[must_use]
pub fn shortened(text: String) -> String {
    if text.len() <= MAX_BYTES {
        return text;
    }
    let half = (MAX_BYTES - OMISSION.len()) / 2;
    let (start, end) = (text.floor_char_boundary(half), text.ceil_char_boundary(text.len() - half));
    [&text[..start], OMISSION, &text[end..]].concat()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_keeps_its_start_and_its_end() {
        assert_eq!(shortened("é".repeat(MAX_BYTES / 2)), "é".repeat(MAX_BYTES / 2));
        for padding in ["", "a", "ab"] {
            let long = shortened(format!("first {padding}{} last", "é€".repeat(MAX_BYTES)));
            assert!(long.len() <= MAX_BYTES && long.len() > MAX_BYTES - 10, "{}", long.len());
            assert!(
                long.starts_with("first ") && long.ends_with(" last") && long.contains(OMISSION),
                "{long}"
            );
        }
    }
}
