-- Behind each name: the values that the statement takes, in order; statements.py makes ?1 a plain
-- placeholder. Rows, events and keys come as the text of a JSON array. Where other dialects lock rows
-- or skip locked ones, SQLite has one writer. A plus keeps SQLite from the index of all rows of a
-- plugin, where there is a better one.

-- name: account (key)
SELECT key, job_key, user, infra, system, last_attempt, failures, first_started_at,
    first_failure, first_error, phases, closed
FROM accounts WHERE key = ?;

-- name: held_accounts ()
SELECT key, job_key, user, infra, system, last_attempt, failures, first_started_at,
    first_failure, first_error, phases, closed
FROM accounts WHERE closed = 'held' AND closed IN ('', 'held') ORDER BY key;

-- name: between_attempts ()
SELECT key, job_key, user, infra, system, last_attempt, failures, first_started_at,
    first_failure, first_error, phases, closed
FROM accounts WHERE closed = '' AND closed IN ('', 'held') AND EXISTS (
    SELECT 1 FROM attempts WHERE attempts.key = accounts.key
        AND attempts.attempt = accounts.last_attempt AND attempts.state = 'failed')
ORDER BY key;

-- name: save_account (each column)
INSERT INTO accounts (key, job_key, user, infra, system, last_attempt, failures, first_started_at,
    first_failure, first_error, phases, closed)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (key) DO UPDATE SET
    user = excluded.user, infra = excluded.infra, system = excluded.system,
    last_attempt = excluded.last_attempt, failures = excluded.failures,
    first_started_at = excluded.first_started_at, first_failure = excluded.first_failure,
    first_error = excluded.first_error, phases = excluded.phases, closed = excluded.closed;

-- name: attempt (key, attempt)
SELECT state, opened_at, closed_at, oom_host, revision, error_line, suspect,
    task, owner, details, decision, charge
FROM attempts WHERE key = ? AND attempt = ?;

-- name: attempts (key)
SELECT state, opened_at, closed_at, oom_host, revision, error_line, suspect,
    task, owner, details, decision, charge
FROM attempts WHERE key = ? ORDER BY attempt;

-- name: open_attempts (host or NULL)
SELECT state, opened_at, closed_at, oom_host, revision, error_line, suspect,
    task, owner, details, decision, charge
FROM attempts WHERE state = 'open' AND (?1 IS NULL OR host = ?1) ORDER BY opened_at, id;

-- name: save_attempt (each column)
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

-- name: line (task key)
SELECT outbox.plugin, outbox.group_key, outbox.died_at, outbox.event, events.event_id
FROM outbox JOIN events ON events.id = outbox.event WHERE outbox.task_key = ?;

-- name: add_event (each column)
INSERT INTO events (event_id, task_key, body, kind, observed_at) VALUES (?, ?, ?, ?, ?);

-- name: add_row (event, task key, plugin, ready, due, bytes, final)
INSERT INTO outbox (event, task_key, plugin, ready, due_at, bytes, final)
VALUES (?, ?, ?, ?, ?, ?, ?);

-- name: due (plugin, now, limit, owner): one that another owner has lost has a death more
SELECT outbox.id, outbox.tries, events.event_id, CAST(events.body AS BLOB),
    outbox.deaths + (outbox.owner NOT IN ('', ?4)), outbox.failures
FROM outbox LEFT JOIN events ON events.id = outbox.event
WHERE outbox.plugin = ?1 AND outbox.ready = 1 AND outbox.due_at <= ?2
ORDER BY outbox.due_at, outbox.id LIMIT ?3;

-- name: suspect (plugin, now, owner): the same of the first that has a death; it goes before others
SELECT outbox.id, outbox.tries, events.event_id, CAST(events.body AS BLOB),
    outbox.deaths + (outbox.owner NOT IN ('', ?3)), outbox.failures
FROM outbox LEFT JOIN events ON events.id = outbox.event
WHERE outbox.plugin = ?1 AND outbox.deaths > 0 AND outbox.died_at IS NULL
    AND +outbox.ready = 1 AND +outbox.due_at <= ?2
ORDER BY outbox.due_at, outbox.id LIMIT 1;

-- name: lease (owner, until, rows, error of what another owner has lost again)
UPDATE outbox SET owner = ?1, due_at = ?2, deaths = deaths + (owner NOT IN ('', ?1)),
    error = CASE WHEN deaths > 0 AND owner NOT IN ('', ?1) THEN ?4 ELSE error END
