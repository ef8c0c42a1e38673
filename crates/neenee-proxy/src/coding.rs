//! Content codings of bodies: taken off to look inside, put on again for the way.
//! Deliberately bounded: a small body that unpacks without end is not unpacked.

use std::io::{self, Read, Write as _};

use flate2::Compression;
use flate2::read::{MultiGzDecoder, ZlibDecoder};
use flate2::write::{GzEncoder, ZlibEncoder};
use http::header::{CONTENT_ENCODING, HeaderMap};

/// zstd's own default.
const ZSTD_LEVEL: i32 = 3;

/// How a body is packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Coding {
    Identity,
    Gzip,
    Deflate,
    Zstd,
}

impl Coding {
    /// What the headers say; `None` for what is not known here.
    pub(crate) fn of(headers: &HeaderMap) -> Option<Coding> {
        let mut values = headers.get_all(CONTENT_ENCODING).iter();
        let Some(value) = values.next() else {
            return Some(Coding::Identity);
        };
        if values.next().is_some() {
            return None;
        }
        match value.to_str().ok()?.trim().to_ascii_lowercase().as_str() {
            "" | "identity" => Some(Coding::Identity),
            "gzip" | "x-gzip" => Some(Coding::Gzip),
            "deflate" => Some(Coding::Deflate),
            "zstd" => Some(Coding::Zstd),
            _ => None,
        }
    }

    /// Unpacks up to `limit` bytes.
    ///
    /// # Errors
    /// When the bytes are not packed so, or hold more.
    pub(crate) fn decode(self, bytes: &[u8], limit: usize) -> io::Result<Vec<u8>> {
        let mut out = Vec::new();
        let reader: &mut dyn Read = match self {
            Coding::Identity => &mut { bytes },
            Coding::Gzip => &mut MultiGzDecoder::new(bytes),
            Coding::Deflate => &mut ZlibDecoder::new(bytes),
            Coding::Zstd => &mut zstd::stream::read::Decoder::new(bytes)?,
        };
        reader.take(limit as u64 + 1).read_to_end(&mut out)?;
        if out.len() > limit {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        Ok(out)
    }

    /// Packs.
    ///
    /// # Errors
    /// When the packer fails.
    pub(crate) fn encode(self, bytes: Vec<u8>) -> io::Result<Vec<u8>> {
        match self {
            Coding::Identity => Ok(bytes),
            Coding::Gzip => {
                let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
                encoder.write_all(&bytes)?;
                encoder.finish()
            }
            Coding::Deflate => {
                let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
                encoder.write_all(&bytes)?;
                encoder.finish()
            }
            Coding::Zstd => zstd::stream::encode_all(&*bytes, ZSTD_LEVEL),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_packed_is_unpacked_within_the_limit() {
        let text = b"a line of a log\n".repeat(1_000);
        for coding in [
            Coding::Identity,
            Coding::Gzip,
            Coding::Deflate,
            Coding::Zstd,
        ] {
            let packed = coding.encode(text.clone()).unwrap();
            assert_eq!(coding.decode(&packed, text.len()).unwrap(), text);
            coding.decode(&packed, text.len() - 1).unwrap_err();
            if coding != Coding::Identity {
                assert!(packed.len() < text.len() / 10);
                coding.decode(b"not packed", 100).unwrap_err();
                coding
                    .decode(&packed[..packed.len() / 2], text.len())
                    .unwrap_err();
            }
        }
    }
}
