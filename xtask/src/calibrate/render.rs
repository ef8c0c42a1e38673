//! The fitted weights as a source file.
//! Deliberately rounded: the estimator adds whole numbers.

use super::data::{Data, TOKENIZERS};
use super::fit::Fit;
use std::fmt::Write as _;

/// Units of the weights in a token: the rounding is far below the error.
const ONE_TOKEN: u16 = 4096;

/// The whole file, whose bytes depend on `data` alone.
pub(super) fn weights(data: &Data, fits: &[Fit]) -> String {
    let mut file = format!(
        "//! Weights of the automaton's features by tokenizer family, in 1/4096 of a token; generated.\n\
         //! Deliberately not edited by hand: `cargo xtask calibrate` fits them and writes this file.\n\
         //!\n\
         //! Fitted to the true token counts of {} texts from {} sources (tool results, calls and messages of\n\
         //! coding sessions, source files, prose, JSON, hashes, base64) by a ridge regression that minimises the\n\
         //! squared error of each text over its tokens, large errors by their amount (Huber), and holds\n\
         //! scripts that the texts lack to what they cost the tokenizers elsewhere. `MIXED` is fitted\n\
         //! to the mean of the five tokenizers. The tool prints the errors on sources left out of the fit.\n\n\
         /// Units in a token.\n\
         pub(super) const ONE_TOKEN: i32 = {ONE_TOKEN};\n",
        data.rows.len(),
        data.sources.len(),
    );
    for (target, fit) in fits.iter().enumerate() {
        let name = match target {
            0 => "MIXED".to_owned(),
            _ => TOKENIZERS[target - 1].to_uppercase(),
        };
        // Writing to a String cannot fail.
        let _ = write!(
            file,
            "\n#[rustfmt::skip]\npub(super) const {name}: &[i16] = &[\n"
        );
        for line in fit.whole.chunks(16) {
            let numbers: Vec<String> = line.iter().map(|weight| number(*weight)).collect();
            let _ = writeln!(file, "    {},", numbers.join(", "));
        }
        file.push_str("];\n");
    }
    file
}

fn number(weight: f64) -> String {
    ((weight * f64::from(ONE_TOKEN)).round() as i16).to_string()
}
