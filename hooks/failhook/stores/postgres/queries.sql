-- Behind each name: the values that the statement takes, in order; the same as SQLite's, and so is
-- what comes back. Rows, events and keys come as the text of a JSON array, and so do all the rows of
-- a statement that adds many. As arrays of PostgreSQL they are looked up in an index each, where the
-- planner would take a subquery for a hundred and rather read a whole table.
--
-- Who waits for whom. Whatever changes the line of a task (adds, removes, kills, revives a row, puts
-- it into a group) holds the task's advisory lock first, and so sees in its later statements all
-- that the last holder did: no row is left behind one that is gone. What only changes leases
-- (claim, renew, retry, release) holds no task. Where both can meet in a row, rows are locked in the
-- order of their ids; a claim waits for nobody and skips what is locked. Then groups are locked,
-- in the order of their keys.

-- name: account (key)
SELECT key, job_key, "user", infra, system, last_attempt, failures, first_started_at,
    first_failure, first_error, phases, closed
FROM {schema}.accounts WHERE key = $1;

-- name: held_accounts ()
SELECT key, job_key, "user", infra, system, last_attempt, failures, first_started_at,
    first_failure, first_error, phases, closed
FROM {schema}.accounts WHERE closed = 'held' AND closed IN ('', 'held') ORDER BY key;

-- name: between_attempts ()
SELECT key, job_key, "user", infra, system, last_attempt, failures, first_started_at,
    first_failure, first_error, phases, closed
FROM {schema}.accounts WHERE closed = '' AND closed IN ('', 'held') AND EXISTS (
    SELECT FROM {schema}.attempts WHERE attempts.key = accounts.key
        AND attempts.attempt = accounts.last_attempt AND attempts.state = 'failed')
ORDER BY key;

-- name: save_account (each column)
INSERT INTO {schema}.accounts (key, job_key, "user", infra, system, last_attempt, failures,
    first_started_at, first_failure, first_error, phases, closed)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
ON CONFLICT (key) DO UPDATE SET
    "user" = excluded."user", infra = excluded.infra, system = excluded.system,
    last_attempt = excluded.last_attempt, failures = excluded.failures,
    first_started_at = excluded.first_started_at, first_failure = excluded.first_failure,
    first_error = excluded.first_error, phases = excluded.phases, closed = excluded.closed;

-- name: attempt (key, attempt)
SELECT state, opened_at, closed_at, oom_host, revision, error_line, suspect,
    task, owner, details, decision, charge
FROM {schema}.attempts WHERE key = $1 AND attempt = $2;

-- name: attempts (key)
SELECT state, opened_at, closed_at, oom_host, revision, error_line, suspect,
    task, owner, details, decision, charge
FROM {schema}.attempts WHERE key = $1 ORDER BY attempt;

-- name: open_attempts (host or NULL)
SELECT state, opened_at, closed_at, oom_host, revision, error_line, suspect,
    task, owner, details, decision, charge
FROM {schema}.attempts WHERE state = 'open' AND ($1::text IS NULL OR host = $1)
ORDER BY opened_at NULLS FIRST, id;

-- name: save_attempt (each column)
INSERT INTO {schema}.attempts (key, attempt, job_key, state, kind, reason, charge, node, host,
    task_owner, opened_at, closed_at, oom_host, revision, error_line, suspect, task, owner, details,
    decision)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20)
ON CONFLICT (key, attempt) DO UPDATE SET
    state = excluded.state, kind = excluded.kind, reason = excluded.reason,
    charge = excluded.charge, node = excluded.node, host = excluded.host,
    task_owner = excluded.task_owner, opened_at = excluded.opened_at,
    closed_at = excluded.closed_at, oom_host = excluded.oom_host, revision = excluded.revision,
    error_line = excluded.error_line, suspect = excluded.suspect, task = excluded.task,
    owner = excluded.owner, details = excluded.details, decision = excluded.decision;

-- name: line (task key)
SELECT outbox.plugin, outbox.group_key, outbox.died_at, outbox.event, events.event_id
FROM {schema}.outbox JOIN {schema}.events ON events.id = outbox.event WHERE outbox.task_key = $1;

-- name: add_event (each column)
INSERT INTO {schema}.events (event_id, task_key, body, kind, observed_at)
VALUES ($1, $2, $3, $4, $5) RETURNING id;

