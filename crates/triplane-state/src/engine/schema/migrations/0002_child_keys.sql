-- The way from an operation to its signals and from a signal to its intents. Both are the child
-- side of a foreign key: without an index, taking a parent away reads the whole table.
CREATE INDEX signal_log_operation ON signal_log (operation_id);

CREATE INDEX outbox_signal ON outbox (signal_id);
