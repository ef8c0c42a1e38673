//! Tests of the test kit itself, in one binary.
//! Deliberately nothing of the product.

#[cfg(feature = "upstream")]
mod upstream;