-- name: add_row (many of: event, task key, plugin, ready, due, bytes, final)
INSERT INTO {schema}.outbox (event, task_key, plugin, ready, due_at, bytes, final)
SELECT (row->>0)::bigint, row->>1, row->>2, (row->>3)::bigint, (row->>4)::bigint,
    (row->>5)::bigint, (row->>6)::bigint
FROM json_array_elements($1::json) AS row;

-- name: due (plugin, now, limit, owner): one that another owner has lost has a death more
SELECT outbox.id, outbox.tries, events.event_id, events.body,
    outbox.deaths + (outbox.owner NOT IN ('', $4))::int, outbox.failures
FROM {schema}.outbox LEFT JOIN {schema}.events ON events.id = outbox.event
WHERE outbox.plugin = $1 AND outbox.ready = 1 AND outbox.due_at <= $2
ORDER BY outbox.due_at, outbox.id LIMIT $3 FOR UPDATE OF outbox SKIP LOCKED;

-- name: suspect (plugin, now, owner): the same of the first that has a death; it goes before others
SELECT outbox.id, outbox.tries, events.event_id, events.body,
    outbox.deaths + (outbox.owner NOT IN ('', $3))::int, outbox.failures
FROM {schema}.outbox LEFT JOIN {schema}.events ON events.id = outbox.event
WHERE outbox.plugin = $1 AND outbox.deaths > 0 AND outbox.died_at IS NULL
    AND outbox.ready = 1 AND outbox.due_at <= $2
ORDER BY outbox.due_at, outbox.id LIMIT 1 FOR UPDATE OF outbox SKIP LOCKED;

-- name: lease (owner, until, rows, error of what another owner has lost again): they are locked
UPDATE {schema}.outbox SET owner = $1, due_at = $2,
    deaths = deaths + (owner NOT IN ('', $1))::int,
    error = CASE WHEN deaths > 0 AND owner NOT IN ('', $1) THEN $4 ELSE error END
WHERE id = ANY (translate($3, '[]', '{}')::bigint[]);

-- name: touched (rows)
SELECT DISTINCT task_key, event FROM {schema}.outbox
WHERE id = ANY (translate($1, '[]', '{}')::bigint[]);

-- name: done (rows)
WITH locked AS MATERIALIZED (
    SELECT id FROM {schema}.outbox
    WHERE id = ANY (translate($1, '[]', '{}')::bigint[])
    ORDER BY id FOR UPDATE)
DELETE FROM {schema}.outbox WHERE id IN (SELECT id FROM locked);

-- name: retry (failures more, error, due, owner, rows)
WITH locked AS MATERIALIZED (
    SELECT id FROM {schema}.outbox
    WHERE owner = $4 AND id = ANY (translate($5, '[]', '{}')::bigint[])
    ORDER BY id FOR UPDATE)
UPDATE {schema}.outbox SET tries = tries + 1, failures = failures + $1, deaths = 0, error = $2,
    due_at = $3, owner = ''
WHERE id IN (SELECT id FROM locked);

-- name: bury (error, now, owner, rows)
WITH locked AS MATERIALIZED (
    SELECT id FROM {schema}.outbox
    WHERE owner = $3 AND id = ANY (translate($4, '[]', '{}')::bigint[])
    ORDER BY id FOR UPDATE)
UPDATE {schema}.outbox SET tries = tries + greatest(1, deaths), deaths = 0, error = $1,
    died_at = $2, ready = 0, owner = ''
WHERE id IN (SELECT id FROM locked);

-- name: revive (due, rows): nobody changes a dead row but who holds its task
UPDATE {schema}.outbox SET tries = 0, failures = 0, error = '', died_at = NULL,
    due_at = $1
WHERE died_at IS NOT NULL AND id = ANY (translate($2, '[]', '{}')::bigint[]);

-- name: merge (task keys, rows): what nobody holds of copies of events whose dead rows are revived
WITH dead AS MATERIALIZED (
    SELECT id, task_key, plugin, event FROM {schema}.outbox
    WHERE died_at IS NOT NULL AND id = ANY (translate($2, '[]', '{}')::bigint[])),
