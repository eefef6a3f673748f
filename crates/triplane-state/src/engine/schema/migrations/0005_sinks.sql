-- What sinks have declared, as the worker that delivered last saw it.
CREATE TABLE delivery_sink (
    name                   TEXT    PRIMARY KEY,
    idempotency            TEXT    NOT NULL CHECK (idempotency IN ('none', 'window', 'permanent')),
    window_us              INTEGER CHECK ((window_us IS NOT NULL) = (idempotency = 'window')),
    durability             TEXT    NOT NULL CHECK (durability IN ('accepted', 'fsynced')),
    ordering               TEXT    NOT NULL CHECK (ordering IN ('none', 'per_session')),
    payload_bytes_max      INTEGER,
    horizon_us             INTEGER NOT NULL,
    may_duplicate_after_us INTEGER,
    declared_at_us         INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
