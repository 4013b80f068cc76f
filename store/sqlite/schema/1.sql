-- One lasting row per action. Only Prune deletes rows. Times are microseconds since
-- 1970, retention is nanoseconds; a time, digest or token that is not set is NULL.
CREATE TABLE records (
	id              INTEGER PRIMARY KEY,
	root            BLOB    NOT NULL CHECK (length(root) = 16),
	key             BLOB    NOT NULL CHECK (length(key) = 32),
	namespace       TEXT    NOT NULL,
	scope_kind      TEXT    NOT NULL,
	scope_id        TEXT    NOT NULL,
	tenant          TEXT    NOT NULL,
	operation       TEXT    NOT NULL,
	intent          TEXT    NOT NULL,
	workflow_id     TEXT    NOT NULL,
	run_id          TEXT    NOT NULL,
	attempt         INTEGER NOT NULL,
	scheduled       BLOB    CHECK (length(scheduled) = 32),
	fingerprint     BLOB    CHECK (length(fingerprint) = 32),
	fields          BLOB,
	state           TEXT    NOT NULL CHECK (state IN ('in_flight', 'pending', 'completed', 'failed', 'free', 'unknown')),
	token           BLOB    CHECK (length(token) = 16),
	fence           INTEGER NOT NULL,
	generation      INTEGER NOT NULL,
	lease           INTEGER,
	deadline        INTEGER,
	prior           INTEGER,
	outcome_format  TEXT,
	outcome_data    BLOB,
	outcome_context BLOB,
	retention       INTEGER NOT NULL,
	created         INTEGER NOT NULL,
	finished        INTEGER,
	expires         INTEGER
) STRICT;

-- Neighbours in time are neighbours here: the root is made of a run ID.
CREATE UNIQUE INDEX records_ref ON records (root, key);

-- No two records belong to one scheduled activity.
CREATE UNIQUE INDEX records_scheduled ON records (scheduled) WHERE scheduled IS NOT NULL;

-- What Sweep and Expire have to look at, and nothing else.
CREATE INDEX records_lease ON records (lease) WHERE state IN ('in_flight', 'pending');
CREATE INDEX records_expires ON records (expires) WHERE outcome_format IS NOT NULL AND expires IS NOT NULL;

-- Every change of a record, in the order in which they were made.
CREATE TABLE history (
	record      INTEGER NOT NULL,
	n           INTEGER NOT NULL,
	at          INTEGER NOT NULL,
	verb        TEXT    NOT NULL,
	from_state  TEXT    NOT NULL,
	to_state    TEXT    NOT NULL,
	token       BLOB,
	fence       INTEGER NOT NULL,
	generation  INTEGER NOT NULL,
	attempt     INTEGER NOT NULL,
	workflow_id TEXT    NOT NULL,
	run_id      TEXT    NOT NULL,
	who         TEXT    NOT NULL,
	why         TEXT    NOT NULL,
	PRIMARY KEY (record, n)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER history_is_not_changed BEFORE UPDATE ON history
BEGIN SELECT raise(ABORT, 'history is append-only'); END;

CREATE TRIGGER history_is_not_deleted BEFORE DELETE ON history
WHEN EXISTS (SELECT 1 FROM records WHERE id = OLD.record)
BEGIN SELECT raise(ABORT, 'history is append-only'); END;

-- For people.
CREATE VIEW actions AS
SELECT 'eo1_' || lower(hex(key)) AS key, state, operation, scope_kind, scope_id, tenant, workflow_id, run_id, attempt,
	fence, generation,
	strftime('%Y-%m-%dT%H:%M:%fZ', created / 1e6, 'unixepoch') AS created,
	strftime('%Y-%m-%dT%H:%M:%fZ', lease / 1e6, 'unixepoch') AS lease,
	strftime('%Y-%m-%dT%H:%M:%fZ', finished / 1e6, 'unixepoch') AS finished,
	length(outcome_data) AS outcome_bytes
FROM records;