locked AS MATERIALIZED (
    SELECT id FROM {schema}.outbox
    WHERE task_key = ANY (ARRAY(SELECT json_array_elements_text($1::json))) AND owner = ''
        AND NOT EXISTS (
            SELECT FROM {schema}.event_groups
            WHERE event_groups.plugin = outbox.plugin
                AND event_groups.group_key = outbox.group_key AND event_groups.owner <> '')
        AND EXISTS (
            SELECT FROM dead
            WHERE dead.task_key = outbox.task_key AND dead.plugin = outbox.plugin
                AND dead.event = outbox.event AND dead.id <> outbox.id AND (
                    dead.id < outbox.id OR outbox.id NOT IN (SELECT id FROM dead)))
    ORDER BY id FOR UPDATE)
DELETE FROM {schema}.outbox WHERE id IN (SELECT id FROM locked);

-- name: drop (rows): as above
DELETE FROM {schema}.outbox
WHERE died_at IS NOT NULL AND id = ANY (translate($1, '[]', '{}')::bigint[]);

-- name: forget_events (events)
DELETE FROM {schema}.events
WHERE id = ANY (translate($1, '[]', '{}')::bigint[]) AND NOT EXISTS (
    SELECT FROM {schema}.outbox
    WHERE outbox.task_key = events.task_key AND outbox.event = events.id);

-- name: advance (task keys)
WITH locked AS MATERIALIZED (
    SELECT id FROM {schema}.outbox
    WHERE died_at IS NULL AND group_key = ''
        AND task_key = ANY (ARRAY(SELECT json_array_elements_text($1::json)))
        AND ready <> (NOT EXISTS (
            SELECT FROM {schema}.outbox AS older
            WHERE older.task_key = outbox.task_key AND older.plugin = outbox.plugin
                AND older.group_key = '' AND older.died_at IS NULL
                AND older.id < outbox.id))::int
    ORDER BY id FOR UPDATE)
UPDATE {schema}.outbox SET ready = 1 - ready WHERE id IN (SELECT id FROM locked);

-- name: holders (plugin)
SELECT owner FROM {schema}.outbox WHERE plugin = $1 AND owner <> ''
UNION SELECT owner FROM {schema}.event_groups WHERE plugin = $1 AND owner <> '' ORDER BY owner;

-- name: renew_rows (until, plugin, owner)
WITH locked AS MATERIALIZED (
    SELECT id FROM {schema}.outbox WHERE plugin = $2 AND owner = $3 AND owner <> ''
    ORDER BY id FOR UPDATE)
UPDATE {schema}.outbox SET due_at = $1 WHERE id IN (SELECT id FROM locked);

-- name: renew_groups (until, plugin, owner)
WITH locked AS MATERIALIZED (
    SELECT plugin, group_key FROM {schema}.event_groups
    WHERE plugin = $2 AND owner = $3 AND owner <> '' ORDER BY plugin, group_key FOR UPDATE)
UPDATE {schema}.event_groups SET due_at = $1
WHERE (plugin, group_key) IN (SELECT plugin, group_key FROM locked);

-- name: release_rows (owner, plugin or NULL)
WITH locked AS MATERIALIZED (
    SELECT id FROM {schema}.outbox
    WHERE owner = $1 AND owner <> '' AND ($2::text IS NULL OR plugin = $2)
    ORDER BY id FOR UPDATE)
UPDATE {schema}.outbox SET owner = '', due_at = 0 WHERE id IN (SELECT id FROM locked);

-- name: release_groups (owner, plugin or NULL)
WITH locked AS MATERIALIZED (
    SELECT plugin, group_key FROM {schema}.event_groups
    WHERE owner = $1 AND owner <> '' AND ($2::text IS NULL OR plugin = $2)
    ORDER BY plugin, group_key FOR UPDATE)
UPDATE {schema}.event_groups SET owner = '', due_at = 0
WHERE (plugin, group_key) IN (SELECT plugin, group_key FROM locked);

-- name: lose_rows (owner, plugin, due where it is not the first death, error of those)
WITH locked AS MATERIALIZED (
    SELECT id FROM {schema}.outbox WHERE owner = $1 AND owner <> '' AND plugin = $2
    ORDER BY id FOR UPDATE)
UPDATE {schema}.outbox SET owner = '', deaths = deaths + 1,
    due_at = CASE deaths WHEN 0 THEN 0 ELSE $3 END,
    error = CASE deaths WHEN 0 THEN error ELSE $4 END
