//! Token estimates: one pass over text, no vocabulary file.
//! Deliberately not exact; exact counts need a tokenizer and are used in calibration only.
