-- Where the rows of an operation stand. They are written in one run each, so the first key and the
-- number find them, and no table needs an index of its own for the way back.
ALTER TABLE operation ADD COLUMN first_audit INTEGER;
ALTER TABLE operation ADD COLUMN audits INTEGER NOT NULL DEFAULT 0 CHECK (audits >= 0);
ALTER TABLE operation ADD COLUMN first_signal INTEGER;
ALTER TABLE operation ADD COLUMN signals INTEGER NOT NULL DEFAULT 0 CHECK (signals >= 0);
ALTER TABLE operation ADD COLUMN first_intent INTEGER;
ALTER TABLE operation ADD COLUMN intents INTEGER NOT NULL DEFAULT 0 CHECK (intents >= 0);

-- An intent that was purged leaves its number empty.
UPDATE operation SET
    (first_audit, audits) =
        (SELECT min(id), count(*) FROM audit WHERE operation_id = operation.id),
    (first_signal, signals) =
        (SELECT min(id), count(*) FROM signal_log WHERE operation_id = operation.id),
    (first_intent, intents) =
        (SELECT min(outbox.id), coalesce(max(outbox.id) - min(outbox.id) + 1, 0)
         FROM outbox JOIN signal_log ON signal_log.id = outbox.signal_id
         WHERE signal_log.operation_id = operation.id);

DROP INDEX signal_log_operation;
DROP INDEX outbox_signal;

-- Nobody looks for evidence by its own id: it is found with its operation.
CREATE TABLE evidence (
    id               INTEGER PRIMARY KEY,
    public_id        TEXT    NOT NULL,
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

INSERT INTO evidence SELECT * FROM audit;
DROP TABLE audit;
ALTER TABLE evidence RENAME TO audit;
