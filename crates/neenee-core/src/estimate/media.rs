//! The pixel dimensions of an image from its first bytes: what a provider's count goes by.
//! Deliberately no decoder and no price: the header of four formats; `model::ImageRule` counts.

/// Width and height of an image in pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dimensions {
    /// Pixels across.
    pub width: u32,
    /// Pixels down.
    pub height: u32,
}

/// The width and height that the header of a PNG, JPEG, GIF or WebP names; `None` when `bytes`
/// (decoded, the beginning is enough) is none of these or ends before it says.
#[must_use]
pub fn image_dimensions(bytes: &[u8]) -> Option<Dimensions> {
    png(bytes)
        .or_else(|| gif(bytes))
        .or_else(|| webp(bytes))
        .or_else(|| jpeg(bytes))
        .filter(|dimensions| dimensions.width > 0 && dimensions.height > 0)
}

/// Signature, length and name of the chunk `IHDR`, then both sides, big-endian (PNG, 11.2.2).
fn png(bytes: &[u8]) -> Option<Dimensions> {
    if !bytes.starts_with(b"\x89PNG\r\n\x1a\n") || bytes.get(12..16)? != b"IHDR" {
        return None;
    }
    Some(Dimensions {
        width: u32::from_be_bytes(array(bytes, 16)?),
        height: u32::from_be_bytes(array(bytes, 20)?),
    })
}

/// Version, then the logical screen's sides, little-endian (GIF89a, 18).
fn gif(bytes: &[u8]) -> Option<Dimensions> {
    if !bytes.starts_with(b"GIF87a") && !bytes.starts_with(b"GIF89a") {
        return None;
    }
    Some(Dimensions {
        width: u16::from_le_bytes(array(bytes, 6)?).into(),
        height: u16::from_le_bytes(array(bytes, 8)?).into(),
    })
}

/// A RIFF whose first chunk is lossy (`VP8 `, RFC 6386), lossless (`VP8L`) or extended (`VP8X`),
/// each with its own place and packing for the sides (RFC 9649).
fn webp(bytes: &[u8]) -> Option<Dimensions> {
    if !bytes.starts_with(b"RIFF") || bytes.get(8..12)? != b"WEBP" {
        return None;
    }
    match bytes.get(12..16)? {
        b"VP8 " => (bytes.get(23..26)? == b"\x9d\x01\x2a")
            .then_some(())
            .and_then(|()| {
                Some(Dimensions {
                    width: u32::from(u16::from_le_bytes(array(bytes, 26)?) & 0x3fff),
                    height: u32::from(u16::from_le_bytes(array(bytes, 28)?) & 0x3fff),
                })
            }),
        b"VP8L" => {
            let packed = u32::from_le_bytes(array(bytes, 21)?);
            (*bytes.get(20)? == 0x2f).then_some(Dimensions {
                width: (packed & 0x3fff) + 1,
                height: (packed >> 14 & 0x3fff) + 1,
            })
        }
        b"VP8X" => {
            let side = |at: usize| {
                let [low, middle, high] = array(bytes, at)?;
                Some(u32::from_le_bytes([low, middle, high, 0]) + 1)
            };
            Some(Dimensions {
                width: side(24)?,
                height: side(27)?,
            })
        }
        _ => None,
    }
}

/// Segments are walked up to the first frame header, which names the height first (T.81, B.2.2).
fn jpeg(bytes: &[u8]) -> Option<Dimensions> {
    if !bytes.starts_with(b"\xff\xd8") {
        return None;
    }
    let mut at = 2;
    loop {
        if *bytes.get(at)? != 0xff {
            return None;
        }
        match *bytes.get(at + 1)? {
            // A fill byte; the marker follows.
            0xff => at += 1,
            // Markers without a length.
            0x01 | 0xd0..=0xd8 => at += 2,
            // Frame headers are C0 to CF but for Huffman tables, extensions and arithmetic conditioning.
            0xc0..=0xc3 | 0xc5..=0xc7 | 0xc9..=0xcb | 0xcd..=0xcf => {
                return Some(Dimensions {
                    height: u16::from_be_bytes(array(bytes, at + 5)?).into(),
                    width: u16::from_be_bytes(array(bytes, at + 7)?).into(),
                });
            }
            // The image begins, or ends, without a frame header.
            0xd9 | 0xda => return None,
            _ => at += 2 + usize::from(u16::from_be_bytes(array(bytes, at + 2)?)),
        }
    }
}

fn array<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..at.checked_add(N)?)?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn size(width: u32, height: u32) -> Option<Dimensions> {
        Some(Dimensions { width, height })
    }

    #[test]
    fn headers_name_the_dimensions() {
        let png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x02\x80\0\0\x01\xe0\x08\x06\0\0\0";
        let gif = b"GIF89a\x80\x02\xe0\x01\xf7\0\0";
        let lossy = b"RIFF\0\0\0\0WEBPVP8 \0\0\0\0\x30\x01\0\x9d\x01\x2a\x80\x02\xe0\x01";
        let lossless = b"RIFF\0\0\0\0WEBPVP8L\0\0\0\0\x2f\x7f\xc2\x77\0";
        let extended = b"RIFF\0\0\0\0WEBPVP8X\x0a\0\0\0\0\0\0\0\x7f\x02\0\xdf\x01\0";
        let jpeg = b"\xff\xd8\xff\xe0\0\x04AB\xff\xff\xc2\0\x11\x08\x01\xe0\x02\x80\x03";
        for whole in [&png[..], gif, lossy, lossless, extended, jpeg] {
            assert_eq!(image_dimensions(whole), size(640, 480), "{whole:?}");
            // A header that was cut says nothing or the same, and never panics.
            for end in 0..whole.len() {
                let cut = image_dimensions(&whole[..end]);
                assert!(cut.is_none() || cut == size(640, 480), "{cut:?} at {end}");
            }
        }
    }

    #[test]
    fn other_bytes_name_nothing() {
        for bytes in [
            &b""[..],
            b"\xff\xd8",
            b"\xff\xd8\xff\xe0\0\0\xff\xd9",
            b"\xff\xd8\xff\xda\0\0",
            b"<svg/>",
            b"%PDF-1.7",
            b"GIF89a\0\0\0\0",
        ] {
            assert_eq!(image_dimensions(bytes), None, "{bytes:?}");
        }
    }
}