WHERE id IN (SELECT id FROM locked);

-- name: lose_groups (owner, plugin, due where it is not the first death)
WITH locked AS MATERIALIZED (
    SELECT plugin, group_key FROM {schema}.event_groups
    WHERE owner = $1 AND owner <> '' AND plugin = $2 ORDER BY plugin, group_key FOR UPDATE)
UPDATE {schema}.event_groups SET owner = '', deaths = deaths + 1,
    due_at = CASE deaths WHEN 0 THEN 0 ELSE $3 END
WHERE (plugin, group_key) IN (SELECT plugin, group_key FROM locked);

-- name: deaths (plugin): the most that anything has which waits for it
SELECT coalesce(max(deaths), 0) FROM (
    SELECT max(deaths) AS deaths FROM {schema}.outbox
    WHERE plugin = $1 AND deaths > 0 AND died_at IS NULL
    UNION ALL
    SELECT max(deaths) FROM {schema}.event_groups
    WHERE plugin = $1 AND deaths > 0 AND due_at IS NOT NULL
) AS suspects;

-- name: next_due (plugin)
SELECT min(due_at) FROM (
    SELECT min(due_at) AS due_at FROM {schema}.outbox WHERE plugin = $1 AND ready = 1
    UNION ALL
    SELECT min(due_at) FROM {schema}.event_groups WHERE plugin = $1 AND due_at IS NOT NULL
) AS dues;

-- name: pending (plugins or NULL)
SELECT count(*) FROM {schema}.outbox WHERE died_at IS NULL
    AND ($1::json IS NULL OR plugin = ANY (ARRAY(SELECT json_array_elements_text($1::json))));

-- name: waiting (1: dead letters, 0: the others)
SELECT outbox.plugin, count(*), count(*) FILTER (WHERE group_key <> ''),
    coalesce(min(events.observed_at), 0),
    coalesce((
        SELECT tried.error FROM {schema}.outbox AS tried
        WHERE tried.plugin = outbox.plugin AND tried.error <> ''
            AND (tried.died_at IS NOT NULL) = ($1 = 1)
        ORDER BY tried.id DESC LIMIT 1), '')
FROM {schema}.outbox LEFT JOIN {schema}.events ON events.id = outbox.event
WHERE (outbox.died_at IS NOT NULL) = ($1 = 1) GROUP BY outbox.plugin ORDER BY outbox.plugin;

-- name: dead_letters (plugin or NULL, rows or NULL, after this row, limit or NULL)
SELECT outbox.id, outbox.plugin, outbox.tries, outbox.error, outbox.died_at, outbox.task_key,
    events.event_id, events.body
FROM {schema}.outbox LEFT JOIN {schema}.events ON events.id = outbox.event
WHERE outbox.died_at IS NOT NULL AND ($1::text IS NULL OR outbox.plugin = $1)
    AND ($2::text IS NULL
        OR outbox.id = ANY (translate($2, '[]', '{}')::bigint[]))
    AND outbox.id > $3
ORDER BY outbox.id LIMIT $4;

-- name: claimed (row, owner)
SELECT plugin FROM {schema}.outbox WHERE id = $1 AND owner = $2 AND owner <> '' FOR UPDATE;

-- name: begin_group (plugin, group key, due): it is locked, also where it waits already
INSERT INTO {schema}.event_groups (plugin, group_key, due_at) VALUES ($1, $2, $3)
ON CONFLICT (plugin, group_key) DO UPDATE SET due_at = excluded.due_at
WHERE event_groups.due_at IS NULL;

-- name: join_group (group key, due, row)
UPDATE {schema}.outbox SET group_key = $1, due_at = $2, owner = '', ready = 0, deaths = 0
WHERE id = $3;

-- name: join_group_too (group key, due, row)
INSERT INTO {schema}.outbox (event, task_key, plugin, ready, due_at, tries, group_key, error, bytes,
    final)
SELECT event, task_key, plugin, 0, $2, tries, $1, error, bytes, final
FROM {schema}.outbox WHERE id = $3;

-- name: due_group (plugin, now, owner): one that another owner has lost has a death more
SELECT group_key, again, tries, note, sent_at, deaths + (owner NOT IN ('', $3))::int, failures
FROM {schema}.event_groups
WHERE plugin = $1 AND due_at <= $2 ORDER BY due_at, group_key LIMIT 1 FOR UPDATE SKIP LOCKED;

