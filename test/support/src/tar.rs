//! Tar archives with arbitrary headers.

use std::io::{Read as _, Write as _};

use flate2::{Compress, Compression, FlushCompress, bufread::GzDecoder, write::GzEncoder};

const BLOCK: usize = 512;

/// An archive entry.
#[derive(Clone, Debug)]
pub struct TarEntry {
    /// The name, up to 100 bytes.
    pub name: String,
    /// The type: `0` file, `1` hard link, `2` symbolic link, `3` device, `5` folder, `x` extended header.
    pub kind: u8,
    /// The target of a link.
    pub link: String,
    /// The size in the header, if different from the length of the content.
    pub size: Option<u64>,
    /// The content.
    pub content: Vec<u8>,
}

impl TarEntry {
    /// Creates a file.
    pub fn file(name: impl Into<String>, content: impl Into<Vec<u8>>) -> Self {
        Self { name: name.into(), kind: b'0', link: String::new(), size: None, content: content.into() }
    }

    /// Creates a link or a device.
    pub fn special(name: impl Into<String>, kind: u8, link: &str) -> Self {
        Self { kind, link: link.to_owned(), ..Self::file(name, "") }
    }

    /// Sets another size in the header.
    #[must_use]
    pub fn of_size(self, size: u64) -> Self {
        Self { size: Some(size), ..self }
    }

    fn write(&self, out: &mut Vec<u8>) {
        let mut header = [0; BLOCK];
        let mut put = |at: usize, text: &[u8]| header[at..at + text.len()].copy_from_slice(text);
        put(0, &self.name.as_bytes()[..self.name.len().min(100)]);
        put(100, b"0000600\0");
        put(124, format!("{:011o}\0", self.size.unwrap_or(self.content.len() as u64)).as_bytes());
        put(136, b"00000000000\0");
        put(148, b"        ");
        put(156, &[self.kind]);
        put(157, self.link.as_bytes());
        put(257, b"ustar\x0000");
        let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
        header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
        out.extend(header);
        out.extend(&self.content);
        out.resize(out.len().next_multiple_of(BLOCK), 0);
    }
}

/// Packs entries without the end-of-archive marker.
pub fn tar_entries(entries: &[TarEntry]) -> Vec<u8> {
    let mut out = Vec::new();
    for entry in entries {
        entry.write(&mut out);
    }
    out
}

/// Packs entries.
pub fn tar(entries: &[TarEntry]) -> Vec<u8> {
    let mut out = tar_entries(entries);
    out.extend([0; 2 * BLOCK]);
    out
}

/// Unpacks the files of an archive.
///
/// # Panics
/// Panics if the bytes are not an archive of files.
pub fn untar(archive: &[u8]) -> Vec<TarEntry> {
    let text = |field: &[u8]| {
        let end = field.iter().position(|byte| *byte == 0).unwrap_or(field.len());
        String::from_utf8(field[..end].to_vec())
    };
    let mut entries = Vec::new();
    let mut rest = archive;
    while rest.first().is_some_and(|byte| *byte != 0) {
        let name = text(&rest[..100]).expect("a name is text");
        let size = text(&rest[124..136]).expect("a size is text");
        let size = usize::from_str_radix(size.trim(), 8).expect("a size is a number");
        let end = BLOCK + size;
        entries.push(TarEntry { kind: rest[156], ..TarEntry::file(name, &rest[BLOCK..end]) });
        rest = &rest[end.next_multiple_of(BLOCK)..];
    }
    entries
}

/// Compresses bytes with gzip.
///
/// # Panics
/// Never panics, because writing to memory does not fail.
pub fn gzip(plain: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(plain).expect("memory takes it");
    encoder.finish().expect("memory takes it")
}

/// Decompresses bytes with gzip.
///
/// # Panics
/// Panics if the bytes are not compressed.
pub fn gunzip(compressed: &[u8]) -> Vec<u8> {
    let mut plain = Vec::new();
    GzDecoder::new(compressed).read_to_end(&mut plain).expect("it was compressed");
    plain
}

/// Compresses some bytes, followed by many repetitions of a piece. A few kilobytes can contain gigabytes. The checksum
/// at the end is missing.
///
/// # Panics
/// Never panics, because writing to memory does not fail.
pub fn gzip_bomb(start: &[u8], piece: &[u8], times: usize) -> Vec<u8> {
    let deflate = |plain: &[u8]| {
        let mut out = Vec::with_capacity(plain.len() + 1024);
        let mut compress = Compress::new(Compression::best(), false);
        // After a full flush, the next block is independent of earlier blocks.
        compress.compress_vec(plain, &mut out, FlushCompress::Full).expect("memory takes it");
        out
    };
    let mut bomb = b"\x1f\x8b\x08\0\0\0\0\0\0\xff".to_vec();
    bomb.extend(deflate(start));
    let piece = deflate(piece);
    for _ in 0..times {
        bomb.extend(&piece);
    }
    bomb
}