WHERE id IN (SELECT value FROM json_each(?3));

-- name: touched (rows)
SELECT DISTINCT task_key, event FROM outbox WHERE id IN (SELECT value FROM json_each(?));

-- name: done (rows)
DELETE FROM outbox WHERE id IN (SELECT value FROM json_each(?));

-- name: retry (failures more, error, due, owner, rows)
UPDATE outbox SET tries = tries + 1, failures = failures + ?, deaths = 0, error = ?, due_at = ?, owner = ''
WHERE owner = ? AND id IN (SELECT value FROM json_each(?));

-- name: bury (error, now, owner, rows)
UPDATE outbox SET tries = tries + max(1, deaths), deaths = 0, error = ?, died_at = ?, ready = 0,
    owner = ''
WHERE owner = ? AND id IN (SELECT value FROM json_each(?));

-- name: revive (due, rows)
UPDATE outbox SET tries = 0, failures = 0, error = '', died_at = NULL, due_at = ?
WHERE died_at IS NOT NULL AND id IN (SELECT value FROM json_each(?));

-- name: merge (task keys, rows): what nobody holds of copies of events whose dead rows are revived
DELETE FROM outbox
WHERE task_key IN (SELECT value FROM json_each(?1)) AND owner = '' AND NOT EXISTS (
        SELECT 1 FROM event_groups
        WHERE event_groups.plugin = outbox.plugin AND event_groups.group_key = outbox.group_key
            AND event_groups.owner <> '')
    AND EXISTS (
        SELECT 1 FROM outbox AS dead
        WHERE dead.task_key = outbox.task_key AND dead.plugin = outbox.plugin
            AND dead.event = outbox.event AND dead.died_at IS NOT NULL AND dead.id <> outbox.id
            AND dead.id IN (SELECT value FROM json_each(?2)) AND (
                dead.id < outbox.id OR outbox.died_at IS NULL
                OR outbox.id NOT IN (SELECT value FROM json_each(?2))));

-- name: drop (rows)
DELETE FROM outbox WHERE died_at IS NOT NULL AND id IN (SELECT value FROM json_each(?));

-- name: forget_events (events)
DELETE FROM events WHERE id IN (SELECT value FROM json_each(?)) AND NOT EXISTS (
    SELECT 1 FROM outbox WHERE outbox.task_key = events.task_key AND outbox.event = events.id);

-- name: advance (task keys)
UPDATE outbox SET ready = 1 - ready
WHERE died_at IS NULL AND group_key = '' AND task_key IN (SELECT value FROM json_each(?))
    AND ready <> NOT EXISTS (
        SELECT 1 FROM outbox AS older
        WHERE older.task_key = outbox.task_key AND older.plugin = outbox.plugin
            AND older.group_key = '' AND older.died_at IS NULL AND older.id < outbox.id);

-- name: holders (plugin)
SELECT owner FROM outbox WHERE +plugin = ?1 AND owner <> ''
UNION SELECT owner FROM event_groups WHERE plugin = ?1 AND owner <> '' ORDER BY owner;

-- name: renew_rows (until, plugin, owner)
UPDATE outbox SET due_at = ? WHERE plugin = ? AND owner = ? AND owner <> '';

-- name: renew_groups (until, plugin, owner)
UPDATE event_groups SET due_at = ? WHERE plugin = ? AND owner = ?;

-- name: release_rows (owner, plugin or NULL)
UPDATE outbox SET owner = '', due_at = 0
WHERE owner = ?1 AND owner <> '' AND (?2 IS NULL OR plugin = ?2);

-- name: release_groups (owner, plugin or NULL)
UPDATE event_groups SET owner = '', due_at = 0
WHERE owner = ?1 AND owner <> '' AND (?2 IS NULL OR plugin = ?2);

-- name: lose_rows (owner, plugin, due where it is not the first death, error of those)
UPDATE outbox SET owner = '', deaths = deaths + 1,
    due_at = CASE deaths WHEN 0 THEN 0 ELSE ?3 END,
    error = CASE deaths WHEN 0 THEN error ELSE ?4 END
WHERE owner = ?1 AND owner <> '' AND plugin = ?2;

-- name: lose_groups (owner, plugin, due where it is not the first death)
UPDATE event_groups SET owner = '', deaths = deaths + 1,
    due_at = CASE deaths WHEN 0 THEN 0 ELSE ?3 END
