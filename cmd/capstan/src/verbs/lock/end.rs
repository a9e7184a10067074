use std::{fs, path::Path};

use api::output::LockChange;
use repository::Lock as Locked;

use super::gather::Found;
use crate::{
    Failure, Within as _,
    failure::Kind,
    session::Session,
    ui::{count_of, write_file_atomically},
};

const LOCK_MODE: u32 = 0o644;

/// Fails when anything is not as it is locked, or could not be looked at.
pub(super) fn checked(
    found: &[Found],
    unknown: usize,
    path: &Path,
    session: &Session,
) -> Result<(), Failure> {
    let changed: Vec<&str> =
        found.iter().filter(|it| !it.changes.is_empty()).map(|it| it.label.as_str()).collect();
    if changed.is_empty() && unknown > 0 {
        let images = if unknown == 1 { "one image".to_owned() } else { format!("{unknown} images") };
        return Err(Failure::new(Kind::Environment, format!("the digest of {images} could not be checked"))
            .hint("all else is as it is locked; without `--digests` no registry is asked"));
    }
    if changed.is_empty() {
        session.messages().status(format!("everything is as it is locked in `{}`", path.display()));
        return Ok(());
    }
    let message = format!("{} not as locked in `{}`", several(changed.len()), path.display());
    Err(accept(Failure::new(Kind::Conflict, message), &changed))
}

/// What was reviewed stays as it is unless it is named; what is new may join it.
pub(super) fn refuse_changes(found: &[Found]) -> Result<(), Failure> {
    let is_change = |it: &LockChange| !it.is_addition() && it.is_about_content();
    let changed: Vec<&str> = found
        .iter()
        .filter(|found| !found.is_anew && found.changes.iter().any(is_change))
        .map(|found| found.label.as_str())
        .collect();
    if changed.is_empty() {
        return Ok(());
    }
    let message = format!("{} no longer what was locked, nothing was written", several(changed.len()));
    Err(accept(Failure::new(Kind::Conflict, message), &changed))
}

fn several(count: usize) -> String {
    if count == 1 { "1 provider is".to_owned() } else { format!("{count} providers are") }
}

fn accept(failure: Failure, labels: &[&str]) -> Failure {
    failure.hint(format!(
        "look at what changed; where it is as it should be, accept it with `capstan lock --update {}`",
        labels.join(",")
    ))
}

pub(super) fn write(lock: &Locked, path: &Path, session: &Session) -> Result<(), Failure> {
    let text = lock.to_string();
    if fs::read(path).is_ok_and(|old| old == text.as_bytes()) {
        session.done(format!("nothing changed in `{}`", path.display()));
        return Ok(());
    }
    write_file_atomically(path, text.as_bytes(), LOCK_MODE).within(|| "cannot write the lock".to_owned())?;
    session.done(format!("locked {} in `{}`", count_of(lock.providers.len(), "provider"), path.display()));
    Ok(())
}
