//! Sums of prefixes of weights that change: a Fenwick tree.
//! Deliberately nothing but addition; positions are the caller's.

/// Weights by position. Adding, changing and summing a prefix cost the logarithm of the length.
#[derive(Clone, Debug, Default)]
pub(crate) struct Fenwick {
    sums: Vec<i64>,
}

impl Fenwick {
    /// `len` positions that weigh nothing.
    pub(crate) fn new(len: usize) -> Self {
        Fenwick {
            sums: vec![0; len + 1],
        }
    }

    /// Adds `by` at `at`; a position that is not there is ignored.
    pub(crate) fn add(&mut self, at: usize, by: i64) {
        let mut index = at + 1;
        while let Some(sum) = self.sums.get_mut(index) {
            *sum += by;
            index += index & index.wrapping_neg();
        }
    }

    /// The weight of all positions before `end`.
    pub(crate) fn before(&self, end: usize) -> usize {
        let mut index = end.min(self.sums.len() - 1);
        let mut sum = 0;
        while index > 0 {
            sum += self.sums[index];
            index &= index - 1;
        }
        usize::try_from(sum).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_follow_changes() {
        let mut tree = Fenwick::new(10);
        for at in 0..10 {
            tree.add(at, at as i64);
        }
        for end in 0..=10 {
            assert_eq!(tree.before(end), (0..end).sum::<usize>());
        }
        tree.add(4, -4);
        assert_eq!(tree.before(5), 6);
        assert_eq!(tree.before(99), 41);
        tree.add(10, 5);
        assert_eq!(tree.before(10), 41);
    }
}