WHERE owner = ?1 AND owner <> '' AND plugin = ?2;

-- name: deaths (plugin): the most that anything has which waits for it
SELECT coalesce(max(deaths), 0) FROM (
    SELECT max(deaths) AS deaths FROM outbox
    WHERE plugin = ?1 AND deaths > 0 AND died_at IS NULL
    UNION ALL
    SELECT max(deaths) FROM event_groups
    WHERE plugin = ?1 AND deaths > 0 AND due_at IS NOT NULL);

-- name: next_due (plugin)
SELECT min(due_at) FROM (
    SELECT min(due_at) AS due_at FROM outbox WHERE plugin = ?1 AND ready = 1
    UNION ALL
    SELECT min(due_at) FROM event_groups WHERE plugin = ?1 AND due_at IS NOT NULL);

-- name: pending (plugins or NULL)
SELECT count(*) FROM outbox
WHERE died_at IS NULL AND (?1 IS NULL OR plugin IN (SELECT value FROM json_each(?1)));

-- name: waiting (1: dead letters, 0: the others)
SELECT outbox.plugin, count(*), sum(group_key <> ''), coalesce(min(events.observed_at), 0),
    coalesce((
        SELECT tried.error FROM outbox AS tried
        WHERE tried.plugin = outbox.plugin AND tried.error <> ''
            AND (tried.died_at IS NOT NULL) = ?1
        ORDER BY tried.id DESC LIMIT 1), '')
FROM outbox LEFT JOIN events ON events.id = outbox.event
WHERE (outbox.died_at IS NOT NULL) = ?1 GROUP BY outbox.plugin ORDER BY outbox.plugin;

-- name: dead_letters (plugin or NULL, rows or NULL, after this row, limit or NULL)
SELECT outbox.id, outbox.plugin, outbox.tries, outbox.error, outbox.died_at, outbox.task_key,
    events.event_id, CAST(events.body AS BLOB)
FROM outbox LEFT JOIN events ON events.id = outbox.event
WHERE outbox.died_at IS NOT NULL AND (?1 IS NULL OR outbox.plugin = ?1)
    AND (?2 IS NULL OR outbox.id IN (SELECT value FROM json_each(?2))) AND outbox.id > ?3
ORDER BY outbox.id LIMIT coalesce(?4, -1);

-- name: claimed (row, owner)
SELECT plugin FROM outbox WHERE id = ? AND owner = ? AND owner <> '';

-- name: begin_group (plugin, group key, due)
INSERT INTO event_groups (plugin, group_key, due_at) VALUES (?, ?, ?)
ON CONFLICT (plugin, group_key) DO UPDATE SET due_at = excluded.due_at
WHERE event_groups.due_at IS NULL;

-- name: join_group (group key, due, row)
UPDATE outbox SET group_key = ?, due_at = ?, owner = '', ready = 0, deaths = 0 WHERE id = ?;

-- name: join_group_too (group key, due, row)
INSERT INTO outbox (event, task_key, plugin, ready, due_at, tries, group_key, error, bytes, final)
SELECT event, task_key, plugin, 0, ?2, tries, ?1, error, bytes, final FROM outbox WHERE id = ?3;

-- name: due_group (plugin, now, owner): one that another owner has lost has a death more
SELECT group_key, again, tries, note, sent_at, deaths + (owner NOT IN ('', ?3)), failures
FROM event_groups
WHERE plugin = ?1 AND due_at <= ?2 ORDER BY due_at, group_key LIMIT 1;

-- name: group_rows (plugin, group key, limit)
SELECT outbox.id, outbox.tries, events.event_id, CAST(events.body AS BLOB)
FROM outbox LEFT JOIN events ON events.id = outbox.event
WHERE outbox.plugin = ? AND outbox.group_key = ? AND outbox.group_key <> ''
ORDER BY outbox.id LIMIT ?;

-- name: group_size (plugin, group key): rows, and when the oldest of them wants to be handed over
SELECT count(*), (
    SELECT due_at FROM outbox WHERE plugin = ?1 AND group_key = ?2 AND group_key <> ''
    ORDER BY id LIMIT 1)
FROM outbox WHERE plugin = ?1 AND group_key = ?2 AND group_key <> '';

-- name: lease_group (owner, until, plugin, group key)
UPDATE event_groups SET owner = ?1, due_at = ?2, deaths = deaths + (owner NOT IN ('', ?1))
WHERE plugin = ?3 AND group_key = ?4;

