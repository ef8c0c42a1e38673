//! Formats: recognise, read and splice the bodies and session files of LLM agents.
//! Deliberately not I/O and not policy: bytes in, bytes out; what to prune is `neenee-core`'s.
#![forbid(unsafe_code)]
