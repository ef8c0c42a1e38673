//! The harness over a real local HTTP server.
//! Deliberately no unit tests: those stand beside the code.
