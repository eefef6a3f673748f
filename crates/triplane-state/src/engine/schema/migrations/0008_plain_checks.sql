-- The same rules in other words, which cost less when many rows are written together.
--
-- SQLite puts the values of a list into a table of their own each time it holds a row against three or
-- more of them, which took a third of an insert. And where a statement that adds many rows can fail in
-- the middle, it copies every page before it changes it: parents are looked for at once as before, but
-- a missing one is refused when the transaction is committed.

CREATE TABLE fact (
    id              INTEGER PRIMARY KEY,
    public_id       TEXT    NOT NULL UNIQUE,
    session_id      INTEGER NOT NULL REFERENCES session (id) DEFERRABLE INITIALLY DEFERRED,
    identity        TEXT    NOT NULL UNIQUE,
    shape           TEXT    NOT NULL,
    digest          TEXT    NOT NULL,
    event           TEXT    NOT NULL,
    subject         TEXT,
    outcome         TEXT    NOT NULL,
    occurred_at_us  INTEGER NOT NULL,
    committed_at_us INTEGER NOT NULL,
    first_audit     INTEGER,
    audits          INTEGER NOT NULL DEFAULT 0 CHECK (audits >= 0),
    first_signal    INTEGER,
    signals         INTEGER NOT NULL DEFAULT 0 CHECK (signals >= 0),
    first_intent    INTEGER,
    intents         INTEGER NOT NULL DEFAULT 0 CHECK (intents >= 0)
) STRICT;

INSERT INTO fact SELECT * FROM operation;
DROP TABLE operation;
ALTER TABLE fact RENAME TO operation;

CREATE TABLE signal (
    id              INTEGER PRIMARY KEY,
    public_id       TEXT    NOT NULL UNIQUE,
    session_id      INTEGER NOT NULL REFERENCES session (id) DEFERRABLE INITIALLY DEFERRED,
    sequence        INTEGER NOT NULL CHECK (sequence >= 1),
    operation_id    INTEGER NOT NULL REFERENCES operation (id) DEFERRABLE INITIALLY DEFERRED,
    kind            TEXT    NOT NULL,
    emitter         TEXT    NOT NULL CHECK (emitter = 'owner' OR emitter = 'provider'),
    invocation      TEXT,
    occurred_at_us  INTEGER NOT NULL,
    payload_type    TEXT    NOT NULL,
    payload_version INTEGER NOT NULL,
    payload         TEXT    NOT NULL,
    UNIQUE (session_id, sequence)
) STRICT;

INSERT INTO signal SELECT * FROM signal_log;
DROP TABLE signal_log;
ALTER TABLE signal RENAME TO signal_log;

CREATE TABLE intent (
    id                 INTEGER PRIMARY KEY,
    public_id          TEXT    NOT NULL UNIQUE,
    signal_id          INTEGER NOT NULL REFERENCES signal_log (id) DEFERRABLE INITIALLY DEFERRED,
    sink               TEXT    NOT NULL,
    dedup_key          TEXT,
    status             TEXT    NOT NULL CHECK (
        status = 'pending' OR status = 'delivering' OR status = 'delivered' OR status = 'acked'
        OR status = 'dead_letter' OR status = 'expired'
    ),
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
    snapshot_id        INTEGER REFERENCES delivery_snapshot (id) DEFERRABLE INITIALLY DEFERRED,
    ack_required       INTEGER NOT NULL DEFAULT 0 CHECK (ack_required = 0 OR ack_required = 1),
    unacked            INTEGER NOT NULL DEFAULT 0 CHECK (unacked >= 0),
    lease_boot_us      INTEGER,
    CHECK ((status = 'delivering') = (lease_holder IS NOT NULL)),
    CHECK (status <> 'delivering' OR attempt >= 1),
    CHECK (failures + interrupted <= attempt)
) STRICT;

INSERT INTO intent SELECT * FROM outbox;
DROP TABLE outbox;
ALTER TABLE intent RENAME TO outbox;

CREATE UNIQUE INDEX outbox_dedup_key ON outbox (dedup_key) WHERE dedup_key IS NOT NULL;
CREATE INDEX outbox_due ON outbox (sink, next_attempt_at_us, id)
    WHERE status IN ('pending', 'delivering');
CREATE INDEX outbox_lease ON outbox (lease_holder, id) WHERE status = 'delivering';
CREATE INDEX outbox_dead_letter ON outbox (id) WHERE status IN ('dead_letter', 'expired');
CREATE INDEX outbox_ahead ON outbox (updated_at_us) WHERE status IN ('pending', 'delivering');

CREATE TRIGGER outbox_edge
BEFORE UPDATE OF status ON outbox
WHEN NOT (
    (OLD.status = 'pending'
        AND (NEW.status = 'delivering' OR NEW.status = 'acked' OR NEW.status = 'expired'))
    OR (OLD.status = 'delivering'
        AND (NEW.status = 'pending' OR NEW.status = 'delivering' OR NEW.status = 'delivered'
            OR NEW.status = 'acked' OR NEW.status = 'dead_letter' OR NEW.status = 'expired'))
    OR ((OLD.status = 'dead_letter' OR OLD.status = 'expired') AND NEW.status = 'pending')
)
BEGIN
    SELECT RAISE(ABORT, 'outbox: this edge is not in the graph');
END;

CREATE TRIGGER outbox_acked
BEFORE UPDATE OF status ON outbox
WHEN NEW.status = 'acked' AND (NEW.ack_required = 0 OR NEW.attempt = 0)
BEGIN
    SELECT RAISE(ABORT, 'outbox: nothing was sent that could be acknowledged');
END;

CREATE TABLE evidence (
    id               INTEGER PRIMARY KEY,
    public_id        TEXT    NOT NULL,
    operation_id     INTEGER NOT NULL REFERENCES operation (id) DEFERRABLE INITIALLY DEFERRED,
    outcome          TEXT    NOT NULL,
    emitter          TEXT    NOT NULL CHECK (emitter = 'owner' OR emitter = 'provider'),
    decision         TEXT,
    enforcement      TEXT CHECK (
        enforcement = 'enforced' OR enforcement = 'advisory' OR enforcement = 'after_the_fact'
    ),
    rule             TEXT,
    reason           TEXT,
    notes            TEXT,
    arguments_before TEXT,
    arguments_after  TEXT,
    CHECK ((decision IS NULL) = (enforcement IS NULL)),
    CHECK ((arguments_before IS NULL) = (arguments_after IS NULL))
) STRICT;

INSERT INTO evidence SELECT * FROM audit;
DROP TABLE audit;
ALTER TABLE evidence RENAME TO audit;

CREATE TABLE tombstone (
    outbox_id INTEGER PRIMARY KEY,
    public_id TEXT    NOT NULL UNIQUE,
    dedup_key TEXT,
    status    TEXT    NOT NULL CHECK (
        status = 'delivered' OR status = 'acked' OR status = 'dead_letter' OR status = 'expired'
    ),
    purge_id  INTEGER NOT NULL REFERENCES outbox_purge (id)
) STRICT;

INSERT INTO tombstone SELECT * FROM outbox_tombstone;
DROP TABLE outbox_tombstone;
ALTER TABLE tombstone RENAME TO outbox_tombstone;

CREATE UNIQUE INDEX outbox_tombstone_dedup_key ON outbox_tombstone (dedup_key)
    WHERE dedup_key IS NOT NULL;
