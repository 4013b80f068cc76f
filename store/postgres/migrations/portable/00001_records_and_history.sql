-- The tables of package store/postgres for Options.Portable.
--
-- Each statement is run by itself, and does no harm when it is run again. {schema}
-- stands for the schema. To give the tables what an engine needs (a primary key that
-- is hashed, a placement), create them beforehand: they are taken as they are, if the
-- columns and the unique constraints are these.

-- Digests are in hexadecimal, because some engines index no bytea.
CREATE TABLE IF NOT EXISTS {schema}.records (
    root            uuid        NOT NULL,
    key_hex         text        NOT NULL,
    namespace       text        NOT NULL,
    scope_kind      text        NOT NULL,
    scope_id        text        NOT NULL,
    tenant          text        NOT NULL,
    operation       text        NOT NULL,
    intent          text        NOT NULL,
    workflow_id     text        NOT NULL,
    run_id          text        NOT NULL,
    attempt         integer     NOT NULL,
    who             text        NOT NULL, -- claimed last
    scheduled_hex   text,
    fingerprint     bytea,                -- null after forget
    fields          bytea,
    state           text        NOT NULL, -- in_flight, pending, completed, failed, free or unknown
    token           uuid        NOT NULL, -- of the last claim; all zeros once revoked
    fence           bigint      NOT NULL,
    generation      integer     NOT NULL,
    lease           timestamptz,
    deadline        timestamptz,
    prior           timestamptz,
    retention       bigint      NOT NULL, -- nanoseconds; 0 means for ever
    created         timestamptz NOT NULL,
    finished        timestamptz,
    expires         timestamptz,
    version         bigint      NOT NULL, -- grows at every write
    outcome_format  text,                 -- null: there is no outcome, or no longer
    outcome_data    bytea,
    outcome_context bytea,
    PRIMARY KEY (root, key_hex),
    UNIQUE (scheduled_hex)
);

-- What happened to each record, and who did it. Only ever added to, in the
-- transaction that changes the record. A record's first claim is the record itself;
-- it is written down here when another claim or an amendment changes that.
CREATE TABLE IF NOT EXISTS {schema}.history (
    root        uuid        NOT NULL,
    key_hex     text        NOT NULL,
    version     bigint      NOT NULL, -- the record's; orders its history
    at          timestamptz NOT NULL,
    verb        text        NOT NULL,
    state       text        NOT NULL, -- afterwards
    token       uuid        NOT NULL,
    fence       bigint      NOT NULL,
    generation  integer     NOT NULL,
    attempt     integer     NOT NULL,
    workflow_id text        NOT NULL,
    run_id      text        NOT NULL,
    who         text        NOT NULL,
    why         text        NOT NULL,
    PRIMARY KEY (root, key_hex, version)
);
