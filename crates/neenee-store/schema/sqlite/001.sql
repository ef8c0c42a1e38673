-- Version 1. Times are ms since 1970, sizes are bytes, digests are the 32 bytes of BLAKE3.

CREATE TABLE session (
    no INTEGER PRIMARY KEY,
    id BLOB NOT NULL UNIQUE,
    name TEXT,
    origin TEXT NOT NULL,
    created_ms INTEGER NOT NULL,
    used_ms INTEGER NOT NULL,
    parent BLOB,
    parent_seq INTEGER,
    last_seq INTEGER NOT NULL,
    bytes INTEGER NOT NULL DEFAULT 0,
    epoch INTEGER NOT NULL DEFAULT 1,
    removed INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE UNIQUE INDEX session_name ON session (name) WHERE name IS NOT NULL AND removed = 0;
CREATE INDEX session_parent ON session (parent) WHERE parent IS NOT NULL;

-- The log. Nothing here is ever changed.
CREATE TABLE record (
    session INTEGER NOT NULL REFERENCES session (no) ON DELETE CASCADE,
    seq INTEGER NOT NULL,
    at_ms INTEGER NOT NULL,
    kind TEXT NOT NULL,
    version INTEGER NOT NULL,
    payload BLOB NOT NULL,
    checked BLOB NOT NULL,
    PRIMARY KEY (session, seq)
) STRICT;

-- A body is raw while a window holds it, and in a pack once it was archived.
CREATE TABLE pack (
    number INTEGER PRIMARY KEY,
    raw_bytes INTEGER NOT NULL,
    data BLOB NOT NULL
) STRICT;

CREATE TABLE body (
    no INTEGER PRIMARY KEY,
    digest BLOB NOT NULL UNIQUE,
    length INTEGER NOT NULL,
    raw BLOB,
    pack INTEGER REFERENCES pack (number),
    start INTEGER,
    CHECK ((raw IS NULL) <> (pack IS NULL))
) STRICT;

CREATE INDEX body_pack ON body (pack) WHERE pack IS NOT NULL;

-- Which session's records refer to which body.
CREATE TABLE uses (
    session INTEGER NOT NULL REFERENCES session (no) ON DELETE CASCADE,
    digest BLOB NOT NULL,
    PRIMARY KEY (session, digest)
) STRICT, WITHOUT ROWID;

CREATE INDEX uses_digest ON uses (digest);

-- Only speeds up loading; rebuilt from the log whenever it does not fit.
CREATE TABLE snapshot (
    session INTEGER PRIMARY KEY REFERENCES session (no) ON DELETE CASCADE,
    data BLOB NOT NULL
) STRICT;
