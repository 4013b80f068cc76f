-- The tables of package store/postgres.
--
-- To run this by hand: create the schema, SET search_path TO it, run the part
-- below "Up". postgres.Migrate does the same and remembers that it did.

-- +goose Up

-- One lasting row per action. Columns are ordered by when they change, because
-- an update logs what lies between its first and its last changed byte: first
-- what never changes or changes with a claim, last what every report changes.
CREATE TABLE records (
    root            uuid        NOT NULL,
    token           uuid        NOT NULL, -- of the last claim; all zeros once revoked
    fence           bigint      NOT NULL,
    retention       bigint      NOT NULL, -- nanoseconds; 0 means for ever
    created         timestamptz NOT NULL,
    active_since    timestamptz NOT NULL, -- when it last became in flight or pending
    expires         timestamptz,          -- never changed by renewals and reports, which so touch no index
    look_again      timestamptz,          -- when to see whether it is over, if it was not at expires
    deadline        timestamptz,
    prior           timestamptz,
    generation      integer     NOT NULL,
    attempt         integer     NOT NULL,
    tells_claim     boolean,              -- true: its first claim is not in the history yet
    waited_for      boolean,              -- true: somebody wants to be notified
    key             bytea       NOT NULL,
    -- Six bytes of the run's ID, which begins with the time, then the digest: what
    -- is scheduled together lies together in the index.
    scheduled       bytea,
    fingerprint     bytea,                -- null after forget
    fields          bytea,
    namespace       text        NOT NULL,
    scope_kind      text        NOT NULL,
    scope_id        text        NOT NULL,
    tenant          text        NOT NULL,
    operation       text        NOT NULL,
    intent          text        NOT NULL,
    workflow_id     text        NOT NULL,
    run_id          text        NOT NULL,
    who             text        NOT NULL, -- claimed last

    version         bigint      NOT NULL, -- grows with every write
    lease           timestamptz,
    finished        timestamptz,
    dropped         timestamptz,          -- when its outcome was; it tells that itself
    state           text        NOT NULL, -- in_flight, pending, completed, failed, free or unknown
    outcome_format  text,                 -- null: there is no outcome, or no longer
    outcome_data    bytea,
    outcome_context bytea,
    tells_end       boolean,              -- true: how it finished is not in the history yet,
    ended_by        text,                 -- but here; null: who
    ended_why       text,

    -- Actions of one run are neighbours in the index, as they are in time.
    PRIMARY KEY (root, key),
    UNIQUE (scheduled)
) WITH (
    -- Room for the report beside the claim, so that it touches no index.
    fillfactor = 40,
    autovacuum_vacuum_scale_factor = 0.02,
    autovacuum_vacuum_insert_scale_factor = 0.05,
    autovacuum_analyze_scale_factor = 0.02
);

-- Of what is dropped, too: it would cost more to take that out than to pass over it.
CREATE INDEX records_expire ON records ((coalesce(look_again, expires))) WHERE expires IS NOT NULL;
-- Nearly free: rows lie in the order of their claims, more or less.
CREATE INDEX records_active ON records USING brin (active_since) WITH (autosummarize);

-- What happened to each record, and who did it. Only ever added to, in the
-- statement that changes the record. Most records are claimed, finished and
-- one day without their outcome, and tell that themselves: it is written down here when
-- another claim or an amendment changes the record. Null means: as in the entry before. full_history has it all.
CREATE TABLE history (
    at          timestamptz NOT NULL,
    version     bigint      NOT NULL, -- the record's; orders its history
    fence       bigint      NOT NULL,
    root        uuid        NOT NULL,
    token       uuid,
    generation  integer,
    attempt     integer,
    key         bytea       NOT NULL,
    verb        text        NOT NULL,
    state       text        NOT NULL, -- afterwards
    workflow_id text,
    run_id      text,
    who         text        NOT NULL,
    why         text        NOT NULL
) PARTITION BY RANGE (at);

CREATE INDEX history_of ON history (root, key);

-- postgres.Migrate adds a partition for each month. This one is for what has none.
CREATE TABLE history_other PARTITION OF history DEFAULT;

CREATE VIEW full_history AS
SELECT at, version, fence, root, token, generation, attempt, key, verb, state, workflow_id, run_id, who, why FROM history
UNION ALL
SELECT created, 1, 1, root, token, 1, attempt, key, 'claim', 'in_flight', workflow_id, run_id, who, ''
FROM records WHERE tells_claim
UNION ALL
SELECT finished, version - (dropped IS NOT NULL)::int, fence, root, token, generation, attempt, key,
    CASE state WHEN 'completed' THEN 'complete' ELSE 'fail' END, state, workflow_id, run_id,
    coalesce(ended_by, who), coalesce(ended_why, '')
FROM records WHERE tells_end
UNION ALL
SELECT dropped, version, fence, root, NULL, NULL, NULL, key, 'expire', state, NULL, NULL, '', ''
FROM records WHERE dropped IS NOT NULL;

-- How far housekeeping has come.
CREATE TABLE progress (
    task text        PRIMARY KEY,
    till timestamptz NOT NULL
);

-- +goose Down
DROP TABLE progress;
DROP VIEW full_history;
DROP TABLE history;
DROP TABLE records;
