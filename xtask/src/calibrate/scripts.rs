//! What a scalar of each script costs each tokenizer, to fall back on where the data has none.
//! Deliberately few digits: averages over ordinary prose.

use super::automaton::SCRIPT_COUNT;
use super::data::TOKENIZERS;

/// Tokens a scalar, by script and by tokenizer in the order of [`TOKENIZERS`].
///
/// Where a script is written in words these are measured: the public tokenizers of o200k, Llama 3,
/// Qwen and DeepSeek over the runs of that script in the translations that Django 5.2 ships, the
/// languages of a script averaged. Gemini's vocabulary of the same size is taken to do as o200k's.
#[rustfmt::skip]
pub(super) const PRIORS: [[f64; TOKENIZERS.len()]; SCRIPT_COUNT] = [
    /* latin sign */ [1.0, 1.0, 1.0, 1.0, 1.0],
    /* latin */ [0.6, 0.6, 0.75, 0.8, 0.75],
    /* combining */ [1.0, 1.0, 1.0, 1.0, 1.0],
    /* greek */ [0.41, 0.41, 0.43, 1.0, 0.53],
    /* cyrillic */ [0.34, 0.34, 0.38, 0.45, 0.40],
    /* hebrew, armenian */ [0.43, 0.43, 1.4, 0.8, 0.6],
    /* arabic */ [0.35, 0.35, 0.40, 0.55, 0.43],
    /* other of 2 bytes */ [1.0, 1.0, 1.5, 1.5, 1.5],
    /* indic */ [0.42, 0.42, 1.3, 1.3, 0.75],
    /* thai */ [0.42, 0.42, 0.52, 0.65, 0.44],
    /* georgian and others */ [0.45, 0.45, 2.1, 1.3, 0.9],
    /* vietnamese */ [0.7, 0.7, 0.8, 0.8, 0.9],
    /* general punctuation */ [1.0, 1.0, 1.0, 1.0, 1.0],
    /* signs */ [1.3, 1.3, 1.5, 1.5, 1.5],
    /* arrows, mathematics */ [1.1, 1.1, 1.1, 1.1, 1.1],
    /* boxes */ [0.8, 0.8, 0.8, 0.8, 0.8],
    /* dingbats */ [1.3, 1.3, 1.5, 1.5, 1.5],
    /* kana */ [0.71, 0.71, 0.71, 0.74, 0.73],
    /* ideographic punctuation */ [0.8, 0.8, 0.8, 0.8, 0.8],
    /* han */ [0.85, 0.85, 0.9, 0.9, 0.8],
    /* hangul */ [0.68, 0.68, 0.73, 0.83, 0.84],
    /* full width, private */ [1.0, 1.0, 1.0, 1.0, 1.0],
    /* emoji */ [1.8, 1.8, 2.2, 2.2, 1.8],
    /* other of 4 bytes */ [3.0, 3.0, 3.0, 3.0, 3.0],
];
