//! Packs: archived bodies compressed together, since small texts alone compress badly.
//! Deliberately immutable; a pack that is mostly dead is written anew, never edited.

use std::sync::Arc;

use crate::digest::Digest;

/// Raw bytes from which on a pack is full. Reading one body unpacks its whole pack, so this bounds
/// what one read costs: about 1 ms.
const PACK_BYTES: usize = 1 << 20;

/// The level at which speed still beats the disk and the ratio is close to the best.
const LEVEL: i32 = 3;

/// A pack to be written.
#[derive(Clone, Debug)]
pub struct Pack {
    /// The bodies in it, in order.
    pub bodies: Vec<Packed>,
    /// All bodies one after the other, as a zstd frame with its check sum.
    pub data: Vec<u8>,
    /// Size of the bodies in bytes.
    pub raw_bytes: u64,
}

/// A body in a pack.
#[derive(Clone, Copy, Debug)]
pub struct Packed {
    /// Its name.
    pub digest: Digest,
    /// Where it begins in the unpacked bytes.
    pub offset: u64,
    /// How long it is, in bytes.
    pub length: u64,
}

/// Packs `bodies` in their order.
pub(crate) fn pack(bodies: &[(Digest, Arc<[u8]>)]) -> std::io::Result<Vec<Pack>> {
    let mut packs = Vec::new();
    let mut raw = Vec::new();
    let mut inside = Vec::new();
    for (index, (digest, bytes)) in bodies.iter().enumerate() {
        inside.push(Packed {
            digest: *digest,
            offset: raw.len() as u64,
            length: bytes.len() as u64,
        });
        raw.extend_from_slice(bytes);
        if raw.len() >= PACK_BYTES || index + 1 == bodies.len() {
            packs.push(Pack {
                bodies: std::mem::take(&mut inside),
                data: compress(&raw)?,
                raw_bytes: raw.len() as u64,
            });
            raw.clear();
        }
    }
    Ok(packs)
}

fn compress(raw: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut compressor = zstd::bulk::Compressor::new(LEVEL)?;
    compressor.include_checksum(true)?;
    compressor.compress(raw)
}

/// The bodies one after the other again; `None` when the frame is damaged or does not hold exactly
/// `raw_bytes`.
pub(crate) fn unpack(data: &[u8], raw_bytes: u64) -> Option<Vec<u8>> {
    // A damaged length must not reserve the memory it claims: a frame expands 32 000 times at most.
    let plausible = (data.len() as u64).saturating_mul(1 << 15);
    if raw_bytes > plausible {
        return None;
    }
    let raw = zstd::bulk::decompress(data, usize::try_from(raw_bytes).ok()?).ok()?;
    (raw.len() as u64 == raw_bytes).then_some(raw)
}
