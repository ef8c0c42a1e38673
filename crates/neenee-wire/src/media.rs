//! What images and attachments weigh.
//! Deliberately not a decoder of pictures: a header tells the dimensions, the encoding is never counted.

use neenee_core::estimate::media::image_dimensions;
use neenee_core::message::{Media, MediaKind};
use neenee_core::model::ImageRule;

/// Tokens of an image whose dimensions cannot be told: about a screenshot.
const UNKNOWN_IMAGE: (u32, u32) = (1_280, 800);
/// Tokens and encoded size of a page of a document, where pages are not counted. Providers read a page
/// as text and as a picture (Anthropic: 1 500 to 3 000 tokens); a page of PDF takes some 50 kB.
const PAGE: (u64, u64) = (2_000, 50_000);
/// Bytes of sound for a token: 32 tokens a second (Gemini) at 128 kbit/s.
const SOUND: u64 = 500;

/// Content that is not text. `data` is its encoding where the input holds it, base64 or a data URL;
/// `None`, or an address, where it is only referred to. `images` is the model's rule for pictures.
pub(crate) fn media(kind: MediaKind, data: Option<&str>, images: ImageRule) -> Media {
    let base64 = data
        .map(|data| match data.split_once(";base64,") {
            Some((_, payload)) => payload,
            None if data.starts_with("http") || data.starts_with("file:") => "",
            None => data,
        })
        .unwrap_or_default();
    let bytes = base64.trim_end_matches('=').len() as u64 * 3 / 4;
    let tokens = match kind {
        MediaKind::Image => {
            let (width, height) = dimensions(base64).unwrap_or(UNKNOWN_IMAGE);
            images.tokens(width, height)
        }
        MediaKind::Audio => (bytes / SOUND + 1) as usize,
        MediaKind::Document | MediaKind::Other => ((bytes / PAGE.1 + 1) * PAGE.0) as usize,
    };
    Media {
        kind,
        bytes,
        tokens,
        payload: Vec::new(),
    }
}

/// A document that is sent as plain text weighs its text.
pub(crate) fn text_document(text: &str) -> Media {
    Media {
        kind: MediaKind::Document,
        bytes: text.len() as u64,
        tokens: neenee_core::estimate::estimate_tokens(text),
        payload: Vec::new(),
    }
}

/// Most headers end within the first bytes; a JPEG may keep a profile and a preview before its own.
fn dimensions(base64: &str) -> Option<(u32, u32)> {
    [64, 4 << 10, 256 << 10].into_iter().find_map(|length| {
        let start = decode(base64.as_bytes(), length);
        image_dimensions(&start).map(|found| (found.width, found.height))
    })
}

/// The first `limit` bytes of what base64 encodes. What is no digit of it (a line break, an escaped
/// slash's backslash) is passed over: a wrong header only means a guessed size.
fn decode(base64: &[u8], limit: usize) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(limit.min(base64.len()));
    let (mut bits, mut have) = (0u32, 0);
    for digit in base64 {
        let value = match digit {
            b'A'..=b'Z' => digit - b'A',
            b'a'..=b'z' => digit - b'a' + 26,
            b'0'..=b'9' => digit - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => continue,
        };
        bits = bits << 6 | u32::from(value);
        have += 6;
        if have >= 8 {
            have -= 8;
            bytes.push((bits >> have) as u8);
            if bytes.len() == limit {
                break;
            }
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_image_weighs_by_its_dimensions_not_by_its_encoding() {
        // A PNG header of 640 by 480.
        let png = "iVBORw0KGgoAAAANSUhEUgAAAoAAAAHgCAYAAAAA";
        for data in [png.to_owned(), format!("data:image/png;base64,{png}")] {
            let media = media(MediaKind::Image, Some(&data), ImageRule::CLAUDE);
            assert_eq!(media.tokens, ImageRule::CLAUDE.tokens(640, 480));
            assert_eq!(media.bytes, 30);
        }
        let elsewhere = media(
            MediaKind::Image,
            Some("https://example.com/a.png"),
            ImageRule::CLAUDE,
        );
        assert_eq!(elsewhere.bytes, 0);
        assert_eq!(elsewhere.tokens, ImageRule::CLAUDE.tokens(1_280, 800));
    }
}
