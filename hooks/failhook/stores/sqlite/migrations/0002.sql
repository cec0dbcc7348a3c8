-- Groups, bounds, counts of hooks, and what history and the doctor ask for.

ALTER TABLE events ADD COLUMN kind TEXT NOT NULL DEFAULT '';
ALTER TABLE events ADD COLUMN observed_at INTEGER NOT NULL DEFAULT 0;
UPDATE events SET
    kind = coalesce(json_extract(body, '$[10][0]'), ''),
    observed_at = coalesce(json_extract(body, '$[8]'), 0)
WHERE json_valid(body);

ALTER TABLE outbox ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0; -- of the event's body
ALTER TABLE outbox ADD COLUMN final INTEGER NOT NULL DEFAULT 0; -- 1: the task failed for good
UPDATE outbox SET bytes = (
    SELECT length(CAST(body AS BLOB)) FROM events WHERE events.id = outbox.event);
UPDATE outbox SET final = 1 WHERE event IN (
    SELECT id FROM events WHERE json_valid(body) AND json_extract(body, '$[11][0]') <> 'retry');

-- Wider than a claim needs, so that what waits for a plugin is counted without a look at its rows.
DROP INDEX outbox_ready;
CREATE INDEX outbox_ready ON outbox (plugin, ready, due_at, id, final, bytes);
CREATE INDEX outbox_leased ON outbox (owner, plugin) WHERE owner <> '';
CREATE INDEX outbox_grouped ON outbox (plugin, group_key) WHERE group_key <> '';

DROP INDEX outbox_dead;
CREATE INDEX outbox_dead ON outbox (id) WHERE died_at IS NOT NULL;

-- The groups of each plugin that wait, and the notification log of all that ever ended.
CREATE TABLE event_groups (
    plugin TEXT NOT NULL,
    group_key TEXT NOT NULL,
    due_at INTEGER, -- NULL: it has ended; while leased: when the lease ends
    again INTEGER NOT NULL DEFAULT 0, -- 1: the plugin wants it also when no event waits in it
    tries INTEGER NOT NULL DEFAULT 0,
    owner TEXT NOT NULL DEFAULT '', -- who holds the lease
    note TEXT NOT NULL DEFAULT '',
    sent_at INTEGER,
    settled_at INTEGER,
    PRIMARY KEY (plugin, group_key)
) WITHOUT ROWID;

CREATE INDEX event_groups_due ON event_groups (plugin, due_at) WHERE due_at IS NOT NULL;

-- Before, rows of a group could be claimed one by one.
INSERT INTO event_groups (plugin, group_key, due_at)
SELECT plugin, group_key, min(due_at) FROM outbox
WHERE group_key <> '' AND died_at IS NULL GROUP BY plugin, group_key;
UPDATE outbox SET ready = 0, owner = '' WHERE group_key <> '';

-- What was dropped and not told yet. What was read once is sealed, so that what is told can be
-- taken off exactly.
CREATE TABLE drops (
    plugin TEXT NOT NULL,
    kind TEXT NOT NULL,
    seal INTEGER NOT NULL, -- 0: not read yet
    events INTEGER NOT NULL,
    final INTEGER NOT NULL, -- how many of them
    since INTEGER NOT NULL,
    until INTEGER NOT NULL,
    PRIMARY KEY (plugin, kind, seal)
) WITHOUT ROWID;

CREATE TABLE hook_calls (
    plugin TEXT NOT NULL,
    hook TEXT NOT NULL,
    host TEXT NOT NULL,
    pid INTEGER NOT NULL,
    called_at INTEGER NOT NULL,
    delivered_at INTEGER,
    delivered INTEGER NOT NULL,
    undelivered INTEGER NOT NULL,
    failed INTEGER NOT NULL,
    slow INTEGER NOT NULL,
    error TEXT NOT NULL,
    PRIMARY KEY (plugin, hook, host)
) WITHOUT ROWID;

CREATE INDEX attempts_closed ON attempts (closed_at) WHERE closed_at IS NOT NULL;
CREATE INDEX accounts_going ON accounts (closed) WHERE closed IN ('', 'held');

-- As JSON, so that any text comes back as it was.
UPDATE plugin_state SET value = json_quote(value);
