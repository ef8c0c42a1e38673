//! Writing back: the input with ranges replaced, in one allocation.
//! Deliberately not a serialiser: every byte outside the replaced ranges is copied, none is made anew.

use std::ops::Range;

use crate::document::Document;
use crate::format::Format;
use crate::insert::{Insertion, InsertionError};
use crate::json::encode;
use crate::slot::Site;

/// New content for one result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edit<'e> {
    /// Which result: its position in [`Document::results`].
    pub ordinal: usize,
    /// What it says from now on; never empty.
    pub content: &'e str,
}

/// Why edits could not be applied. Nothing was.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SpliceError {
    /// No result has this ordinal.
    #[error("edit result {ordinal}: the input has {results}, counted from 0")]
    NoSuchResult {
        /// The ordinal of the edit.
        ordinal: usize,
        /// How many results the input has.
        results: usize,
    },
    /// Two edits name one result.
    #[error("edit result {ordinal} twice: give each result one edit")]
    Twice {
        /// The ordinal of the edits.
        ordinal: usize,
    },
    /// New content is empty, which some providers refuse.
    #[error("edit result {ordinal}: expected text, since providers refuse an empty block")]
    Empty {
        /// The ordinal of the edit.
        ordinal: usize,
    },
    /// Two results stand in the same bytes.
    #[error("edit byte {offset}: two replaced ranges overlap there")]
    Overlap {
        /// Where the second one begins, counted from 0.
        offset: usize,
    },
    /// The named insertion has no place in this input.
    #[error("insert what the rewrite rule asks for into {}: {reason}", format.name())]
    Insertion {
        /// The format of the input.
        format: Format,
        /// What is in the way.
        reason: InsertionError,
    },
}

impl Document<'_> {
    /// The input with the contents of these results replaced, everything else byte for byte.
    ///
    /// # Errors
    /// When an edit names no result, one result twice, or empty content. Nothing is applied then.
    pub fn splice(&self, edits: &[Edit<'_>]) -> Result<Vec<u8>, SpliceError> {
        self.write(edits, &[])
    }

    /// As [`Document::splice`], with the named insertion of a rewrite rule merged in.
    ///
    /// # Errors
    /// As [`Document::splice`]; and when the format or this input has no place for the insertion.
    pub fn splice_with(
        &self,
        edits: &[Edit<'_>],
        insertion: &Insertion,
    ) -> Result<Vec<u8>, SpliceError> {
        let inserted = insertion
            .replacements(self.bytes, self.draft.anchors.as_ref())
            .map_err(|reason| SpliceError::Insertion {
                format: self.format,
                reason,
            })?;
        self.write(edits, &inserted)
    }

    fn write(
        &self,
        edits: &[Edit<'_>],
        inserted: &[(Range<usize>, String)],
    ) -> Result<Vec<u8>, SpliceError> {
        let mut pieces: Vec<Piece<'_>> = Vec::with_capacity(edits.len() + inserted.len());
        let mut ordinals = Vec::with_capacity(edits.len());
        for edit in edits {
            let slot = self
                .results()
                .get(edit.ordinal)
                .ok_or(SpliceError::NoSuchResult {
                    ordinal: edit.ordinal,
                    results: self.results().len(),
                })?;
            if edit.content.is_empty() {
                return Err(SpliceError::Empty {
                    ordinal: edit.ordinal,
                });
            }
            ordinals.push(edit.ordinal);
            for site in std::iter::once(&slot.site).chain(&slot.site.copies) {
                pieces.push(Piece::content(site, edit.content));
                pieces.extend(site.also.iter().map(Piece::fixed));
            }
        }
        ordinals.sort_unstable();
        if let Some(pair) = ordinals.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(SpliceError::Twice { ordinal: pair[0] });
        }
        pieces.extend(inserted.iter().map(Piece::fixed));
        // Stable: of several insertions at one place the first stays first.
        pieces.sort_by_key(|piece| (piece.range.start, piece.range.end));
        self.join(&pieces)
    }

    fn join(&self, pieces: &[Piece<'_>]) -> Result<Vec<u8>, SpliceError> {
        // A file that spells everything in ASCII keeps doing so.
        let ascii = self.bytes.is_ascii();
        let grown: usize = pieces.iter().map(Piece::len).sum();
        let mut out = Vec::with_capacity(self.bytes.len() + grown);
        let mut at = 0;
        for piece in pieces {
            if piece.range.start < at {
                return Err(SpliceError::Overlap {
                    offset: piece.range.start,
                });
            }
            out.extend_from_slice(&self.bytes[at..piece.range.start]);
            out.extend_from_slice(piece.before.as_bytes());
            encode(&mut out, piece.content, piece.levels, ascii);
            out.extend_from_slice(piece.after.as_bytes());
            at = piece.range.end;
        }
        out.extend_from_slice(&self.bytes[at..]);
        Ok(out)
    }
}

struct Piece<'p> {
    range: Range<usize>,
    before: &'p str,
    content: &'p str,
    after: &'p str,
    levels: u8,
}

impl<'p> Piece<'p> {
    fn content(site: &'p Site, content: &'p str) -> Piece<'p> {
        Piece {
            range: site.write.clone(),
            before: &site.before,
            content,
            after: &site.after,
            levels: site.levels,
        }
    }

    fn fixed((range, text): &'p (Range<usize>, String)) -> Piece<'p> {
        Piece {
            range: range.clone(),
            before: text,
            content: "",
            after: "",
            levels: 0,
        }
    }

    fn len(&self) -> usize {
        self.before.len() + self.content.len() + self.after.len()
    }
}
