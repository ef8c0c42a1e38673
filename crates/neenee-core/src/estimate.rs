//! Token estimates: one pass over text, no vocabulary file.
//! Deliberately not exact; exact counts need a tokenizer and are used in calibration only.

mod automaton;
pub mod media;
mod scan;
mod weights;

use std::ops::{Add, AddAssign};

/// Whose tokenizer an estimate stands in for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TokenizerFamily {
    /// None in particular: the mean of the others.
    #[default]
    Mixed,
    /// GPT-4o and later. Claude, which publishes no tokenizer, is estimated as this times a factor.
    O200k,
    /// Gemini and Gemma.
    Gemini,
    /// Llama 3.
    Llama3,
    /// Qwen 3.
    Qwen3,
    /// DeepSeek.
    DeepSeek,
}

impl TokenizerFamily {
    /// Every family, the family-less default first.
    pub const ALL: [Self; 6] = [
        Self::Mixed,
        Self::O200k,
        Self::Gemini,
        Self::Llama3,
        Self::Qwen3,
        Self::DeepSeek,
    ];

    /// The name in tables and configuration, lowercase ASCII.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Mixed => "mixed",
            Self::O200k => "o200k",
            Self::Gemini => "gemini",
            Self::Llama3 => "llama3",
            Self::Qwen3 => "qwen3",
            Self::DeepSeek => "deepseek",
        }
    }

    /// The family of that [`name`](Self::name), in any case; `None` for any other.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|family| family.name().eq_ignore_ascii_case(name))
    }
}

/// How tokens are estimated for one model.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimator {
    family: TokenizerFamily,
    factor: f32,
}

impl Estimator {
    /// An estimator that stands in for the tokenizers of `family`.
    #[must_use]
    pub fn new(family: TokenizerFamily) -> Self {
        Self {
            family,
            factor: 1.0,
        }
    }

    /// The same with its counts multiplied: what a model without a public tokenizer counts more
    /// than the family it is estimated by. A factor that is not finite or not above 0 is ignored.
    #[must_use]
    pub fn with_factor(self, factor: f32) -> Self {
        if factor.is_finite() && factor > 0.0 {
            Self { factor, ..self }
        } else {
            self
        }
    }

    /// Whose tokenizer this stands in for.
    #[must_use]
    pub fn family(&self) -> TokenizerFamily {
        self.family
    }

    /// What the family's count is multiplied by.
    #[must_use]
    pub fn factor(&self) -> f32 {
        self.factor
    }

    /// The estimated tokens of `text`: 0 for an empty text, at least 1 for any other.
    #[must_use]
    pub fn tokens(&self, text: &str) -> usize {
        if text.is_empty() {
            return 0;
        }
        self.round(scan::weigh(self.family, text.as_bytes()))
    }

    /// Chars, lines and estimated tokens of `text`, at about the price of the tokens alone.
    #[must_use]
    pub fn measure(&self, text: &str) -> Measure {
        Measure {
            chars: count_chars(text),
            lines: count_lines(text),
            tokens: self.tokens(text),
        }
    }

    fn round(&self, tokens: f64) -> usize {
        // A float cast saturates, so that no factor overflows.
        ((tokens * f64::from(self.factor)).round() as usize).max(1)
    }
}

impl Default for Estimator {
    fn default() -> Self {
        Self::new(TokenizerFamily::default())
    }
}

/// The size of a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Measure {
    /// Unicode scalars.
    pub chars: usize,
    /// Lines: 0 for an empty text, a trailing newline does not add one, `\r\n` is one.
    pub lines: usize,
    /// Estimated tokens.
    pub tokens: usize,
}

impl Add for Measure {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            chars: self.chars + other.chars,
            lines: self.lines + other.lines,
            tokens: self.tokens + other.tokens,
        }
    }
}

