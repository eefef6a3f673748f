-- What was not captured, and when anybody was there to capture.

-- One row for each handle that keeps a store open for a while and commits: open and close markers.
-- A handle that ended without its closing marker keeps none.
CREATE TABLE capture_binding (
    id           INTEGER PRIMARY KEY,
    public_id    TEXT    NOT NULL UNIQUE,
    holder       TEXT    NOT NULL,
    opened_at_us INTEGER NOT NULL,
    closed_at_us INTEGER
) STRICT;

-- Facts that are known to be missing, recorded when storage had recovered.
CREATE TABLE capture_gap (
    id             INTEGER PRIMARY KEY,
    public_id      TEXT    NOT NULL UNIQUE,
    cause          TEXT    NOT NULL CHECK (cause IN (
        'append_refused', 'store_locked', 'store_absent', 'store_moved', 'store_read_only',
        'store_damaged', 'disk_full')),
    facts          INTEGER NOT NULL CHECK (facts >= 1),
    first_at_us    INTEGER NOT NULL,
    last_at_us     INTEGER NOT NULL,
    recorded_at_us INTEGER NOT NULL,
    detail         TEXT
) STRICT;
