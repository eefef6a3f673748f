-- Which steps of their own tables owners have taken. A step that was taken is never changed.
CREATE TABLE owner_migration (
    namespace     TEXT    NOT NULL,
    step          INTEGER NOT NULL CHECK (step >= 1),
    digest        TEXT    NOT NULL CHECK (length(digest) = 64),
    applied_at_us INTEGER NOT NULL,
    PRIMARY KEY (namespace, step)
) STRICT, WITHOUT ROWID;
