-- Times are microseconds since 1970-01-01T00:00:00Z. The orders of JSON arrays are in records.py.

CREATE TABLE accounts (
    key TEXT PRIMARY KEY,
    job_key TEXT NOT NULL,
    user INTEGER NOT NULL,
    infra INTEGER NOT NULL,
    system INTEGER NOT NULL,
    last_attempt INTEGER NOT NULL,
    failures INTEGER NOT NULL,
    first_started_at INTEGER,
    first_failure TEXT, -- JSON
    first_error TEXT NOT NULL,
    phases TEXT NOT NULL, -- JSON
    closed TEXT NOT NULL
);

CREATE TABLE attempts (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL,
    attempt INTEGER NOT NULL,
    job_key TEXT NOT NULL,
    state TEXT NOT NULL,
    kind TEXT,
    reason TEXT,
    charge TEXT,
    node TEXT,
    host TEXT, -- of the supervisor
    task_owner TEXT,
    opened_at INTEGER,
    closed_at INTEGER,
    oom_host INTEGER,
    revision INTEGER NOT NULL,
    error_line TEXT NOT NULL,
    suspect INTEGER NOT NULL,
    task TEXT NOT NULL, -- JSON
    owner TEXT, -- JSON, the supervisor
    details TEXT, -- JSON
    decision TEXT, -- JSON
    UNIQUE (key, attempt)
);

CREATE INDEX attempts_open ON attempts (opened_at) WHERE state = 'open';

-- An event is written once, and kept while a row of the outbox refers to it.
CREATE TABLE events (
    id INTEGER PRIMARY KEY,
    event_id TEXT NOT NULL,
    task_key TEXT NOT NULL,
    body TEXT NOT NULL -- JSON
);

CREATE TABLE outbox (
    id INTEGER PRIMARY KEY AUTOINCREMENT, -- never used again, so that a late drainer hits no other row
    event INTEGER NOT NULL, -- events.id
    task_key TEXT NOT NULL,
    plugin TEXT NOT NULL,
    ready INTEGER NOT NULL, -- 0: dead, or behind an older row of the same task and plugin
    due_at INTEGER NOT NULL, -- while leased: when the lease ends
    tries INTEGER NOT NULL DEFAULT 0,
    group_key TEXT NOT NULL DEFAULT '',
    owner TEXT NOT NULL DEFAULT '', -- who holds the lease
    error TEXT NOT NULL DEFAULT '',
    died_at INTEGER -- set: a dead letter
);

CREATE INDEX outbox_line ON outbox (task_key, plugin);
CREATE INDEX outbox_ready ON outbox (plugin, due_at) WHERE ready = 1;
CREATE INDEX outbox_dead ON outbox (died_at) WHERE died_at IS NOT NULL;

CREATE TABLE plugin_state (
    plugin TEXT NOT NULL,
    key TEXT NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (plugin, key)
) WITHOUT ROWID;
