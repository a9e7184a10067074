//! Archives of files.

use std::io::{Cursor, Read};

use flate2::read::MultiGzDecoder;
use tar::Archive;

/// The maximum size of all files of an archive.
const MAX_BYTES: u64 = 256 << 20;
/// The first bytes of a gzipped file, and of a zip archive.
const GZIP: [u8; 2] = [0x1f, 0x8b];
const ZIP: [u8; 4] = *b"PK\x03\x04";

/// Reads the files of a tar archive, gzipped or not. Links are left out.
pub(super) fn unpack(bytes: &[u8]) -> Result<Vec<(String, Vec<u8>)>, String> {
    if bytes.starts_with(&ZIP) {
        return Err("zip archives cannot be unpacked; name a tar archive, or set `unpack: false`".to_owned());
    }
    let reader: Box<dyn Read + '_> = if bytes.starts_with(&GZIP) {
        Box::new(MultiGzDecoder::new(Cursor::new(bytes)))
    } else {
        Box::new(Cursor::new(bytes))
    };
    // The headers count too, so that an archive without content cannot be endless.
    let mut archive = Archive::new(reader.take(2 * MAX_BYTES));
    let failed = |error: std::io::Error| format!("the content is not a tar archive: {error}");
    let (mut files, mut total) = (Vec::new(), 0);
    for entry in archive.entries().map_err(failed)? {
        let mut entry = entry.map_err(failed)?;
        if !entry.header().entry_type().is_file() {
            continue;
        }
        total += entry.size();
        if total > MAX_BYTES {
            return Err(format!("the archive has more than {} MiB", MAX_BYTES >> 20));
        }
        let path = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
        let mut content = Vec::new();
        entry.read_to_end(&mut content).map_err(failed)?;
        files.push((path, content));
    }
    Ok(files)
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use flate2::Compression;
    use flate2::write::GzEncoder;

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
        assert!(unpack(b"no archive at all").unwrap_err().starts_with("the content is not a tar archive: "));
    }

    // Row: D-453
    #[test]
    fn zip_archives_are_refused() {
        let reason = unpack(b"PK\x03\x04...").unwrap_err();
        assert_eq!(reason, "zip archives cannot be unpacked; name a tar archive, or set `unpack: false`");
    }
}
