//! What images and attachments weigh.
//! Deliberately not a decoder of pictures: the encoding is measured, its text is never counted.

use neenee_core::message::{Media, MediaKind};

/// Content that is not text. `base64` is its encoding where the input holds it (a data URL is cut at
/// its comma); `None` when it only refers to it.
pub(crate) fn media(kind: MediaKind, base64: Option<&str>) -> Media {
    let base64 = base64.map(|data| match data.split_once(";base64,") {
        Some((_, payload)) => payload,
        None => data,
    });
    Media {
        kind,
        bytes: base64.map_or(0, decoded_len),
        tokens: tokens(kind),
        payload: Vec::new(),
    }
}

/// Estimated tokens where dimensions are not looked at: what providers charge for a picture at full
/// size (Anthropic: about 1 600), and about one dense page of a document.
fn tokens(kind: MediaKind) -> usize {
    match kind {
        MediaKind::Image => 1_600,
        MediaKind::Audio | MediaKind::Document | MediaKind::Other => 2_000,
    }
}

fn decoded_len(base64: &str) -> u64 {
    let digits = base64.trim_end_matches('=').len() as u64;
    digits * 3 / 4
}
