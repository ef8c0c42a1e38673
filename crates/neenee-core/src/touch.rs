//! What a tool call touches: files, line ranges, mutations; derived from its name and arguments.
//! Deliberately not who supersedes whom; that is `pressure`'s.
