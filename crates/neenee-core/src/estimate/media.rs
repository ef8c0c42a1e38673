//! What a provider counts for an image, from its pixel dimensions, and those from its first bytes.
//! Deliberately no decoder: nothing but the header of four formats is read.

/// Width and height of an image in pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dimensions {
    /// Pixels across.
    pub width: u32,
    /// Pixels down.
    pub height: u32,
}

/// By whose rule an image is counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ImageRule {
    /// Area over 750, after a downscale to at most 1 568 pixels a side and 1 600 tokens
    /// (docs.anthropic.com, "Vision", "Calculate image costs"). The default.
    #[default]
    Anthropic,
    /// 85 plus 170 for each tile of 512 pixels, after a fit into 2 048 square and a downscale of the
    /// shorter side to 768 (platform.openai.com, "Images and vision", GPT-4o at high detail).
    OpenAi,
    /// 258 up to 384 pixels a side, else 258 for each tile of 768
    /// (ai.google.dev, "Understand and count tokens", Gemini 2.0 and later).
    Gemini,
}

impl ImageRule {
    /// The tokens of one image. Unknown dimensions count as a screenshot of full size, since an
    /// image taken for too small is what overflows a window.
    #[must_use]
    pub fn tokens(self, dimensions: Option<Dimensions>) -> usize {
        let Some(Dimensions { width, height }) = dimensions else {
            return self.unknown();
        };
        let (width, height) = (f64::from(width.max(1)), f64::from(height.max(1)));
        match self {
            Self::Anthropic => {
                let scale = (1568.0 / width.max(height)).min(1.0);
                let area = (width * scale) * (height * scale);
                (area / 750.0).ceil().clamp(1.0, 1600.0) as usize
            }
            Self::OpenAi => {
                let fit = (2048.0 / width.max(height)).min(1.0);
                let (width, height) = (width * fit, height * fit);
                let shrink = (768.0 / width.min(height)).min(1.0);
                85 + 170 * tiles(width * shrink, height * shrink, 512.0)
            }
            Self::Gemini if width <= 384.0 && height <= 384.0 => 258,
            Self::Gemini => 258 * tiles(width, height, 768.0).min(GEMINI_MOST_TILES),
        }
    }

    fn unknown(self) -> usize {
        match self {
            Self::Anthropic => 1600,
            // 2 by 3 tiles: what a screen in landscape comes to.
            Self::OpenAi => 85 + 170 * 6,
            Self::Gemini => 258 * 6,
        }
    }
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

/// The documentation names no limit; a header may claim 4 billion pixels a side, which no client sends.
const GEMINI_MOST_TILES: usize = 256;

fn tiles(width: f64, height: f64, side: f64) -> usize {
    let across = (width / side).ceil().max(1.0) as usize;
    let down = (height / side).ceil().max(1.0) as usize;
    across.saturating_mul(down)
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
    fn rules_give_what_the_providers_document() {
        use ImageRule::{Anthropic, Gemini, OpenAi};
        for (rule, dimensions, tokens) in [
            (Anthropic, size(200, 200), 54),
            (Anthropic, size(1000, 1000), 1334),
            (Anthropic, size(1092, 1092), 1590),
            (Anthropic, size(8000, 8000), 1600),
            (Anthropic, None, 1600),
            (OpenAi, size(1024, 1024), 765),
            (OpenAi, size(2048, 4096), 1105),
            (OpenAi, size(512, 512), 255),
            (OpenAi, None, 1105),
            (Gemini, size(384, 384), 258),
            (Gemini, size(768, 768), 258),
            (Gemini, size(1920, 1080), 258 * 6),
            (Gemini, size(u32::MAX, u32::MAX), 258 * GEMINI_MOST_TILES),
            (Gemini, size(0, 0), 258),
        ] {
            assert_eq!(rule.tokens(dimensions), tokens, "{rule:?} {dimensions:?}");
        }
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
