-- Times are microseconds since 1970-01-01T00:00:00Z. The orders of JSON arrays are in records.py.
-- Texts are compared by code point, on every server alike.

CREATE TABLE {schema}.version (schema bigint NOT NULL); -- one row
INSERT INTO {schema}.version VALUES (0);

CREATE TABLE {schema}.accounts (
    key text COLLATE "C" PRIMARY KEY,
    job_key text COLLATE "C" NOT NULL,
    "user" bigint NOT NULL,
    infra bigint NOT NULL,
    system bigint NOT NULL,
    last_attempt bigint NOT NULL,
    failures bigint NOT NULL,
    first_started_at bigint,
    first_failure text, -- JSON
    first_error text NOT NULL,
    phases text NOT NULL, -- JSON
    closed text COLLATE "C" NOT NULL
);

CREATE INDEX accounts_going ON {schema}.accounts (closed, key) WHERE closed IN ('', 'held');

CREATE TABLE {schema}.attempts (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    key text COLLATE "C" NOT NULL,
    attempt bigint NOT NULL,
    job_key text COLLATE "C" NOT NULL,
    state text COLLATE "C" NOT NULL,
    kind text COLLATE "C",
    reason text COLLATE "C",
    charge text COLLATE "C",
    node text COLLATE "C",
    host text COLLATE "C", -- of the supervisor
    task_owner text COLLATE "C",
    opened_at bigint,
    closed_at bigint,
    oom_host bigint,
    revision bigint NOT NULL,
    error_line text NOT NULL,
    suspect bigint NOT NULL,
    task text NOT NULL, -- JSON
    owner text, -- JSON, the supervisor
    details text, -- JSON
    decision text, -- JSON
    UNIQUE (key, attempt)
);

CREATE INDEX attempts_open ON {schema}.attempts (opened_at, id) WHERE state = 'open';
CREATE INDEX attempts_closed ON {schema}.attempts (closed_at) WHERE closed_at IS NOT NULL;

-- An event is written once, and kept while a row of the outbox refers to it.
CREATE TABLE {schema}.events (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    event_id text COLLATE "C" NOT NULL,
    task_key text COLLATE "C" NOT NULL,
    body text NOT NULL, -- JSON
    kind text COLLATE "C" NOT NULL,
    observed_at bigint NOT NULL
);

CREATE TABLE {schema}.outbox (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    event bigint NOT NULL, -- events.id
    task_key text COLLATE "C" NOT NULL,
    plugin text COLLATE "C" NOT NULL,
    ready bigint NOT NULL, -- 0: dead, in a group, or behind an older row of the same task and plugin
    due_at bigint NOT NULL, -- while leased: when the lease ends
    tries bigint NOT NULL DEFAULT 0,
    group_key text COLLATE "C" NOT NULL DEFAULT '',
    owner text COLLATE "C" NOT NULL DEFAULT '', -- who holds the lease
    error text NOT NULL DEFAULT '',
    died_at bigint, -- set: a dead letter
    bytes bigint NOT NULL, -- of the event's body
    final bigint NOT NULL -- 1: the task failed for good
);

CREATE INDEX outbox_line ON {schema}.outbox (task_key, plugin, id);
CREATE INDEX outbox_ready ON {schema}.outbox (plugin, due_at, id) WHERE ready = 1;
CREATE INDEX outbox_leased ON {schema}.outbox (owner, plugin) WHERE owner <> '';
CREATE INDEX outbox_grouped ON {schema}.outbox (plugin, group_key, id) WHERE group_key <> '';
CREATE INDEX outbox_dead ON {schema}.outbox (died_at, id) WHERE died_at IS NOT NULL;

-- The groups of each plugin that wait, and the notification log of all that ever ended.
CREATE TABLE {schema}.event_groups (
    plugin text COLLATE "C" NOT NULL,
    group_key text COLLATE "C" NOT NULL,
    due_at bigint, -- NULL: it has ended; while leased: when the lease ends
    again bigint NOT NULL DEFAULT 0, -- 1: the plugin wants it also when no event waits in it
    tries bigint NOT NULL DEFAULT 0,
    owner text COLLATE "C" NOT NULL DEFAULT '', -- who holds the lease
    note text NOT NULL DEFAULT '',
    sent_at bigint,
    settled_at bigint,
    PRIMARY KEY (plugin, group_key)
);

CREATE INDEX event_groups_due ON {schema}.event_groups (plugin, due_at, group_key)
WHERE due_at IS NOT NULL;

-- What was dropped and not told yet. `seal` is 0 until it is read, and a number of its own then.
CREATE TABLE {schema}.drops (
    plugin text COLLATE "C" NOT NULL,
    kind text COLLATE "C" NOT NULL,
    seal bigint NOT NULL,
    events bigint NOT NULL,
    final bigint NOT NULL, -- how many of them
    since bigint NOT NULL,
    until bigint NOT NULL,
    PRIMARY KEY (plugin, kind, seal)
);

CREATE TABLE {schema}.hook_calls (
    plugin text COLLATE "C" NOT NULL,
    hook text COLLATE "C" NOT NULL,
    host text COLLATE "C" NOT NULL,
    pid bigint NOT NULL,
    called_at bigint NOT NULL,
    delivered_at bigint,
    delivered bigint NOT NULL,
    undelivered bigint NOT NULL,
    failed bigint NOT NULL,
    slow bigint NOT NULL,
    error text NOT NULL,
    PRIMARY KEY (plugin, hook, host)
);

CREATE TABLE {schema}.plugin_state (
    plugin text COLLATE "C" NOT NULL,
    key text COLLATE "C" NOT NULL,
    value text NOT NULL,
    PRIMARY KEY (plugin, key)
);
