//! Which lines of a file a call read.
//! Deliberately no more than two numbers: how they are found is `settle`'s, what follows from them `pressure`'s.

/// A run of lines of one file, counted from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct LineRange {
    /// The first line, 1-based.
    pub start: u64,
    /// The line after the last one; `None` where the range runs to the end of the file, wherever that is.
    pub end: Option<u64>,
}

impl LineRange {
    /// The whole file.
    pub const WHOLE: Self = Self {
        start: 1,
        end: None,
    };

    /// No line that one could name: a result cut in the middle without line numbers, the last lines of
    /// a file of unknown length. It covers nothing, and only [`LineRange::WHOLE`] covers it.
    pub const NOTHING: Self = Self {
        start: 1,
        end: Some(1),
    };

    /// Lines `start` to `end`, the end exclusive; [`LineRange::NOTHING`] when that leaves no line.
    #[must_use]
    pub fn new(start: u64, end: Option<u64>) -> Self {
        let start = start.max(1);
        match end {
            Some(end) if end <= start => Self::NOTHING,
            _ => Self { start, end },
        }
    }

    /// Whether the range names no line at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.end.is_some_and(|end| end <= self.start)
    }

    /// Whether whoever has seen `self` has seen all of `other`.
    #[must_use]
    pub fn covers(&self, other: &Self) -> bool {
        if self.is_empty() {
            return false;
        }
        if other.is_empty() {
            // What it showed is unknown, so only everything is surely enough.
            return self.start <= 1 && self.end.is_none();
        }
        self.start <= other.start
            && match (self.end, other.end) {
                (None, _) => true,
                (Some(_), None) => false,
                (Some(mine), Some(theirs)) => mine >= theirs,
            }
    }

    /// The lines of `self` that a filter lets through which keeps the lines `window`, counted within `self`.
    pub(super) fn narrowed(self, window: Self) -> Self {
        if self.is_empty() || window.is_empty() {
            return Self::NOTHING;
        }
        let start = self.start.saturating_add(window.start - 1);
        let end = window
            .end
            .map(|end| self.start.saturating_add(end - 1))
            .into_iter()
            .chain(self.end)
            .min();
        Self::new(start, end)
    }
}
