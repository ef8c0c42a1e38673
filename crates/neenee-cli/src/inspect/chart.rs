//! Bars made of text, for terminals.
//! Deliberately plain: block characters carry the meaning, colour is only added where allowed.

/// A bar of at most `width` cells for `part` of `whole`, in eighths of a cell.
pub(crate) fn bar(part: usize, whole: usize, width: usize) -> String {
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    if whole == 0 {
        return String::new();
    }
    let eighths = (part.min(whole) * width * 8 + whole / 2) / whole;
    let mut out = "█".repeat(eighths / 8);
    out.push_str(EIGHTHS[eighths % 8]);
    if out.is_empty() && part > 0 {
        out.push('▏');
    }
    out
}

/// A gauge of `width` cells with a mark at each threshold: `███████░░░|░░░|░`.
pub(crate) fn gauge(value: usize, whole: usize, marks: &[usize], width: usize) -> String {
    let cell = |tokens: usize| (tokens * width).checked_div(whole).unwrap_or(0).min(width);
    let filled = cell(value);
    (0..width)
        .map(|at| {
            if marks.iter().any(|&mark| cell(mark) == at) {
                '|'
            } else if at < filled {
                '█'
            } else {
                '░'
            }
        })
        .collect()
}

/// `12.3 %` of the whole.
pub(crate) fn percent(part: usize, whole: usize) -> String {
    if whole == 0 {
        return "–".to_owned();
    }
    format!("{:.1} %", part as f64 * 100.0 / whole as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_and_numbers() {
        assert_eq!(bar(1, 2, 4), "██");
        assert_eq!(bar(1, 1_000, 4), "▏");
        assert_eq!(bar(0, 10, 4), "");
        assert_eq!(bar(3, 16, 2), "▍");
        assert_eq!(gauge(50, 100, &[65, 85], 20), "██████████░░░|░░░|░░");
        assert_eq!(percent(1, 3), "33.3 %");
    }
}
