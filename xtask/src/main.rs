//! Chores of the repository: tidiness, generated tables, calibration.
//! Deliberately never shipped and never needed to build or run the product.

fn main() {}
