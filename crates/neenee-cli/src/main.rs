//! The `neenee` binary: arguments become settings, a library call, a rendering.
//! Deliberately not a place for policy or formats; those are `neenee-core` and `neenee-wire`.

fn main() {}
