-- The fleet's own tables, beside those of Procrastinate. No column holds a key or a word of a memory.

CREATE TABLE IF NOT EXISTS fleet_migrations (name text PRIMARY KEY);

CREATE TABLE IF NOT EXISTS fleet_memories (
    remote text PRIMARY KEY,
    tenant text NOT NULL,
    timezone text NOT NULL,
    hours text NOT NULL,                     -- '22-6': from ten in the evening; empty: at any time
    paused boolean NOT NULL DEFAULT false,
    state text NOT NULL DEFAULT 'new'
        CHECK (state IN ('new', 'waiting', 'running', 'done', 'pending', 'dead')),
    head text NOT NULL DEFAULT '',           -- the branch as the last finished night left it
    night date,                              -- the night of the last job
    lease uuid,                              -- the run that may publish a result and spend money; a newer one ends it
    failures integer NOT NULL DEFAULT 0,     -- in a row, by the memory's own fault
    tries integer NOT NULL DEFAULT 0,        -- of this night
    unreachable text NOT NULL DEFAULT '',    -- why the last sweep did not reach it
    report jsonb NOT NULL DEFAULT '{}',
    started_at timestamptz,
    finished_at timestamptz
);
CREATE INDEX IF NOT EXISTS fleet_memories_state ON fleet_memories (state, night);

-- What a night has cost: the whole fleet (tenant = '') and each tenant. What is held is part of what is spent.
CREATE TABLE IF NOT EXISTS fleet_spending (
    night date NOT NULL,
    tenant text NOT NULL,
    tokens bigint NOT NULL DEFAULT 0,
    micros bigint NOT NULL DEFAULT 0,        -- millionths of a dollar
    held_tokens bigint NOT NULL DEFAULT 0,
    held_micros bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (night, tenant)
);

CREATE TABLE IF NOT EXISTS fleet_buckets (
    name text PRIMARY KEY,                   -- provider and a hash of the key
    blocked_until timestamptz NOT NULL DEFAULT 'epoch'
);

CREATE TABLE IF NOT EXISTS fleet_calls (
    id uuid PRIMARY KEY,
    night date NOT NULL,
    tenant text NOT NULL,
    lease uuid NOT NULL,
    bucket text NOT NULL,
    tokens bigint NOT NULL,                  -- the most it may need, until it is settled
    micros bigint NOT NULL,
    granted_at timestamptz NOT NULL,
    settled_at timestamptz
);
CREATE INDEX IF NOT EXISTS fleet_calls_bucket ON fleet_calls (bucket, settled_at);
CREATE INDEX IF NOT EXISTS fleet_calls_held ON fleet_calls (lease) WHERE settled_at IS NULL;
