-- Integer keys inside, UUID text outside; times are microseconds since 1970 UTC.

-- One row. store_id is made once and kept by backups; store_epoch changes with every copy.
CREATE TABLE meta (
    id            INTEGER PRIMARY KEY CHECK (id = 1),
    store_id      TEXT    NOT NULL,
    store_epoch   TEXT    NOT NULL,
    created_at_us INTEGER NOT NULL
) STRICT;

CREATE TABLE session (
    id          INTEGER PRIMARY KEY,
    name        TEXT    NOT NULL UNIQUE,
    first_at_us INTEGER NOT NULL
) STRICT;

-- The authoritative outcome. Everything below refers to it or to a row that does.
CREATE TABLE operation (
    id              INTEGER PRIMARY KEY,
    public_id       TEXT    NOT NULL UNIQUE,
    session_id      INTEGER NOT NULL REFERENCES session (id),
    identity        TEXT    NOT NULL UNIQUE,
    shape           TEXT    NOT NULL,
    digest          TEXT    NOT NULL,
    event           TEXT    NOT NULL,
    subject         TEXT,
    outcome         TEXT    NOT NULL,
    occurred_at_us  INTEGER NOT NULL,
    committed_at_us INTEGER NOT NULL
) STRICT;

-- Evidence of how an operation was judged. Written with its operation or not at all.
CREATE TABLE audit (
    id               INTEGER PRIMARY KEY,
    public_id        TEXT    NOT NULL UNIQUE,
    operation_id     INTEGER NOT NULL REFERENCES operation (id),
    outcome          TEXT    NOT NULL,
    emitter          TEXT    NOT NULL CHECK (emitter IN ('owner', 'provider')),
    decision         TEXT,
    enforcement      TEXT CHECK (enforcement IN ('enforced', 'advisory', 'after_the_fact')),
    rule             TEXT,
    reason           TEXT,
    notes            TEXT,
    arguments_before TEXT,
    arguments_after  TEXT,
    CHECK ((decision IS NULL) = (enforcement IS NULL)),
    CHECK ((arguments_before IS NULL) = (arguments_after IS NULL))
) STRICT;

CREATE INDEX audit_operation ON audit (operation_id);

-- Append-only. The sequence is dense from 1 in each session and assigned by the transaction that
-- commits the row, so a reader that has seen n never later finds a new row at or below n.
CREATE TABLE signal_log (
    id              INTEGER PRIMARY KEY,
    public_id       TEXT    NOT NULL UNIQUE,
    session_id      INTEGER NOT NULL REFERENCES session (id),
    sequence        INTEGER NOT NULL CHECK (sequence >= 1),
    operation_id    INTEGER NOT NULL REFERENCES operation (id),
    kind            TEXT    NOT NULL,
    emitter         TEXT    NOT NULL CHECK (emitter IN ('owner', 'provider')),
    invocation      TEXT,
    occurred_at_us  INTEGER NOT NULL,
    payload_type    TEXT    NOT NULL,
    payload_version INTEGER NOT NULL,
    payload         TEXT    NOT NULL,
    UNIQUE (session_id, sequence)
) STRICT;

-- The intent to convey one signal to one sink (ADR-0059). The payload is not copied: it is read
-- from the signal when a delivery is made. While `delivering`, next_attempt_at_us is the end of the
-- lease: from then on anybody may claim the next attempt.
CREATE TABLE outbox (
    id                 INTEGER PRIMARY KEY,
    public_id          TEXT    NOT NULL UNIQUE,
    signal_id          INTEGER NOT NULL REFERENCES signal_log (id),
    sink               TEXT    NOT NULL,
    dedup_key          TEXT,
    status             TEXT    NOT NULL CHECK (
        status IN ('pending', 'delivering', 'delivered', 'acked', 'dead_letter', 'expired')
    ),
    -- Every claim counts as an attempt, and fences what is settled. Of those, failures were answered
    -- by the sink, and interrupted ones by nobody: their process died or lost its lease.
    attempt            INTEGER NOT NULL CHECK (attempt >= 0),
    failures           INTEGER NOT NULL DEFAULT 0 CHECK (failures >= 0),
    interrupted        INTEGER NOT NULL DEFAULT 0 CHECK (interrupted >= 0),
    next_attempt_at_us INTEGER NOT NULL,
    expires_at_us      INTEGER,
    lease_holder       TEXT,
    last_error         TEXT,
    receipt            TEXT,
    created_at_us      INTEGER NOT NULL,
    updated_at_us      INTEGER NOT NULL,
    CHECK ((status = 'delivering') = (lease_holder IS NOT NULL)),
    CHECK (status <> 'delivering' OR attempt >= 1),
    CHECK (failures + interrupted <= attempt)
) STRICT;

CREATE UNIQUE INDEX outbox_dedup_key ON outbox (dedup_key) WHERE dedup_key IS NOT NULL;

-- The due scan: one sink, in order, never past what is already settled.
CREATE INDEX outbox_due ON outbox (sink, next_attempt_at_us, id)
    WHERE status IN ('pending', 'delivering');

-- Who holds leases: as small as what is in flight.
CREATE INDEX outbox_lease ON outbox (lease_holder, id) WHERE status = 'delivering';

CREATE INDEX outbox_dead_letter ON outbox (id) WHERE status IN ('dead_letter', 'expired');

-- The closed edge graph. The same table stands in outbox/entry.rs; a test holds both together.
CREATE TRIGGER outbox_edge
BEFORE UPDATE OF status ON outbox
WHEN NOT (
    (OLD.status = 'pending'
        AND NEW.status IN ('delivering', 'acked', 'expired'))
    OR (OLD.status = 'delivering'
        AND NEW.status IN
            ('pending', 'delivering', 'delivered', 'acked', 'dead_letter', 'expired'))
    OR (OLD.status IN ('dead_letter', 'expired')
        AND NEW.status = 'pending')
)
BEGIN
    SELECT RAISE(ABORT, 'outbox: this edge is not in the graph');
END;

-- The history of an intent: one row for each change, written in the transaction of the change.
-- No foreign key: history outlives the intent.
CREATE TABLE outbox_transition (
    outbox_id   INTEGER NOT NULL,
    ordinal     INTEGER NOT NULL CHECK (ordinal >= 1),
    from_status TEXT,
    to_status   TEXT    NOT NULL,
    attempt     INTEGER NOT NULL,
    reason      TEXT    NOT NULL,
    detail      TEXT,
    at_us       INTEGER NOT NULL,
    PRIMARY KEY (outbox_id, ordinal)
) STRICT, WITHOUT ROWID;
