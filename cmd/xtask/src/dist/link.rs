//! The linker of a release: the usual one, told which functions to put side by side.
//!
//! A command executes a few hundred kilobytes of the program, spread over all of it. The system maps 64 KiB around each
//! place, so that a command occupies ten times the memory that it needs. A list of the functions that usual commands
//! execute lets the linker put these functions together (ADR 0028).

use std::{
    collections::BTreeMap,
    env,
    ffi::{OsStr, OsString},
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context as _, Result, bail};
use object::{Object as _, ObjectSymbol as _, SymbolKind, read::archive::ArchiveFile};
use transport::Digest;

use crate::workspace;

/// The variable that makes this program the linker. Its value is the path of the list of functions.
pub(super) const LIST: &str = "CAPSTAN_LINKED_FUNCTIONS";
/// The digits of a digest in the list.
const DIGITS: usize = 12;
/// The start of the argument that the link of a release has. A build also links build scripts and macros.
pub(super) const MARK: &str = "--functions=";
/// The variable with the linker that this program starts.
pub(super) const LINKER: &str = "CAPSTAN_LINKER";
pub(super) const DEFAULT_LINKER: &str = "cc";
/// The variable with the folder of `ld.lld`, which the linker starts.
pub(super) const LLD_FOLDER: &str = "CAPSTAN_LLD_FOLDER";

/// Links with the arguments of this process, if it was started as the linker. Returns false if linking failed.
///
/// # Errors
/// Fails if the list or a file to be linked cannot be read, and if half of the list is missing.
pub(crate) fn link() -> Option<Result<bool>> {
    workspace::variable(LIST).map(|list| run(Path::new(&list)))
}

fn run(list: &Path) -> Result<bool> {
    let (marks, arguments): (Vec<OsString>, Vec<OsString>) =
        env::args_os().skip(1).partition(|argument| argument.to_string_lossy().starts_with(MARK));
    let program = workspace::variable(LINKER).unwrap_or_else(|| DEFAULT_LINKER.into());
    let mut linker = Command::new(&program);
    linker.args(&arguments);
    if !marks.is_empty() {
        let list = fs::read_to_string(list).with_context(|| format!("cannot read `{}`", list.display()))?;
        let symbols = listed_symbols(&list, &inputs(&arguments)?)?;
        let order = output(&arguments).context("the link has no output")?.with_extension("order");
        fs::write(&order, symbols.join("\n"))
            .with_context(|| format!("cannot write `{}`", order.display()))?;
        let option = |start: &str, path: &OsStr| {
            let mut option = OsString::from(start);
            option.push(path);
            option
        };
        linker
            .args(["-fuse-ld=lld", "-Wl,--no-warn-symbol-ordering"])
            .arg(option("-B", &workspace::variable(LLD_FOLDER).unwrap_or_default()))
            .arg(option("-Wl,--symbol-ordering-file=", order.as_os_str()));
    }
    let failed = || format!("cannot start `{}`", program.display());
    Ok(linker.status().with_context(failed)?.success())
}

fn output(arguments: &[OsString]) -> Option<PathBuf> {
    arguments.iter().skip_while(|argument| *argument != "-o").nth(1).map(PathBuf::from)
}

/// Returns the object files and archives among the arguments.
fn inputs(arguments: &[OsString]) -> Result<Vec<PathBuf>> {
    let mut inputs = Vec::new();
    for argument in arguments {
        match argument.to_str().and_then(|argument| argument.strip_prefix('@')) {
            Some(file) => {
                let arguments = fs::read_to_string(file).with_context(|| format!("cannot read `{file}`"))?;
                inputs.extend(arguments.lines().map(PathBuf::from));
            }
            None => inputs.push(PathBuf::from(argument)),
        }
    }
    let extensions = ["o", "a", "rlib"].map(OsStr::new);
    inputs.retain(|path| path.extension().is_some_and(|extension| extensions.contains(&extension)));
    // Options such as `-Wl,path.a` only have C code.
    inputs.retain(|path| !path.as_os_str().as_encoded_bytes().starts_with(b"-"));
    Ok(inputs)
}

/// Returns the symbols of the listed functions, in the order of the list.
fn listed_symbols(list: &str, inputs: &[PathBuf]) -> Result<Vec<String>> {
    let mut symbols: BTreeMap<&str, Vec<String>> = list.lines().map(|digest| (digest, Vec::new())).collect();
    for path in inputs {
        let failed = || format!("cannot read `{}`", path.display());
        let bytes = fs::read(path).with_context(failed)?;
        let Ok(archive) = ArchiveFile::parse(&*bytes) else {
            add_symbols(&bytes, &mut symbols).with_context(failed)?;
            continue;
        };
        for member in archive.members() {
            let member = member.with_context(failed)?;
            // Archives of rustc also have a file with metadata, which is no object file.
            let _ = add_symbols(member.data(&*bytes).with_context(failed)?, &mut symbols);
        }
    }
    let (found, listed) = (symbols.values().filter(|symbols| !symbols.is_empty()).count(), symbols.len());
    if found * 2 < listed {
        bail!(
            "the program has {found} of the {listed} functions of the list; run `cargo xtask dist --list-functions`"
        );
    }
    Ok(list.lines().filter_map(|digest| symbols.remove(digest)).flatten().collect())
}

fn add_symbols(file: &[u8], symbols: &mut BTreeMap<&str, Vec<String>>) -> Result<()> {
    for symbol in object::File::parse(file)?.symbols() {
        if symbol.kind() == SymbolKind::Text
            && symbol.is_definition()
            && let Some(symbols) = symbols.get_mut(&*digest(symbol.name()?))
        {
            symbols.push(symbol.name()?.to_owned());
        }
    }
    Ok(())
}

/// Returns the first digits of the digest of the name of a function in the sources. In contrast to the symbol, the name is
/// the same in each build.
pub(super) fn digest(symbol: &str) -> String {
    let name =
        rustc_demangle::try_demangle(symbol).map_or_else(|_| symbol.to_owned(), |name| format!("{name:#}"));
    Digest::of(name.as_bytes()).hex().chars().take(DIGITS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arguments(line: &str) -> Vec<OsString> {
        line.split(' ').map(OsString::from).collect()
    }

    #[test]
    fn object_files_and_archives_are_also_read_from_a_response_file() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("arguments");
        fs::write(&file, "-lc\nb.rlib\nc.so\n-Wl,d.a\n").unwrap();
        let mut line = arguments("a.o -lz");
        line.push(format!("@{}", file.display()).into());
        assert_eq!(inputs(&line).unwrap(), ["a.o", "b.rlib"].map(PathBuf::from));
    }

    #[test]
    fn the_name_of_a_function_does_not_depend_on_the_build() {
        let one = digest("_RNvCsdyuU7wMRrkk_1a4main");
        assert_eq!(one, digest("_RNvCs1234_1a4main"));
        assert_ne!(one, digest("_RNvCs1234_1a5other"));
        assert_eq!(one.len(), 12);
    }
}
