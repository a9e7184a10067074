//! Archives of files.

use std::collections::BTreeSet;
use std::io::{Cursor, Read};
use std::path::{Component, Path, PathBuf};

use flate2::read::MultiGzDecoder;
use memchr::memmem;
use tar::Archive;
use zip::ZipArchive;

/// The maximum size of all files of an archive.
const MAX_BYTES: u64 = 256 << 20;
/// The maximum number of entries of a zip archive. Each one uses several times its bytes in memory.
const MAX_ZIP_ENTRIES: usize = 100_000;
/// The first bytes of a gzipped file.
const GZIP: [u8; 2] = [0x1f, 0x8b];
/// The first bytes of a zip archive with files, and of one without.
const ZIP: [[u8; 4]; 2] = [*b"PK\x03\x04", *b"PK\x05\x06"];
/// The first bytes of an entry in the directory of a zip archive.
const ZIP_ENTRY: [u8; 4] = *b"PK\x01\x02";

/// Files by their paths.
type Files = Vec<(String, Vec<u8>)>;

/// Reads the files of a zip archive, or of a tar archive, gzipped or not. Links are left out.
pub(super) fn unpack(bytes: &[u8]) -> Result<Files, String> {
    if ZIP.iter().any(|start| bytes.starts_with(start)) {
        unpack_zip(bytes, MAX_BYTES)
    } else {
        unpack_tar(bytes)
    }
}

fn unpack_tar(bytes: &[u8]) -> Result<Files, String> {
    let reader: Box<dyn Read + '_> = if bytes.starts_with(&GZIP) {
        Box::new(MultiGzDecoder::new(Cursor::new(bytes)))
    } else {
        Box::new(Cursor::new(bytes))
    };
    // The headers count too, so that an archive without content cannot be endless.
    let mut archive = Archive::new(reader.take(2 * MAX_BYTES));
    let failed = |error| format!("the content is not a tar archive: {}", api::tar_error(error));
    let (mut files, mut total) = (Vec::new(), 0);
    for entry in archive.entries().map_err(failed)? {
        let mut entry = entry.map_err(failed)?;
        if !entry.header().entry_type().is_file() {
            continue;
        }
        total += entry.size();
        if total > MAX_BYTES {
            return Err(too_large());
        }
        let path = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
        plain_path(&path)?;
        let mut content = Vec::new();
        entry.read_to_end(&mut content).map_err(failed)?;
        files.push((path, content));
    }
    Ok(files)
}

fn unpack_zip(bytes: &[u8], max_bytes: u64) -> Result<Files, String> {
    if memmem::find_iter(bytes, &ZIP_ENTRY).nth(MAX_ZIP_ENTRIES).is_some() {
        return Err(format!("the archive has more than {MAX_ZIP_ENTRIES} files"));
    }
    let mut archive = ZipArchive::new(Cursor::new(bytes))
        .map_err(|error| format!("the content is not a complete zip archive: {error}"))?;
    if archive.has_duplicate_names() {
        return Err("the archive has two files of the same name".to_owned());
    }
    let (mut files, mut paths, mut room) = (Vec::new(), BTreeSet::new(), max_bytes);
    for index in 0..archive.len() {
        let entry = archive.by_index_data(index).map_err(|error| error.to_string())?;
        let path = entry.name().map_err(|error| error.to_string())?.into_owned();
        let failed = |error: &dyn std::error::Error| format!("cannot unpack `{path}`: {error}");
        if !entry.is_file() {
            continue;
        }
        if entry.encrypted() {
            return Err(format!("`{path}` is encrypted"));
        }
        if !paths.insert(plain_path(&path)?) {
            return Err("the archive has two files of the same name".to_owned());
        }
        let mut content = Vec::new();
        let mut reader = archive.by_index(index).map_err(|error| failed(&error))?.take(room + 1);
        let length = reader.read_to_end(&mut content).map_err(|error| failed(&error))?;
        // The sizes in the directory may be wrong.
        room = room.checked_sub(length as u64).ok_or_else(too_large)?;
        files.push((path, content));
    }
    let is_folder = |path: &&PathBuf| path.ancestors().skip(1).any(|folder| paths.contains(folder));
    match paths.iter().find(is_folder) {
        Some(path) => Err(format!("the folder of `{}` is also a file", path.display())),
        None => Ok(files),
    }
}

fn too_large() -> String {
    format!("it has more than {} MiB", MAX_BYTES >> 20)
}

