-- name: account
SELECT key, job_key, user, infra, system, last_attempt, failures, first_started_at,
    first_failure, first_error, phases, closed
FROM accounts WHERE key = ?;

-- name: held_accounts
SELECT key, job_key, user, infra, system, last_attempt, failures, first_started_at,
    first_failure, first_error, phases, closed
FROM accounts WHERE closed = 'held' ORDER BY key;

-- name: save_account
INSERT INTO accounts (key, job_key, user, infra, system, last_attempt, failures, first_started_at,
    first_failure, first_error, phases, closed)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (key) DO UPDATE SET
    user = excluded.user, infra = excluded.infra, system = excluded.system,
    last_attempt = excluded.last_attempt, failures = excluded.failures,
    first_started_at = excluded.first_started_at, first_failure = excluded.first_failure,
    first_error = excluded.first_error, phases = excluded.phases, closed = excluded.closed;

-- name: attempt
SELECT state, opened_at, closed_at, oom_host, revision, error_line, suspect,
    task, owner, details, decision
FROM attempts WHERE key = ? AND attempt = ?;

-- name: attempts
SELECT state, opened_at, closed_at, oom_host, revision, error_line, suspect,
    task, owner, details, decision
FROM attempts WHERE key = ? ORDER BY attempt;

-- name: open_attempts
SELECT state, opened_at, closed_at, oom_host, revision, error_line, suspect,
    task, owner, details, decision
FROM attempts WHERE state = 'open' AND (? IS NULL OR host = ?) ORDER BY opened_at, id;

-- name: save_attempt
INSERT INTO attempts (key, attempt, job_key, state, kind, reason, charge, node, host, task_owner,
    opened_at, closed_at, oom_host, revision, error_line, suspect, task, owner, details, decision)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (key, attempt) DO UPDATE SET
    state = excluded.state, kind = excluded.kind, reason = excluded.reason,
    charge = excluded.charge, node = excluded.node, host = excluded.host,
    task_owner = excluded.task_owner, opened_at = excluded.opened_at,
    closed_at = excluded.closed_at, oom_host = excluded.oom_host, revision = excluded.revision,
    error_line = excluded.error_line, suspect = excluded.suspect, task = excluded.task,
    owner = excluded.owner, details = excluded.details, decision = excluded.decision;

-- name: line
SELECT outbox.plugin, outbox.group_key, outbox.died_at, outbox.event, events.event_id
FROM outbox JOIN events ON events.id = outbox.event WHERE outbox.task_key = ?;

-- name: add_event
INSERT INTO events (event_id, task_key, body) VALUES (?, ?, ?);

-- name: add_row
INSERT INTO outbox (event, task_key, plugin, ready, due_at) VALUES (?, ?, ?, ?, ?);

-- name: due
SELECT outbox.id, outbox.tries, outbox.group_key, events.body
FROM outbox JOIN events ON events.id = outbox.event
WHERE outbox.plugin = ? AND outbox.ready = 1 AND outbox.due_at <= ?
ORDER BY outbox.due_at, outbox.id LIMIT ?;

-- name: due_group
SELECT outbox.id, outbox.tries, outbox.group_key, events.body
FROM outbox JOIN events ON events.id = outbox.event
WHERE outbox.plugin = ? AND outbox.ready = 1 AND outbox.due_at <= ? AND outbox.group_key = ?
ORDER BY outbox.id;

-- name: lease
UPDATE outbox SET owner = ?, due_at = ? WHERE id IN (SELECT value FROM json_each(?));

-- name: touched
SELECT DISTINCT task_key, event FROM outbox WHERE id IN (SELECT value FROM json_each(?));

-- name: done
DELETE FROM outbox WHERE died_at IS NULL AND id IN (SELECT value FROM json_each(?));

-- name: retry
UPDATE outbox SET tries = tries + 1, error = ?, due_at = ?, owner = ''
WHERE died_at IS NULL AND id IN (SELECT value FROM json_each(?));

-- name: park
UPDATE outbox SET group_key = ?, due_at = ?, owner = ''
WHERE died_at IS NULL AND id IN (SELECT value FROM json_each(?));

-- name: bury
UPDATE outbox SET tries = tries + 1, error = ?, died_at = ?, ready = 0, group_key = '', owner = ''
WHERE died_at IS NULL AND id IN (SELECT value FROM json_each(?));

-- name: revive
UPDATE outbox SET tries = 0, error = '', died_at = NULL, due_at = ?
WHERE died_at IS NOT NULL AND id IN (SELECT value FROM json_each(?));

-- name: drop
DELETE FROM outbox WHERE died_at IS NOT NULL AND id IN (SELECT value FROM json_each(?));

-- name: forget_events
DELETE FROM events WHERE id IN (SELECT value FROM json_each(?)) AND NOT EXISTS (
    SELECT 1 FROM outbox WHERE outbox.task_key = events.task_key AND outbox.event = events.id);

-- name: advance
UPDATE outbox SET ready = 1 - ready
WHERE died_at IS NULL AND task_key IN (SELECT value FROM json_each(?))
    AND ready <> (group_key <> '' OR NOT EXISTS (
        SELECT 1 FROM outbox AS older
        WHERE older.task_key = outbox.task_key AND older.plugin = outbox.plugin
            AND older.group_key = '' AND older.died_at IS NULL AND older.id < outbox.id));

-- name: holders
SELECT DISTINCT owner FROM outbox WHERE plugin = ? AND owner <> '' AND died_at IS NULL;

-- name: release
UPDATE outbox SET owner = '', due_at = 0 WHERE owner = ?;

-- name: next_due
SELECT min(due_at) FROM outbox WHERE plugin = ? AND ready = 1;

-- name: pending
SELECT count(*) FROM outbox
WHERE died_at IS NULL AND (? IS NULL OR plugin IN (SELECT value FROM json_each(?)));

-- name: waiting
SELECT plugin, count(*), error, max(CASE WHEN error = '' THEN 0 ELSE id END)
FROM outbox WHERE died_at IS NULL GROUP BY plugin ORDER BY plugin;

-- name: dead_letters
SELECT outbox.id, outbox.plugin, events.body, outbox.tries, outbox.error, outbox.died_at
FROM outbox JOIN events ON events.id = outbox.event
WHERE outbox.died_at IS NOT NULL ORDER BY outbox.died_at, outbox.id;

-- name: get_state
SELECT value FROM plugin_state WHERE plugin = ? AND key = ?;

-- name: put_state
INSERT OR REPLACE INTO plugin_state (plugin, key, value) VALUES (?, ?, ?);

-- name: forget_state
DELETE FROM plugin_state WHERE plugin = ? AND key = ?;
