//! Token estimates: one pass over text, no vocabulary file.
//! Deliberately not exact; exact counts need a tokenizer and are used in calibration only.

/// Whose tokenizer an estimate stands in for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TokenizerFamily {
    /// None in particular: the mean of the others.
    #[default]
    Default,
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