/// Returns the path of a file without a leading `.`.
///
/// # Errors
/// A path that is not inside of the folder of the archive.
fn plain_path(path: &str) -> Result<PathBuf, String> {
    let parts = || Path::new(path).components();
    let inside = |part| matches!(part, Component::Normal(_) | Component::CurDir);
    let plain: PathBuf = parts().filter(|part| *part != Component::CurDir).collect();
    if parts().all(inside) && plain.file_name().is_some() && !path.contains('\0') {
        Ok(plain)
    } else {
        Err(format!("the archive has the path {path:?}, which is not inside of its folder"))
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use flate2::Compression;
    use flate2::write::GzEncoder;
    use zip::ZipWriter;
    use zip::write::SimpleFileOptions;

    use super::*;

    #[test]
    fn archives_are_read_with_and_without_compression() {
        let mut archive = tar::Builder::new(Vec::new());
        let mut header = tar::Header::new_ustar();
        header.set_size(1);
        header.set_mode(0o644);
        archive.append_data(&mut header, "a/b.yaml", &b"x"[..]).unwrap();
        let packed = archive.into_inner().unwrap();
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(&packed).unwrap();
        let expected = [("a/b.yaml".to_owned(), b"x".to_vec())];
        assert_eq!(unpack(&packed).unwrap(), expected);
        assert_eq!(unpack(&encoder.finish().unwrap()).unwrap(), expected);
        for text in [b"no archive at all".to_vec(), b"password: hunter2 ".repeat(40)] {
            let reason = unpack(&text).unwrap_err();
            assert_eq!(reason, "the content is not a tar archive: the header of an entry is invalid");
        }
    }

    /// Packs files with the given modes.
    fn zip(files: &[(&str, u32, &[u8])]) -> Vec<u8> {
        let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
        for (path, mode, content) in files {
            let options = SimpleFileOptions::default().unix_permissions(*mode);
            if path.ends_with('/') {
                writer.add_directory(*path, options).unwrap();
            } else if *mode == 0o777 {
                writer.add_symlink(*path, "../../etc/passwd", options).unwrap();
            } else {
                writer.start_file(*path, options).unwrap();
                writer.write_all(content).unwrap();
            }
        }
        writer.finish().unwrap().into_inner()
    }

    #[test]
    fn zip_archives_are_read() {
        let script = b"echo ".repeat(1_000);
        let packed = zip(&[
            ("a/", 0o755, b""),
            ("a/b.yaml", 0o644, b"x"),
            ("./run", 0o755, &script),
            ("link", 0o777, b""),
        ]);
        assert!(packed.len() < 1_000, "the script is compressed");
        assert_eq!(
            unpack(&packed).unwrap(),
            [("a/b.yaml".to_owned(), b"x".to_vec()), ("./run".to_owned(), script)]
        );
        assert_eq!(unpack(&zip(&[])).unwrap(), []);
    }

    // Row: D-453
    #[test]
    fn hostile_archives_are_refused() {
        let refused = |packed: &[u8]| unpack(packed).unwrap_err();
        for path in ["../x", "a/../../x", "/etc/x", ".", "a\0b"] {
            let expected = format!("the archive has the path {path:?}, which is not inside of its folder");
            assert_eq!(refused(&zip(&[("ok", 0o644, b"x"), (path, 0o644, b"x")])), expected);
        }
        let twice = "the archive has two files of the same name";
        assert_eq!(refused(&zip(&[("a", 0o644, b"x"), ("./a", 0o644, b"y")])), twice);
        let mut same = zip(&[("same", 0o644, b"x"), ("sane", 0o644, b"y")]);
        for at in memmem::find_iter(&same.clone(), b"sane") {
            same[at..at + 4].copy_from_slice(b"same");
        }
        assert_eq!(refused(&same), twice);
        let both = zip(&[("a/b/c", 0o644, b"x"), ("a/b", 0o644, b"y")]);
        assert_eq!(refused(&both), "the folder of `a/b/c` is also a file");

        let packed = zip(&[("a", 0o644, b"content")]);
        for length in 4..packed.len() {
            refused(&packed[..length]);
        }
        let entry = memmem::find(&packed, &ZIP_ENTRY).unwrap();
        let changed = |offset: usize| {
            let mut changed = packed.clone();
            changed[entry + offset] ^= 1;
            refused(&changed)
        };
        assert_eq!(changed(8), "`a` is encrypted");
        assert_eq!(changed(16), "cannot unpack `a`: Invalid checksum");
        let many = ZIP_ENTRY.repeat(MAX_ZIP_ENTRIES + 1);
        assert_eq!(refused(&[packed, many].concat()), "the archive has more than 100000 files");
    }

    #[test]
    fn small_archives_with_large_files_are_refused() {
        let zeros = vec![0; 5_000];
        let large = zip(&[("a", 0o644, &zeros), ("b", 0o644, &zeros), ("c", 0o644, b"x")]);
        assert_eq!(unpack_zip(&large, 10_001).unwrap().len(), 3);
        assert_eq!(unpack_zip(&large, 10_000).unwrap_err(), "it has more than 256 MiB");
    }
}
