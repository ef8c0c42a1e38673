//! Files that other programs own: the session holds every byte from before each prune.
//! Deliberately blind to formats: a file is bytes, whoever wrote it.

use std::sync::Arc;

use zstd::zstd_safe::{self, CCtx, CParameter, DCtx, DParameter};

use crate::digest::Digest;
use crate::event::Counts;

/// Mean size of a piece in bytes. The next prune of the same file finds most pieces known; smaller
/// ones would find more and weigh more themselves.
const PIECE_BYTES: usize = 64 << 10;

/// The largest window that every zstd reader accepts without being told (2^27 bytes).
const MAX_WINDOW_LOG: u32 = 27;

/// A file that was pruned.
#[derive(Clone, Copy, Debug)]
pub struct FileProjection<'a> {
    /// Where the file is, for people and for restoring in place.
    pub path: &'a str,
    /// The name of its format.
    pub format: &'a str,
    /// All of it, before.
    pub before: &'a [u8],
    /// All of it, after.
    pub after: &'a [u8],
    /// What caused it, for the timeline.
    pub cause: &'a str,
    /// Call ids of the results that changed, oldest first.
    pub results: &'a [String],
    /// The window before.
    pub counts_before: Counts,
    /// The window after.
    pub counts_after: Counts,
}

/// Which side of a projection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// As it was before.
    Before,
    /// As it was afterwards.
    After,
}

/// A file out of the store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredBytes {
    /// The projection that it comes from.
    pub seq: u64,
    /// Where the file was.
    pub path: String,
    /// The name of its format.
    pub format: Option<String>,
    /// All of it.
    pub bytes: Vec<u8>,
}

/// The whole original of a file that was pruned, with what its owner added between prunes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WholeFile {
    /// Where the file was last.
    pub path: String,
    /// All of it, nothing pruned.
    pub bytes: Vec<u8>,
    /// The file as the last prune left it; what follows these bytes in the file now was added since.
    pub last_after: Vec<u8>,
}

/// Cuts a file where its content says so, so that an edit moves only the cuts around it.
pub(crate) fn pieces(bytes: &[u8]) -> Vec<(Digest, Arc<[u8]>)> {
    let (min, max) = (PIECE_BYTES / 4, PIECE_BYTES * 4);
    fastcdc::v2020::FastCDC::new(bytes, min, PIECE_BYTES, max)
        .map(|cut| {
            let piece = &bytes[cut.offset..cut.offset + cut.length];
            (Digest::of(piece), Arc::from(piece))
        })
        .collect()
}

/// What turns `before` into `after`: a zstd frame that may copy from both.
pub(crate) fn diff(before: &[u8], after: &[u8]) -> Result<Vec<u8>, String> {
    let both = (before.len() + after.len()).max(1);
    let window = (both.ilog2() + 1).clamp(10, MAX_WINDOW_LOG);
    let mut context = CCtx::create();
    for parameter in [
        CParameter::CompressionLevel(3),
        CParameter::WindowLog(window),
        CParameter::EnableLongDistanceMatching(true),
        CParameter::ChecksumFlag(true),
    ] {
        context.set_parameter(parameter).map_err(words)?;
    }
    context.ref_prefix(before).map_err(words)?;
    let mut patch = Vec::with_capacity(zstd_safe::compress_bound(after.len()));
    context.compress2(&mut patch, after).map_err(words)?;
    Ok(patch)
}

/// `after` again; `None` when the patch does not fit `before`.
pub(crate) fn patch(before: &[u8], patch: &[u8], bytes: u64) -> Option<Vec<u8>> {
    // Pruning makes files shorter; far longer ones are damage.
    if bytes > (before.len() as u64).saturating_mul(2) + (1 << 20) {
        return None;
    }
    let mut context = DCtx::create();
    context
        .set_parameter(DParameter::WindowLogMax(MAX_WINDOW_LOG))
        .ok()?;
    context.ref_prefix(before).ok()?;
    let mut after = Vec::with_capacity(usize::try_from(bytes).ok()?);
    context.decompress(&mut after, patch).ok()?;
    Some(after)
}

fn words(code: usize) -> String {
    zstd_safe::get_error_name(code).to_owned()
}

#[cfg(test)]
mod tests {
    use super::{diff, patch, pieces};

    /// Lines that do not repeat.
    fn text(lines: usize) -> Vec<u8> {
        (0..lines)
            .flat_map(|line| format!("{line} {:x}\n", line * 2_654_435_761).into_bytes())
            .collect()
    }

    #[test]
    fn a_patch_is_small_and_gives_the_file_back() {
        let before = text(100_000);
        let mut after = before.clone();
        after.splice(500_000..900_000, *b"[cleared]");
        let delta = diff(&before, &after).expect("zstd compresses");
        assert!(delta.len() < 2_000, "{} bytes", delta.len());
        assert_eq!(
            patch(&before, &delta, after.len() as u64).as_ref(),
            Some(&after)
        );
        // Another file gives nothing, or something that its digest gives away.
        assert_ne!(patch(&before[1..], &delta, after.len() as u64), Some(after));
    }

    #[test]
    fn pieces_make_up_the_file_and_most_survive_an_edit() {
        let before = text(100_000);
        let mut after = before.clone();
        after.splice(700_000..710_000, *b"[cleared]");
        let (old, new) = (pieces(&before), pieces(&after));
        let whole: Vec<u8> = old.iter().flat_map(|(_, bytes)| bytes.to_vec()).collect();
        assert_eq!(whole, before);
        let known = new.iter().filter(|piece| old.contains(piece)).count();
        assert!(known + 3 >= new.len(), "{known} of {}", new.len());
        assert!(pieces(b"").is_empty());
    }
}