-- name: group_rows (plugin, group key, limit)
SELECT outbox.id, outbox.tries, events.event_id, events.body
FROM {schema}.outbox LEFT JOIN {schema}.events ON events.id = outbox.event
WHERE outbox.plugin = $1 AND outbox.group_key = $2 AND outbox.group_key <> ''
ORDER BY outbox.id LIMIT $3;

-- name: group_size (plugin, group key): rows, and when the oldest of them wants to be handed over
SELECT count(*), (
    SELECT due_at FROM {schema}.outbox WHERE plugin = $1 AND group_key = $2 AND group_key <> ''
    ORDER BY id LIMIT 1)
FROM {schema}.outbox WHERE plugin = $1 AND group_key = $2 AND group_key <> '';

-- name: lease_group (owner, until, plugin, group key)
UPDATE {schema}.event_groups SET owner = $1, due_at = $2,
    deaths = deaths + (owner NOT IN ('', $1))::int
WHERE plugin = $3 AND group_key = $4;

-- name: group_owner (plugin, group key): nobody else changes the group until the transaction ends
SELECT owner FROM {schema}.event_groups WHERE plugin = $1 AND group_key = $2 FOR UPDATE;

-- name: log_group (note, sent or NULL, now, plugin, group key, owner, note before, sent before or NULL)
UPDATE {schema}.event_groups SET note = $1, sent_at = coalesce($2, sent_at), settled_at = $3
WHERE plugin = $4 AND group_key = $5
    AND (owner = $6 OR (note = $7 AND sent_at IS NOT DISTINCT FROM $8));

-- name: leave_group (due or NULL where it ends, again, plugin, group key)
UPDATE {schema}.event_groups SET due_at = $1, again = $2, tries = 0, failures = 0,
    deaths = 0, owner = ''
WHERE plugin = $3 AND group_key = $4;

-- name: retry_group (failures more, due, plugin, group key, owner)
UPDATE {schema}.event_groups SET tries = tries + 1, failures = failures + $1, deaths = 0,
    due_at = $2, owner = ''
WHERE plugin = $3 AND group_key = $4 AND owner = $5;

-- name: note_error (error, rows): of a group that is locked, so it must not wait for rows
WITH locked AS MATERIALIZED (
    SELECT id FROM {schema}.outbox
    WHERE id = ANY (translate($2, '[]', '{}')::bigint[])
    FOR UPDATE SKIP LOCKED)
UPDATE {schema}.outbox SET error = $1 WHERE id IN (SELECT id FROM locked);

-- name: bury_grouped (error, now, tries more, plugin, group key, rows): of a group that is locked, and of held tasks
UPDATE {schema}.outbox SET error = $1, died_at = $2, tries = tries + $3, group_key = ''
WHERE plugin = $4 AND group_key = $5
    AND id = ANY (translate($6, '[]', '{}')::bigint[]);

-- name: loads (): what waits for each plugin, dead letters included
SELECT plugin, count(*), sum(bytes)::bigint FROM {schema}.outbox GROUP BY plugin ORDER BY plugin;

-- name: excess (plugin, limit): what goes first, without what is leased just now
SELECT outbox.id, outbox.event, outbox.task_key, outbox.bytes, outbox.final,
    coalesce(events.kind, ''), coalesce(events.observed_at, 0)
FROM {schema}.outbox LEFT JOIN {schema}.events ON events.id = outbox.event
WHERE outbox.plugin = $1 AND outbox.owner = '' AND NOT EXISTS (
    SELECT FROM {schema}.event_groups
    WHERE event_groups.plugin = outbox.plugin AND event_groups.group_key = outbox.group_key
        AND event_groups.owner <> '')
ORDER BY outbox.final, outbox.id LIMIT $2;

-- name: unclaimed (rows): those that nobody has leased since, and nobody leases now
SELECT id FROM {schema}.outbox
WHERE id = ANY (translate($1, '[]', '{}')::bigint[]) AND owner = ''
    AND NOT EXISTS (
        SELECT FROM {schema}.event_groups
        WHERE event_groups.plugin = outbox.plugin AND event_groups.group_key = outbox.group_key
            AND event_groups.owner <> '')
FOR UPDATE SKIP LOCKED;

