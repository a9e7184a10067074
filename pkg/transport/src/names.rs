//! Checks for names that become part of a path or an address. Unsafe names could point elsewhere.

use crate::Error;

/// Checks that a version is a single plain path segment.
pub fn check_version(version: &str) -> Result<(), Error> {
    if is_plain_segment(version) { Ok(()) } else { Err(Error::UnsafeName { name: version.to_owned() }) }
}

/// Checks that a file name is relative and consists of plain segments, without `.` and `..`.
pub fn check_file(file: &str) -> Result<(), Error> {
    if file.split('/').all(is_plain_segment) {
        Ok(())
    } else {
        Err(Error::UnsafeName { name: file.to_owned() })
    }
}

fn is_plain_segment(segment: &str) -> bool {
    // On Windows, a colon would name a drive or an alternate stream.
    let foreign = |c: char| matches!(c, '/' | '\\' | ':') || c.is_control();
    !segment.is_empty() && segment != "." && segment != ".." && !segment.contains(foreign)
}

#[cfg(test)]
mod tests {
    use super::*;

    // Row: D-30
    #[test]
    fn names_outside_their_folder_are_refused() {
        for name in ["../x", "a/../x", "/etc/passwd", "", "a//b", "./x", "a\\b", "C:x", "a\0", "a/"] {
            assert!(check_file(name).is_err(), "{name:?}");
        }
        for name in ["..", ".", "", "a/b", "v1\\..", "v1\n"] {
            assert!(check_version(name).is_err(), "{name:?}");
        }
        assert!(check_file("templates/cluster-template.yaml").is_ok());
        assert!(check_version("v1.2.3-rc.1+build").is_ok());
    }
}
