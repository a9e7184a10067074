//! The part of the tar format that backups need: regular files, and long names in extended headers.
//!
//! Source: POSIX.1-2017 pax, the ustar interchange format and its extended headers.

use std::io::{self, Read, Write};

use super::{ArchiveError, encryption::CorruptPayload, error::malformed};

const BLOCK: usize = 512;
/// Maximum length of a name in a plain header.
const MAX_NAME: usize = 100;
/// Maximum size of an object. A server stores up to 1.5 MiB per object.
const MAX_OBJECT: u64 = 8 << 20;
/// Maximum size of a manifest. A manifest of 100,000 objects has 50 MiB.
const MAX_MANIFEST: u64 = 128 << 20;
/// Maximum size of all entries together. A ratio to the compressed size is no limit: a thousand Secrets with the same script
/// compress to a hundredth.
const MAX_TOTAL: u64 = 4 << 30;
/// Maximum size of all entries that are written. The distance to [`MAX_TOTAL`] makes sure that a reader accepts them.
const MAX_WRITTEN: u64 = MAX_TOTAL - (1 << 20);
/// Maximum size of an extended header, which holds a name.
const MAX_EXTENDED_HEADER: u64 = 8 << 10;

/// Entry types that can be read.
const REGULAR: [u8; 2] = [b'0', 0];
const EXTENDED: u8 = b'x';
const FOLDER: u8 = b'5';

#[derive(Debug)]
pub(super) struct TarWriter<W: Write> {
    out: W,
    /// Number of header and entry bytes written so far.
    total: u64,
}

#[derive(Debug)]
pub(super) struct TarEntry {
    pub(super) name: String,
    pub(super) content: Vec<u8>,
}

pub(super) struct TarReader<R> {
    input: R,
    /// Number of header and entry bytes read so far.
    total: u64,
    /// True behind the entry of the folder of objects.
    has_folder: bool,
}

/// Returns the size of a content with the zeros behind it.
fn padded(size: u64) -> u64 {
    size.div_ceil(BLOCK as u64).saturating_mul(BLOCK as u64)
}

/// Returns the maximum size of an entry.
fn largest(name: &str) -> u64 {
    if name == super::MANIFEST_FILE { MAX_MANIFEST } else { MAX_OBJECT }
}

impl<W: Write> TarWriter<W> {
    pub(super) fn new(out: W) -> Self {
        Self { out, total: 0 }
    }

    /// Writes a file.
    /// # Errors
    /// Fails if the output cannot be written, and for a file that a reader would refuse.
    pub(super) fn append(&mut self, name: &str, content: &[u8]) -> io::Result<()> {
        let size = content.len() as u64;
        if size > largest(name) || self.total + size > MAX_WRITTEN {
            let reason = format!("`{name}` is too large for a backup");
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, reason));
        }
        if name.len() > MAX_NAME {
            let record = path_record(name);
            self.write_entry("PaxHeader", EXTENDED, record.as_bytes())?;
        }
        self.write_entry(name, REGULAR[0], content)
    }

    /// Writes the end of the archive.
    pub(super) fn finish(mut self) -> io::Result<W> {
        self.out.write_all(&[0; 2 * BLOCK])?;
        Ok(self.out)
    }

    fn write_entry(&mut self, name: &str, kind: u8, content: &[u8]) -> io::Result<()> {
        self.total += BLOCK as u64 + padded(content.len() as u64);
        self.out.write_all(&header(name, kind, content.len()))?;
        self.out.write_all(content)?;
        let rest = content.len() % BLOCK;
        if rest > 0 {
            self.out.write_all(&[0; BLOCK][rest..])?;
        }
        Ok(())
    }
}

