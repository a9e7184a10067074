//! Packed layers: tar archives, compressed with gzip.

use std::io::Read as _;

use bytes::Bytes;
use flate2::read::GzDecoder;
use tar::{Archive, EntryType};

/// Unpacks the files in memory.
///
/// `left_bytes` limits the unpacked size. The unpacked size is subtracted from `left_bytes`.
/// # Errors
/// Fails if the archive is invalid or truncated, exceeds the limit, or contains an entry other than a file or folder.
pub(super) fn unpack(packed: &[u8], remaining_bytes: &mut u64) -> Result<Vec<(String, Bytes)>, String> {
    let limit_bytes = *remaining_bytes;
    let too_large = || format!("it exceeds {limit_bytes} bytes, the remaining limit of the package");
    // One byte above the limit, so that an archive of exactly the limit is accepted.
    let mut archive = Archive::new(GzDecoder::new(packed).take(limit_bytes.saturating_add(1)));
    let (mut files, mut total_bytes) = (Vec::new(), 0_u64);
    let failed = |error| api::tar_error(error).to_string();
    for entry in archive.entries().map_err(failed)? {
        let mut entry = entry.map_err(failed)?;
        let path = String::from_utf8(entry.path_bytes().into_owned())
            .map_err(|_| "it contains a name that is not UTF-8".to_owned())?;
        match entry.header().entry_type() {
            EntryType::Directory | EntryType::XGlobalHeader => continue,
            EntryType::Regular | EntryType::Continuous => {}
            other => return Err(format!("`{path}` is a {other:?}, not a regular file").to_lowercase()),
        }
        total_bytes = total_bytes.saturating_add(entry.size());
        if total_bytes > limit_bytes {
            return Err(too_large());
        }
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes).map_err(failed)?;
        if bytes.len() as u64 != entry.size() {
            return Err(if total_bytes > limit_bytes { too_large() } else { "it is truncated".to_owned() });
        }
        let name = path.strip_prefix("./").unwrap_or(&path).to_owned();
        files.push((name, Bytes::from(bytes)));
    }
    *remaining_bytes = archive.into_inner().limit().saturating_sub(1);
    Ok(files)
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use flate2::{Compression, write::GzEncoder};
    use snapbox::{assert_data_eq, str};
    use tar::{Builder, Header};

    use super::*;

    fn packed(entries: &[(&str, EntryType, &[u8])]) -> Vec<u8> {
        let mut builder = Builder::new(GzEncoder::new(Vec::new(), Compression::default()));
        for (name, entry_type, content) in entries {
            let mut header = Header::new_gnu();
            header.set_entry_type(*entry_type);
            header.set_size(content.len() as u64);
            // The tar builder rejects names with `..`.
            header.as_mut_bytes()[..name.len()].copy_from_slice(name.as_bytes());
            header.set_cksum();
            builder.append(&header, *content).unwrap();
        }
        builder.into_inner().unwrap().finish().unwrap()
    }

    #[test]
    fn files_are_unpacked_and_folders_skipped() {
        let layer = packed(&[
            ("./", EntryType::Directory, b""),
            ("./metadata.yaml", EntryType::Regular, b"a: 1\n"),
            ("core-components.yaml", EntryType::Regular, b"b: 2\n"),
        ]);
        let mut left_bytes = 1 << 20;
        let files = unpack(&layer, &mut left_bytes).unwrap();
        assert!(left_bytes < (1 << 20) - 10, "{left_bytes}");
        let names: Vec<&str> = files.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["metadata.yaml", "core-components.yaml"]);
        assert_eq!(files[0].1.as_ref(), b"a: 1\n");
    }

    #[test]
    fn links_bombs_and_damaged_archives_are_refused() {
        let link = packed(&[("metadata.yaml", EntryType::Symlink, b"")]);
        let link = unpack(&link, &mut 4096).unwrap_err();
        let bomb = packed(&[("metadata.yaml", EntryType::Regular, &vec![0; 1 << 20])]);
        assert!(bomb.len() < 4096);
        let bomb = unpack(&bomb, &mut 4096).unwrap_err();
        assert_data_eq!(
            [link, bomb].join("\n"),
            str![[r#"
`metadata.yaml` is a symlink, not a regular file
it exceeds 4096 bytes, the remaining limit of the package
"#]]
        );
        let whole = packed(&[("metadata.yaml", EntryType::Regular, b"a: 1\n")]);
        assert!(unpack(&whole[..whole.len() / 2], &mut 4096).is_err());
        let mut junk = GzEncoder::new(Vec::new(), Compression::fast());
        junk.write_all(&[7; 2048]).unwrap();
        assert!(unpack(&junk.finish().unwrap(), &mut 4096).is_err());
    }
}
