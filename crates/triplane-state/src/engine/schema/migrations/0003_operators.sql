-- Acknowledgement by the consumer, frozen destinations, the operator's retry and purge, and leases
-- that a jump of the wall clock does not end.

-- What an intent was enqueued with: sink, destination and filter, frozen. Rows are shared by digest
-- and never change.
CREATE TABLE delivery_snapshot (
    id      INTEGER PRIMARY KEY,
    digest  TEXT    NOT NULL UNIQUE CHECK (length(digest) = 64),
    version INTEGER NOT NULL,
    body    TEXT    NOT NULL
) STRICT;

-- Intents from before this step have no snapshot: the sink's name was all that was frozen.
ALTER TABLE outbox ADD COLUMN snapshot_id INTEGER REFERENCES delivery_snapshot (id);

-- Whether the consumer must confirm, and how many attempts the sink took that nobody confirmed.
ALTER TABLE outbox ADD COLUMN ack_required INTEGER NOT NULL DEFAULT 0 CHECK (ack_required IN (0, 1));
ALTER TABLE outbox ADD COLUMN unacked INTEGER NOT NULL DEFAULT 0 CHECK (unacked >= 0);

-- The end of the lease on the clock that counts from the start of the machine, which nobody sets.
ALTER TABLE outbox ADD COLUMN lease_boot_us INTEGER;

-- The tokens that were sent, one for each attempt, as digests: reading the store gives nobody the
-- right to acknowledge.
CREATE TABLE outbox_ack (
    outbox_id    INTEGER NOT NULL REFERENCES outbox (id) ON DELETE CASCADE,
    attempt      INTEGER NOT NULL CHECK (attempt >= 1),
    token_digest TEXT    NOT NULL CHECK (length(token_digest) = 64),
    PRIMARY KEY (outbox_id, attempt)
) STRICT, WITHOUT ROWID;

-- Nobody can confirm what was never sent, or what nobody was asked to confirm.
CREATE TRIGGER outbox_acked
BEFORE UPDATE OF status ON outbox
WHEN NEW.status = 'acked' AND (NEW.ack_required = 0 OR NEW.attempt = 0)
BEGIN
    SELECT RAISE(ABORT, 'outbox: nothing was sent that could be acknowledged');
END;

-- Rows that were written by a clock which ran ahead of the reader's.
CREATE INDEX outbox_ahead ON outbox (updated_at_us) WHERE status IN ('pending', 'delivering');

-- One row for each purge, written in its transaction.
CREATE TABLE outbox_purge (
    id        INTEGER PRIMARY KEY,
    public_id TEXT    NOT NULL UNIQUE,
    at_us     INTEGER NOT NULL,
    reason    TEXT    NOT NULL,
    detail    TEXT,
    criteria  TEXT    NOT NULL,
    intents   INTEGER NOT NULL CHECK (intents >= 1)
) STRICT;

-- What a purge leaves of an intent: its ids and its dedup key, which stays taken.
CREATE TABLE outbox_tombstone (
    outbox_id INTEGER PRIMARY KEY,
    public_id TEXT    NOT NULL UNIQUE,
    dedup_key TEXT,
    status    TEXT    NOT NULL CHECK (status IN ('delivered', 'acked', 'dead_letter', 'expired')),
    purge_id  INTEGER NOT NULL REFERENCES outbox_purge (id)
) STRICT;

CREATE UNIQUE INDEX outbox_tombstone_dedup_key ON outbox_tombstone (dedup_key)
    WHERE dedup_key IS NOT NULL;