/// Builds a header without a time, because the manifest has one time for all entries.
fn header(name: &str, kind: u8, size: usize) -> [u8; BLOCK] {
    let mut block = [0; BLOCK];
    let mut put = |at: usize, text: &[u8]| block[at..at + text.len()].copy_from_slice(text);
    let name = &name.as_bytes()[..name.len().min(MAX_NAME)];
    put(0, name);
    put(100, b"0000600\0");
    put(108, b"0000000\0");
    put(116, b"0000000\0");
    put(124, format!("{size:011o}\0").as_bytes());
    put(136, b"00000000000\0");
    put(156, &[kind]);
    put(257, b"ustar\x0000");
    let sum = checksum(&block);
    block[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    block
}

/// Sums up all bytes, with the checksum field taken as blanks.
fn checksum(block: &[u8; BLOCK]) -> u64 {
    block.iter().zip(0..).map(|(byte, at)| if (148..156).contains(&at) { 32 } else { u64::from(*byte) }).sum()
}

/// Formats `LENGTH path=MAX_NAME\n`. The length includes its own digits.
fn path_record(name: &str) -> String {
    let rest = format!(" path={name}\n");
    let mut length = rest.len();
    loop {
        let whole = length.to_string().len() + rest.len();
        if whole == length {
            return format!("{length}{rest}");
        }
        length = whole;
    }
}

impl<R: Read> TarReader<R> {
    pub(super) fn new(input: R) -> Self {
        Self { input, total: 0, has_folder: false }
    }

    /// Returns the next file. None if the verified end of the archive follows.
    pub(super) fn next(&mut self) -> Result<Option<TarEntry>, ArchiveError> {
        let mut long_name = None;
        loop {
            let block = self.read_block()?;
            if block == [0; BLOCK] {
                return self.verify_end().map(|()| None);
            }
            let header = TarHeader::read(&block)?;
            let name = long_name.clone().unwrap_or_else(|| header.name.clone());
            match header.kind {
                EXTENDED if long_name.is_none() => {
                    let record = self.read_content(&header, MAX_EXTENDED_HEADER)?;
                    long_name = Some(parse_path(&record)?);
                }
                // Archives that were repacked by other programs have this entry.
                FOLDER if name == super::OBJECTS_FOLDER && !self.has_folder => self.has_folder = true,
                kind if REGULAR.contains(&kind) => {
                    let content = self.read_content(&header, largest(&name))?;
                    return Ok(Some(TarEntry { name, content }));
                }
                _ => {
                    return Err(malformed(format!(
                        "its entry `{}` is not a regular file",
                        name.escape_debug()
                    )));
                }
            }
        }
    }

    fn read_content(&mut self, header: &TarHeader, largest: u64) -> Result<Vec<u8>, ArchiveError> {
        let padded = padded(header.size);
        if header.size > largest || self.total.saturating_add(padded) > MAX_TOTAL {
            return Err(malformed(format!(
                "its entry `{}` is too large for a backup",
                header.name.escape_debug()
            )));
        }
        self.total += padded;
        let mut content = Vec::new();
        // Memory grows only with the bytes that arrive, because the size in the header is untrusted.
        (&mut self.input).take(padded).read_to_end(&mut content).map_err(read_error)?;
        if content.len() as u64 != padded {
            return Err(ArchiveError::Truncated);
        }
        content.truncate(usize::try_from(header.size).unwrap_or(usize::MAX));
        Ok(content)
    }

    fn read_block(&mut self) -> Result<[u8; BLOCK], ArchiveError> {
        self.total += BLOCK as u64;
        let mut block = [0; BLOCK];
        self.input.read_exact(&mut block).map_err(read_error)?;
        Ok(block)
    }

    /// Verifies the end: a second empty block, then only zeros up to the checksum of the compressed data.
    fn verify_end(&mut self) -> Result<(), ArchiveError> {
        let mut buffer = [0; BLOCK];
        let mut trailing = 0;
        loop {
            let count = self.input.read(&mut buffer).map_err(read_error)?;
            if buffer[..count].iter().any(|byte| *byte != 0) {
                return Err(malformed("it contains data after the end of the archive".to_owned()));
            }
            trailing += count as u64;
            if trailing > MAX_EXTENDED_HEADER * 128 {
                return Err(malformed("it contains data after the end of the archive".to_owned()));
            }
            if count == 0 {
                return if trailing < BLOCK as u64 { Err(ArchiveError::Truncated) } else { Ok(()) };
            }
        }
    }
}

pub(super) fn read_error(error: io::Error) -> ArchiveError {
    if error.get_ref().and_then(|inner| inner.downcast_ref::<CorruptPayload>()).is_some() {
        return ArchiveError::CorruptedPayload;
    }
    match error.kind() {
        io::ErrorKind::UnexpectedEof => ArchiveError::Truncated,
        io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData => {
            malformed(format!("it is not a gzip file: {error}"))
        }
        _ => ArchiveError::Read(error),
    }
}

struct TarHeader {
    name: String,
    kind: u8,
    size: u64,
}

impl TarHeader {
    fn read(block: &[u8; BLOCK]) -> Result<Self, ArchiveError> {
        let bad = || malformed("it is not a tar archive, or it is damaged".to_owned());
        if &block[257..262] != b"ustar" || parse_octal(&block[148..156]) != Some(checksum(block)) {
            return Err(bad());
        }
        let (prefix, name) =
            (parse_text(&block[345..500]).ok_or_else(bad)?, parse_text(&block[..MAX_NAME]).ok_or_else(bad)?);
        let name = if prefix.is_empty() { name.to_owned() } else { format!("{prefix}/{name}") };
        let size = parse_octal(&block[124..136]).ok_or_else(bad)?;
        Ok(Self { name, kind: block[156], size })
    }
}

fn parse_text(field: &[u8]) -> Option<&str> {
    let end = field.iter().position(|byte| *byte == 0).unwrap_or(field.len());
    std::str::from_utf8(&field[..end]).ok()
}

fn parse_octal(field: &[u8]) -> Option<u64> {
    let digits = parse_text(field)?.trim_matches(' ');
    u64::from_str_radix(digits, 8).ok().filter(|_| digits.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Returns the name in an extended header. Times are ignored; any other key is an error.
fn parse_path(records: &[u8]) -> Result<String, ArchiveError> {
    let bad = || malformed("it has an invalid extended header".to_owned());
    let mut rest = std::str::from_utf8(records).map_err(|_| bad())?;
    let mut path = None;
    while !rest.is_empty() {
        let (length, _) = rest.split_once(' ').ok_or_else(bad)?;
        let length: usize = length.parse().map_err(|_| bad())?;
        let record = rest.get(..length).ok_or_else(bad)?;
        let (_, record) = record.split_once(' ').ok_or_else(bad)?;
        let (key, value) =
            record.strip_suffix('\n').and_then(|record| record.split_once('=')).ok_or_else(bad)?;
        match key {
            "path" => path = Some(value.to_owned()),
            "mtime" | "atime" | "ctime" => {}
            _ => {
                return Err(malformed(format!(
                    "it has an extended header with unsupported key `{}`",
                    key.escape_debug()
                )));
            }
        }
        rest = &rest[length..];
    }
    path.ok_or_else(bad)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Returns the bytes of one entry.
    pub(in crate::archive) fn entry(name: &str, kind: u8, content: &[u8]) -> Vec<u8> {
        let mut writer = TarWriter::new(Vec::new());
        writer.write_entry(name, kind, content).unwrap();
        writer.out
    }

    /// Writes another size into the first header.
    pub(in crate::archive) fn set_size(bytes: &mut [u8], size: u64) {
        bytes[124..136].copy_from_slice(format!("{size:011o}\0").as_bytes());
        let block: &[u8; BLOCK] = bytes[..BLOCK].try_into().unwrap();
        let sum = checksum(block);
        bytes[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    }

    #[test]
    fn a_writer_refuses_what_a_reader_would_refuse() {
        let refused = |total: u64, name: &str, size: u64| {
            let content = vec![0; usize::try_from(size).unwrap()];
            TarWriter { out: io::sink(), total }.append(name, &content).map_err(|error| error.kind())
        };
        let too_large = Err(io::ErrorKind::FileTooLarge);
        assert_eq!(refused(0, "objects/a", MAX_OBJECT), Ok(()));
        assert_eq!(refused(0, "objects/a", MAX_OBJECT + 1), too_large);
        assert_eq!(refused(0, super::super::MANIFEST_FILE, MAX_OBJECT + 1), Ok(()));
        assert_eq!(refused(MAX_WRITTEN, "objects/a", 1), too_large);
    }

    #[test]
    fn a_tar_record_counts_its_own_length() {
        for length in [1, 84, 85, 86, 87, 88, 89, 90, 91, 92, 500, 980, 989, 990, 991] {
            let name = "n".repeat(length);
            let record = path_record(&name);
            let (count, _) = record.split_once(' ').unwrap();
            assert_eq!(count.parse::<usize>().unwrap(), record.len());
            assert_eq!(parse_path(record.as_bytes()).unwrap(), name);
        }
    }
}