-- name: group_owner (plugin, group key): nobody else changes the group until the transaction ends
SELECT owner FROM event_groups WHERE plugin = ? AND group_key = ?;

-- name: log_group (note, sent or NULL, now, plugin, group key, owner, note before, sent before or NULL)
UPDATE event_groups SET note = ?, sent_at = coalesce(?, sent_at), settled_at = ?
WHERE plugin = ? AND group_key = ? AND (owner = ? OR (note = ? AND sent_at IS ?));

-- name: leave_group (due or NULL where it ends, again, plugin, group key)
UPDATE event_groups SET due_at = ?, again = ?, tries = 0, failures = 0, deaths = 0, owner = ''
WHERE plugin = ? AND group_key = ?;

-- name: retry_group (failures more, due, plugin, group key, owner)
UPDATE event_groups SET tries = tries + 1, failures = failures + ?, deaths = 0, due_at = ?,
    owner = ''
WHERE plugin = ? AND group_key = ? AND owner = ?;

-- name: note_error (error, rows)
UPDATE outbox SET error = ? WHERE id IN (SELECT value FROM json_each(?));

-- name: bury_grouped (error, now, tries more, plugin, group key, rows)
UPDATE outbox SET error = ?, died_at = ?, tries = tries + ?, group_key = ''
WHERE +plugin = ? AND +group_key = ? AND id IN (SELECT value FROM json_each(?));

-- name: loads (): what waits for each plugin, dead letters included
SELECT plugin, count(*), sum(bytes) FROM outbox GROUP BY plugin;

-- name: excess (plugin, limit): what goes first, without what is leased just now
SELECT outbox.id, outbox.event, outbox.task_key, outbox.bytes, outbox.final,
    coalesce(events.kind, ''), coalesce(events.observed_at, 0)
FROM (
    SELECT id FROM outbox
    WHERE plugin = ?1 AND id NOT IN (
        SELECT id FROM outbox WHERE owner <> '' AND +plugin = ?1
        UNION ALL SELECT grouped.id FROM event_groups
        CROSS JOIN outbox AS grouped USING (plugin, group_key)
        WHERE event_groups.plugin = ?1 AND event_groups.owner <> '' AND grouped.group_key <> '')
    ORDER BY final, id LIMIT ?2) AS first
JOIN outbox ON outbox.id = first.id LEFT JOIN events ON events.id = outbox.event
ORDER BY outbox.final, outbox.id;

-- name: unclaimed (rows): those that nobody has leased since, and nobody leases now
SELECT value FROM json_each(?);

-- name: add_drops (plugin, kind, events, final, since, until)
INSERT INTO drops (plugin, kind, seal, events, final, since, until) VALUES (?, ?, 0, ?, ?, ?, ?)
ON CONFLICT (plugin, kind, seal) DO UPDATE SET
    events = events + excluded.events, final = final + excluded.final,
    since = min(since, excluded.since), until = max(until, excluded.until);

-- name: seal_drops (): number what was not read yet
UPDATE drops SET seal = (SELECT max(seal) + 1 FROM drops) WHERE seal = 0;

-- name: drops ()
SELECT plugin, kind, seal, events, final, since, until FROM drops ORDER BY plugin, seal, kind;

-- name: forget_drops (plugin, seal)
DELETE FROM drops WHERE plugin = ? AND seal BETWEEN 1 AND ?;

-- name: note_call (each column)
INSERT INTO hook_calls (plugin, hook, host, pid, called_at, delivered_at, delivered, undelivered,
    failed, slow, error)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (plugin, hook, host) DO UPDATE SET
    pid = CASE WHEN excluded.called_at >= called_at THEN excluded.pid ELSE pid END,
    called_at = max(called_at, excluded.called_at),
    delivered_at = coalesce(max(delivered_at, excluded.delivered_at), excluded.delivered_at,
        delivered_at),
    delivered = delivered + excluded.delivered, undelivered = undelivered + excluded.undelivered,
    failed = failed + excluded.failed, slow = slow + excluded.slow,
    error = CASE excluded.error WHEN '' THEN error ELSE excluded.error END;

-- name: calls ()
SELECT plugin, hook, host, pid, called_at, delivered_at, delivered, undelivered, failed, slow, error
FROM hook_calls ORDER BY plugin, hook, host;

-- name: get_state (plugin, key)
SELECT value FROM plugin_state WHERE plugin = ? AND key = ?;