-- name: add_drops (many of: plugin, kind, events, final, since, until)
INSERT INTO {schema}.drops AS told (plugin, kind, seal, events, final, since, until)
SELECT row->>0, row->>1, 0, (row->>2)::bigint, (row->>3)::bigint, (row->>4)::bigint,
    (row->>5)::bigint
FROM json_array_elements($1::json) AS row ORDER BY 1, 2
ON CONFLICT (plugin, kind, seal) DO UPDATE SET
    events = told.events + excluded.events, final = told.final + excluded.final,
    since = least(told.since, excluded.since), until = greatest(told.until, excluded.until);

-- name: seal_drops (): number what was not read yet
WITH locked AS MATERIALIZED (
    SELECT plugin, kind FROM {schema}.drops WHERE seal = 0 ORDER BY plugin, kind FOR UPDATE)
UPDATE {schema}.drops SET seal = (SELECT max(seal) + 1 FROM {schema}.drops)
WHERE seal = 0 AND (plugin, kind) IN (SELECT plugin, kind FROM locked);

-- name: drops ()
SELECT plugin, kind, seal, events, final, since, until FROM {schema}.drops
ORDER BY plugin, seal, kind;

-- name: forget_drops (plugin, seal)
DELETE FROM {schema}.drops WHERE plugin = $1 AND seal BETWEEN 1 AND $2;

-- name: note_call (many of: each column)
INSERT INTO {schema}.hook_calls AS noted (plugin, hook, host, pid, called_at, delivered_at,
    delivered, undelivered, failed, slow, error)
SELECT row->>0, row->>1, row->>2, (row->>3)::bigint, (row->>4)::bigint, (row->>5)::bigint,
    (row->>6)::bigint, (row->>7)::bigint, (row->>8)::bigint, (row->>9)::bigint, row->>10
FROM json_array_elements($1::json) AS row ORDER BY 1, 2, 3
ON CONFLICT (plugin, hook, host) DO UPDATE SET
    pid = CASE WHEN excluded.called_at >= noted.called_at THEN excluded.pid ELSE noted.pid END,
    called_at = greatest(noted.called_at, excluded.called_at),
    delivered_at = greatest(noted.delivered_at, excluded.delivered_at),
    delivered = noted.delivered + excluded.delivered,
    undelivered = noted.undelivered + excluded.undelivered,
    failed = noted.failed + excluded.failed, slow = noted.slow + excluded.slow,
    error = CASE excluded.error WHEN '' THEN noted.error ELSE excluded.error END;

-- name: calls ()
SELECT plugin, hook, host, pid, called_at, delivered_at, delivered, undelivered, failed, slow, error
FROM {schema}.hook_calls ORDER BY plugin, hook, host;

-- name: get_state (plugin, key)
SELECT value FROM {schema}.plugin_state WHERE plugin = $1 AND key = $2;

-- name: state_items (plugin, first key, key after the last)
SELECT key, value FROM {schema}.plugin_state
WHERE plugin = $1 AND key >= $2 AND key < $3 ORDER BY key;

-- name: put_state (plugin, key, value)
INSERT INTO {schema}.plugin_state (plugin, key, value) VALUES ($1, $2, $3)
ON CONFLICT (plugin, key) DO UPDATE SET value = excluded.value;

-- name: forget_state (plugin, key)
DELETE FROM {schema}.plugin_state WHERE plugin = $1 AND key = $2;

-- name: history_of_run (key, limit)
SELECT state, opened_at, closed_at, oom_host, revision, error_line, suspect,
    task, owner, details, decision, charge
FROM {schema}.attempts WHERE key = $1 ORDER BY attempt DESC LIMIT $2;

-- name: history_of_job (job key, limit)
SELECT state, opened_at, closed_at, oom_host, revision, error_line, suspect,
    task, owner, details, decision, charge
FROM {schema}.attempts WHERE key > $1::text || '/' AND key < $1::text || '0'
ORDER BY id DESC LIMIT $2;

-- name: history_of_name (workflow/name, limit)
SELECT state, opened_at, closed_at, oom_host, revision, error_line, suspect,
    task, owner, details, decision, charge
FROM {schema}.attempts WHERE right(job_key, 1 + length($1::text)) = '/' || $1::text
ORDER BY id DESC LIMIT $2;

