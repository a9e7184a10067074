//! Functions on paths, with `/` on every system.
//!
//! Source: Go 1.26 path.

use super::table::Row;
use super::{Arguments as _, Functions};

pub(super) fn add(functions: &mut Functions) {
    super::table::add(functions, ROWS);
}

const ROWS: &[Row] = &[
    ("base", "s", |_, args| Ok(base(&args.utf8(0)).into())),
    ("dir", "s", |_, args| Ok(dir(&args.utf8(0)).into())),
    ("clean", "s", |_, args| Ok(clean(&args.utf8(0)).into())),
    ("ext", "s", |_, args| Ok(ext(&args.utf8(0)).into())),
    ("isAbs", "s", |_, args| Ok(args.text(0).starts_with(b"/").into())),
    ("osBase", "s", |_, args| Ok(base(&args.utf8(0)).into())),
    ("osDir", "s", |_, args| Ok(dir(&args.utf8(0)).into())),
    ("osClean", "s", |_, args| Ok(clean(&args.utf8(0)).into())),
    ("osExt", "s", |_, args| Ok(ext(&args.utf8(0)).into())),
    ("osIsAbs", "s", |_, args| Ok(args.text(0).starts_with(b"/").into())),
];

fn base(path: &str) -> &str {
    if path.is_empty() {
        return ".";
    }
    let trimmed = path.trim_end_matches('/');
    if trimmed.is_empty() { "/" } else { trimmed.rsplit('/').next().unwrap_or(trimmed) }
}

fn dir(path: &str) -> String {
    clean(&path[..path.rfind('/').map_or(0, |at| at + 1)])
}

fn ext(path: &str) -> &str {
    let name = &path[path.rfind('/').map_or(0, |at| at + 1)..];
    name.rfind('.').map_or("", |at| &name[at..])
}

/// Removes empty and `.` parts, and resolves `..` where possible.
fn clean(path: &str) -> String {
    let is_rooted = path.starts_with('/');
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => {
                parts.pop();
            }
            ".." if is_rooted => {}
            _ => parts.push(part),
        }
    }
    let joined = parts.join("/");
    match (is_rooted, joined.is_empty()) {
        (true, _) => format!("/{joined}"),
        (false, true) => ".".to_owned(),
        (false, false) => joined,
    }
}
