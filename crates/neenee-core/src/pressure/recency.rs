//! Pass 1: which of the newest results are protected.
//! Deliberately a walk over sizes alone; what they hold does not matter here.

/// What the walk needs to know of one result.
pub(crate) struct Weight {
    /// Chars now in the window, children included.
    pub(crate) chars: usize,
    /// An error result counts less, so that evidence of failures outlives success logs.
    pub(crate) is_error: bool,
}

/// How many results, newest first, are protected until their chars reach `budget`. The one that
/// crosses the line is protected too; a budget of 0 protects none.
pub(crate) fn protected(
    newest_first: impl Iterator<Item = Weight>,
    budget: usize,
    error_weight: f64,
) -> usize {
    let mut count = 0;
    let mut sum = 0.0;
    for weight in newest_first {
        if sum >= budget as f64 {
            break;
        }
        let factor = if weight.is_error { error_weight } else { 1.0 };
        sum += weight.chars as f64 * factor;
        count += 1;
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_result_that_crosses_the_line_is_protected() {
        let check = |sizes: &[(usize, bool)], budget, error_weight, expect| {
            let weights = sizes
                .iter()
                .map(|&(chars, is_error)| Weight { chars, is_error });
            assert_eq!(
                protected(weights, budget, error_weight),
                expect,
                "{sizes:?}"
            );
        };
        check(&[(10, false), (10, false), (10, false)], 15, 1.0, 2);
        check(&[(10, false), (10, false), (10, false)], 20, 1.0, 2);
        check(&[(100, false), (10, false)], 1, 1.0, 1);
        check(&[(10, false)], 0, 1.0, 0);
        check(&[(40, true), (10, false), (10, false)], 20, 0.25, 2);
        check(&[(40, true), (10, false)], 20, 1.0, 1);
    }
}