-- name: failures (since, limit)
SELECT state, opened_at, closed_at, oom_host, revision, error_line, suspect,
    task, owner, details, decision, charge
FROM {schema}.attempts WHERE closed_at >= $1 AND closed_at IS NOT NULL AND state = 'failed'
ORDER BY closed_at DESC, id DESC LIMIT $2;

-- name: jobs (limit)
SELECT job_key FROM {schema}.attempts GROUP BY job_key ORDER BY max(id) DESC LIMIT $1;

-- name: tally (side, since)
SELECT CASE $1::text
        WHEN 'kind' THEN kind WHEN 'reason' THEN reason WHEN 'node' THEN node
        WHEN 'owner' THEN task_owner ELSE job_key END AS value,
    count(*), count(DISTINCT key), count(*) FILTER (WHERE kind = 'infra'),
    coalesce(sum(closed_at - opened_at)
        FILTER (WHERE kind = 'infra' AND opened_at < closed_at), 0)::bigint,
    count(*) FILTER (WHERE charge = 'infra')
FROM {schema}.attempts
WHERE closed_at >= $2 AND closed_at IS NOT NULL AND state = 'failed' GROUP BY value;

-- name: last_failures (job)
SELECT key, failed_at FROM {schema}.last_failures WHERE job = $1 ORDER BY failed_at DESC, key;

-- name: save_last_failure (job, key, failed at)
INSERT INTO {schema}.last_failures AS known (job, key, failed_at) VALUES ($1, $2, $3)
ON CONFLICT (job, key) DO UPDATE SET failed_at = excluded.failed_at
WHERE excluded.failed_at > known.failed_at;

-- name: trim_last_failures (job, how many stay): what somebody else is at is trimmed the next time
DELETE FROM {schema}.last_failures WHERE job = $1 AND key = ANY (ARRAY(
    SELECT key FROM {schema}.last_failures WHERE job = $1 AND key = ANY (ARRAY(
        SELECT key FROM {schema}.last_failures WHERE job = $1 ORDER BY failed_at DESC OFFSET $2))
    FOR UPDATE SKIP LOCKED));

-- name: forget_last_failure (job, key, failed at)
DELETE FROM {schema}.last_failures WHERE job = $1 AND key = $2 AND failed_at = $3;

-- name: forget_last_failures (before)
DELETE FROM {schema}.last_failures WHERE failed_at < $1;

-- name: forgettable (after this key, before, limit)
SELECT key FROM {schema}.accounts
WHERE key > $1 AND closed IN ('succeeded', 'failed')
    AND NOT EXISTS (SELECT FROM {schema}.attempts WHERE attempts.key = accounts.key
        AND (closed_at IS NULL OR closed_at >= $2))
    AND NOT EXISTS (SELECT FROM {schema}.outbox WHERE outbox.task_key = accounts.key)
ORDER BY key LIMIT $3;

-- name: forget_attempts (keys): but of a task that went on before it was held
DELETE FROM {schema}.attempts
WHERE key = ANY (ARRAY(SELECT json_array_elements_text($1::json)))
    AND EXISTS (SELECT FROM {schema}.accounts
        WHERE accounts.key = attempts.key AND closed IN ('succeeded', 'failed'))
    AND NOT EXISTS (SELECT FROM {schema}.outbox WHERE outbox.task_key = attempts.key);

-- name: forget_accounts (keys): as above
DELETE FROM {schema}.accounts
WHERE key = ANY (ARRAY(SELECT json_array_elements_text($1::json)))
    AND closed IN ('succeeded', 'failed')
    AND NOT EXISTS (SELECT FROM {schema}.outbox WHERE outbox.task_key = accounts.key);

-- name: forget_groups (before)
WITH locked AS MATERIALIZED (
    SELECT plugin, group_key FROM {schema}.event_groups
    WHERE due_at IS NULL AND coalesce(settled_at, 0) < $1 FOR UPDATE SKIP LOCKED)
DELETE FROM {schema}.event_groups
WHERE (plugin, group_key) IN (SELECT plugin, group_key FROM locked);

-- name: extent (): tasks, and the newest time in the ledger
SELECT (SELECT count(*) FROM {schema}.accounts),
    (SELECT max(opened_at) FROM {schema}.attempts), (SELECT max(closed_at) FROM {schema}.attempts);