-- name: state_items (plugin, first key, key after the last)
SELECT key, value FROM plugin_state
WHERE plugin = ? AND key >= ? AND key < ? ORDER BY key;

-- name: put_state (plugin, key, value)
INSERT INTO plugin_state (plugin, key, value) VALUES (?, ?, ?)
ON CONFLICT (plugin, key) DO UPDATE SET value = excluded.value;

-- name: forget_state (plugin, key)
DELETE FROM plugin_state WHERE plugin = ? AND key = ?;

-- name: history_of_run (key, limit)
SELECT state, opened_at, closed_at, oom_host, revision, error_line, suspect,
    task, owner, details, decision, charge
FROM attempts WHERE key = ? ORDER BY attempt DESC LIMIT ?;

-- name: history_of_job (job key, limit)
SELECT state, opened_at, closed_at, oom_host, revision, error_line, suspect,
    task, owner, details, decision, charge
FROM attempts WHERE key > ?1 || '/' AND key < ?1 || '0' ORDER BY id DESC LIMIT ?2;

-- name: history_of_name (workflow/name, limit)
SELECT state, opened_at, closed_at, oom_host, revision, error_line, suspect,
    task, owner, details, decision, charge
FROM attempts WHERE substr(job_key, -1 - length(?1)) = '/' || ?1 ORDER BY id DESC LIMIT ?2;

-- name: failures (since, limit)
SELECT state, opened_at, closed_at, oom_host, revision, error_line, suspect,
    task, owner, details, decision, charge
FROM attempts WHERE closed_at >= ? AND closed_at IS NOT NULL AND state = 'failed'
ORDER BY closed_at DESC, id DESC LIMIT ?;

-- name: jobs (limit)
SELECT job_key FROM attempts GROUP BY job_key ORDER BY max(id) DESC LIMIT ?;

-- name: tally (side, since)
SELECT CASE ?1
        WHEN 'kind' THEN kind WHEN 'reason' THEN reason WHEN 'node' THEN node
        WHEN 'owner' THEN task_owner ELSE job_key END AS value,
    count(*), count(DISTINCT key), sum(kind = 'infra'),
    sum(CASE WHEN kind = 'infra' AND opened_at < closed_at THEN closed_at - opened_at ELSE 0 END),
    sum(charge = 'infra')
FROM attempts WHERE closed_at >= ?2 AND closed_at IS NOT NULL AND state = 'failed' GROUP BY value;

-- name: last_failures (job)
SELECT key, failed_at FROM last_failures WHERE job = ? ORDER BY failed_at DESC, key;

-- name: save_last_failure (job, key, failed at)
INSERT INTO last_failures (job, key, failed_at) VALUES (?, ?, ?)
ON CONFLICT (job, key) DO UPDATE SET failed_at = excluded.failed_at
WHERE excluded.failed_at > last_failures.failed_at;

-- name: trim_last_failures (job, how many stay)
DELETE FROM last_failures WHERE job = ?1 AND key IN (
    SELECT key FROM last_failures WHERE job = ?1 ORDER BY failed_at DESC LIMIT -1 OFFSET ?2);

-- name: forget_last_failure (job, key, failed at)
DELETE FROM last_failures WHERE job = ? AND key = ? AND failed_at = ?;

-- name: forget_last_failures (before)
DELETE FROM last_failures WHERE failed_at < ?;

-- name: forgettable (after this key, before, limit)
SELECT key FROM accounts
WHERE key > ? AND closed IN ('succeeded', 'failed')
    AND NOT EXISTS (SELECT 1 FROM attempts WHERE attempts.key = accounts.key
        AND (closed_at IS NULL OR closed_at >= ?))
    AND NOT EXISTS (SELECT 1 FROM outbox WHERE outbox.task_key = accounts.key)
ORDER BY key LIMIT ?;

-- name: forget_attempts (keys)
DELETE FROM attempts WHERE key IN (SELECT value FROM json_each(?));

-- name: forget_accounts (keys)
DELETE FROM accounts WHERE key IN (SELECT value FROM json_each(?));

-- name: forget_groups (before)
DELETE FROM event_groups WHERE due_at IS NULL AND coalesce(settled_at, 0) < ?;

-- name: extent (): tasks, and the newest time in the ledger
SELECT (SELECT count(*) FROM accounts),
    (SELECT max(opened_at) FROM attempts), (SELECT max(closed_at) FROM attempts);
