use std::{error::Error, io};

use sandbox::{ListenError, OpenError, StartError};

use super::rules::as_error;

pub(super) fn hints(error: &(dyn Error + 'static)) -> Vec<String> {
    let listen = as_error(error).map(|error| match error {
        ListenError::Bind { source, .. } if source.kind() == io::ErrorKind::PermissionDenied => {
            Some("take a port above 1023 with `--port`, or leave it out to get one that is free")
        }
        ListenError::Bind { .. } => {
            Some("take another port with `--port`, or leave it out to get one that is free")
        }
        ListenError::Identity(_) => None,
    });
    let open = as_error(error).map(|error| match error {
        OpenError::InUse { .. } => {
            Some("stop the sandbox that uses it, or name another folder with `--data-dir`")
        }
        OpenError::Io { .. } => Some(OTHER_PLACE),
        // These say themselves what to do.
        OpenError::Foreign { .. } | OpenError::UnknownFormat { .. } | OpenError::Damaged { .. } => None,
    });
    let start = as_error(error).map(|error| match error {
        StartError::Bootstrap(_) => Some(OTHER_PLACE),
        StartError::Open(_) | StartError::Runtime(_) => None,
    });
    listen.or(open).or(start).flatten().map(str::to_owned).into_iter().collect()
}

const OTHER_PLACE: &str = "name another folder with `--data-dir`, or keep nothing with `--in-memory`";
