use std::{
    fmt,
    io::{self, Read},
    str::FromStr,
};

use data_encoding::HEXLOWER;
use sha2::{Digest as _, Sha256};

/// The number of bytes that are read at once.
const PIECE_BYTES: usize = 64 * 1024;

/// A SHA-256 digest, written as in OCI: `sha256:` and 64 lower-case hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest([u8; 32]);

/// A text that is not a digest.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a digest; write `sha256:` and 64 hexadecimal digits")]
pub struct InvalidDigest {
    /// The rejected text.
    pub text: String,
}

/// Computes the digest of content that arrives in pieces.
#[derive(Clone, Default)]
pub struct Digester(Sha256);

impl Digest {
    /// Returns the digest of content in memory.
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// Returns the digits only, as OCI layouts name files below `blobs/sha256`.
    pub fn hex(&self) -> String {
        HEXLOWER.encode(&self.0)
    }
}

impl Digester {
    /// Adds the next piece.
    pub fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// Returns the digest of a stream and its size in bytes.
    /// # Errors
    /// Fails if the stream cannot be read.
    pub fn read(mut stream: impl Read) -> io::Result<(Digest, u64)> {
        let (mut digester, mut size, mut piece) = (Self::default(), 0, vec![0; PIECE_BYTES]);
        loop {
            match stream.read(&mut piece)? {
                0 => return Ok((digester.finish(), size)),
                read => {
                    digester.update(&piece[..read]);
                    size += read as u64;
                }
            }
        }
    }

    /// Returns the digest of all pieces.
    pub fn finish(self) -> Digest {
        Digest(self.0.finalize().into())
    }
}

impl FromStr for Digest {
    type Err = InvalidDigest;

    fn from_str(text: &str) -> Result<Self, InvalidDigest> {
        let invalid = || InvalidDigest { text: text.to_owned() };
        let digits = text.strip_prefix("sha256:").map(str::as_bytes).filter(|digits| digits.len() == 64);
        let mut bytes = [0; 32];
        for (byte, pair) in bytes.iter_mut().zip(digits.ok_or_else(invalid)?.chunks(2)) {
            let digit = |digit: u8| match digit {
                b'0'..=b'9' => Some(digit - b'0'),
                b'a'..=b'f' => Some(digit - b'a' + 10),
                _ => None,
            };
            let (Some(high), Some(low)) = (digit(pair[0]), digit(pair[1])) else { return Err(invalid()) };
            *byte = high << 4 | low;
        }
        Ok(Self(bytes))
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "sha256:{}", self.hex())
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl serde::Serialize for Digest {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> serde::Deserialize<'de> for Digest {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

impl fmt::Debug for Digester {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Digester")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_has_the_format_of_oci() {
        let empty = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(Digest::of(b"").to_string(), empty);
        assert_eq!(empty.parse(), Ok(Digest::of(b"")));
        let mut digester = Digester::default();
        digester.update(b"a");
        digester.update(b"b");
        assert_eq!(digester.finish(), Digest::of(b"ab"));
    }

    #[test]
    fn another_algorithm_length_or_case_is_refused() {
        let upper = Digest::of(b"").to_string().to_uppercase();
        for text in ["", "sha256:", "sha512:00", &upper, "sha256:zz", &format!("sha256:{}", "é".repeat(32))]
        {
            assert!(text.parse::<Digest>().is_err(), "{text}");
        }
    }
}