impl AddAssign for Measure {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

/// The estimated tokens of `text` for no tokenizer in particular: 0 for an empty text, at least 1
/// for any other.
#[must_use]
pub fn estimate_tokens(text: &str) -> usize {
    Estimator::default().tokens(text)
}

/// The Unicode scalars of `text`.
#[must_use]
pub fn count_chars(text: &str) -> usize {
    if text.is_ascii() {
        return text.len();
    }
    // A byte that continues a scalar is below -64 as a signed one. Sums that fit a byte are what the
    // compiler turns into vector instructions.
    let scalars = |bytes: &[u8]| -> u8 {
        let starts = bytes.iter().map(|byte| u8::from(*byte as i8 >= -64));
        starts.sum()
    };
    let chunks = text.as_bytes().chunks(192);
    chunks.map(|chunk| usize::from(scalars(chunk))).sum()
}

/// The lines of `text`, as [`Measure::lines`] counts them.
#[must_use]
pub fn count_lines(text: &str) -> usize {
    let newlines = memchr::memchr_iter(b'\n', text.as_bytes()).count();
    newlines + usize::from(!text.is_empty() && !text.ends_with('\n'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn families_have_names_that_parse() {
        for family in TokenizerFamily::ALL {
            assert_eq!(TokenizerFamily::parse(family.name()), Some(family));
        }
        assert_eq!(
            TokenizerFamily::parse("DeepSeek"),
            Some(TokenizerFamily::DeepSeek)
        );
        assert_eq!(TokenizerFamily::parse("claude"), None);
    }

    #[test]
    fn lines_are_what_an_editor_shows() {
        for (text, lines) in [
            ("", 0),
            ("a", 1),
            ("a\n", 1),
            ("\n", 1),
            ("a\r\nb", 2),
            ("a\n\nb\n", 3),
        ] {
            assert_eq!(Estimator::default().measure(text).lines, lines, "{text:?}");
        }
    }

    #[test]
    fn a_factor_scales_and_a_senseless_one_does_not() {
        let text = "fn main() { println!(\"hello\"); }\n".repeat(40);
        let plain = Estimator::new(TokenizerFamily::O200k);
        let scaled = plain.with_factor(1.5).tokens(&text);
        assert_eq!(scaled, (plain.tokens(&text) as f64 * 1.5).round() as usize);
        for factor in [0.0, -1.0, f32::NAN, f32::INFINITY] {
            assert_eq!(plain.with_factor(factor), plain);
        }
    }

    #[test]
    fn nothing_is_free_but_the_empty_text() {
        assert_eq!(estimate_tokens(""), 0);
        for text in ["a", " ", "\n", "ls", "\u{301}", "\u{200d}"] {
            assert!(estimate_tokens(text) >= 1, "{text:?}");
        }
    }

    /// True counts of o200k_base, for texts of kinds that a window holds.
    #[test]
    fn estimates_are_near_true_counts() {
        let estimator = Estimator::new(TokenizerFamily::O200k);
        for (text, tokens) in [
            ("The quick brown fox jumps over the lazy dog. ", 10),
            ("The cat sat on the mat, and nobody asked it to leave. ", 14),
        ] {
            let estimate = estimator.tokens(&text.repeat(50)) as f64;
            let truth = f64::from(tokens * 50);
            assert!(
                (estimate - truth).abs() / truth < 0.25,
                "{estimate} for {truth} of {text:?}"
            );
        }
    }

    #[test]
    fn a_glyph_is_about_a_token_and_a_letter_a_quarter() {
        for (text, least, most) in [
            ("上下文窗口被旧的工具结果占满了需要清理", 0.5, 1.3),
            ("Контекст заполняется старыми результатами", 0.2, 0.6),
            ("النافذة ممتلئة بنتائج الأدوات القديمة", 0.25, 0.8),
            ("コンテキストのウィンドウ", 0.4, 1.1),
            ("도구결과가창을채웁니다", 0.4, 1.2),
            ("internationalization of ordinary sentences", 0.1, 0.35),
        ] {
            let text = text.repeat(100);
            for family in TokenizerFamily::ALL {
                let each = Estimator::new(family).tokens(&text) as f64 / count_chars(&text) as f64;
                assert!(
                    (least..=most).contains(&each),
                    "{each} a scalar by {} of {:.30}",
                    family.name(),
                    text
                );
            }
        }
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_measured(text in "\\PC{0,400}|[ -~\n\t]{0,3000}") {
            for family in TokenizerFamily::ALL {
                let measure = Estimator::new(family).measure(&text);
                proptest::prop_assert_eq!(measure.chars, text.chars().count());
                proptest::prop_assert_eq!(measure.lines, text.lines().count());
                proptest::prop_assert_eq!(measure.tokens == 0, text.is_empty());
                proptest::prop_assert!(measure.tokens <= 3 * text.len() + 1);
            }
        }

        #[test]
        fn parts_add_up_to_the_whole(lines in proptest::collection::vec("[ -~]{0,200}", 0..30)) {
            let whole: String = lines.iter().map(|line| format!("{line}\n")).collect();
            let parts: usize = lines.iter().map(|line| estimate_tokens(&format!("{line}\n"))).sum();
            let off = parts.abs_diff(estimate_tokens(&whole));
            // Each part is rounded; a line feed leaves the automaton where a text begins.
            proptest::prop_assert!(off <= lines.len() + 8 + parts / 20, "off by {} of {}", off, parts);
        }
    }
}
