-- Version 1. Times are ms since 1970, sizes are bytes, digests are the 32 bytes of BLAKE3. Every key is
-- made by the program, at random or from content: no counter that all writers share.

-- Says whose the schema is; one row.
CREATE TABLE neenee.store (
    program TEXT PRIMARY KEY,
    version BIGINT NOT NULL
);

CREATE TABLE neenee.session (
    id UUID PRIMARY KEY,
    -- By the server's clock, for the order of lists alone.
    made TIMESTAMPTZ NOT NULL DEFAULT clock_timestamp(),
    name TEXT,
    origin TEXT NOT NULL,
    created_ms BIGINT NOT NULL,
    used_ms BIGINT NOT NULL,
    -- So that a parent cannot go while a fork is being made.
    parent UUID REFERENCES neenee.session (id),
    parent_seq BIGINT,
    last_seq BIGINT NOT NULL,
    bytes BIGINT NOT NULL DEFAULT 0,
    removed BOOLEAN NOT NULL DEFAULT FALSE,
    -- The writer's right to the session; `lease_until` is by the server's clock.
    epoch BIGINT NOT NULL DEFAULT 1,
    owner UUID,
    holder TEXT,
    lease_until TIMESTAMPTZ
);

CREATE UNIQUE INDEX session_name ON neenee.session (name) WHERE name IS NOT NULL AND NOT removed;
CREATE INDEX session_parent ON neenee.session (parent) WHERE parent IS NOT NULL;

-- The log. Nothing here is ever changed.
CREATE TABLE neenee.record (
    session UUID NOT NULL REFERENCES neenee.session (id) ON DELETE CASCADE,
    seq BIGINT NOT NULL,
    at_ms BIGINT NOT NULL,
    kind TEXT NOT NULL,
    version BIGINT NOT NULL,
    payload BYTEA NOT NULL,
    checked BYTEA NOT NULL,
    PRIMARY KEY (session, seq)
);

-- A body is raw while a window holds it, and in a pack once it was archived.
CREATE TABLE neenee.pack (
    number BIGINT PRIMARY KEY,
    raw_bytes BIGINT NOT NULL,
    data BYTEA NOT NULL
);

CREATE TABLE neenee.body (
    digest BYTEA PRIMARY KEY,
    length BIGINT NOT NULL,
    raw BYTEA,
    pack BIGINT REFERENCES neenee.pack (number),
    start BIGINT,
    CHECK ((raw IS NULL) <> (pack IS NULL))
);

CREATE INDEX body_pack ON neenee.body (pack) WHERE pack IS NOT NULL;

-- Which session's records refer to which body. The reference to the body is what keeps a sweep from
-- deleting one that a commit beside it is about to use.
CREATE TABLE neenee.uses (
    session UUID NOT NULL REFERENCES neenee.session (id) ON DELETE CASCADE,
    digest BYTEA NOT NULL REFERENCES neenee.body (digest),
    PRIMARY KEY (session, digest)
);

CREATE INDEX uses_digest ON neenee.uses (digest);

-- Only speeds up loading; rebuilt from the log whenever it does not fit.
CREATE TABLE neenee.snapshot (
    session UUID PRIMARY KEY REFERENCES neenee.session (id) ON DELETE CASCADE,
    data BYTEA NOT NULL
);
