-- A store as the first version of the schema left it. It never changes: later versions must read it.
PRAGMA application_id = 1718120299;
PRAGMA user_version = 1;
BEGIN TRANSACTION;
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
INSERT INTO "accounts" VALUES('default/nightly/load/run 1%2Fé/1','default/nightly/load',1,2,3,1,1,1774749599123457,'["infra","KilledBySignal","ended by SIGKILL that the supervisor did not send",null,"likely","process.killed",null,null,9,"yes",false,false,false,"node-7",null,null,null,null,null,null,[["evidence.signal",9],["context.oom_kill",null]]]','ValueError: ''a'' ☃','[["Executing",1774749599123457,""],["RetryableFailure",1774753199123457,"killed"]]','held');
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
INSERT INTO "attempts" VALUES(1,'default/nightly/load/run 1%2Fé/1',1,'default/nightly/load','failed','infra','KilledBySignal','infra','node-7','node-7','data@example.org',1774749599123457,1774753199123457,0,1,'ValueError: ''a''',1,'["default","nightly","load","run 1/\u00e9",null,1,1,"data@example.org",null,null,null,true,{"team":"data"},1774749599123457,{"retries":1,"max_infra_refunds":3,"max_system_failures":3,"refund_confidence":"likely","when_refunds_end":"charge","non_retryable_codes":["BadTaskSpecification","MetadataTooLarge"],"backoff":{"initial":0.0,"factor":2.0,"maximum":300.0,"jitter":true},"infra_backoff":{"initial":0.0,"factor":2.0,"maximum":300.0,"jitter":true},"system_backoff":{"initial":0.0,"factor":2.0,"maximum":300.0,"jitter":true},"total_deadline":null}]','["node-7",4711,99,"boot",4712,100]','["infra","KilledBySignal","ended by SIGKILL that the supervisor did not send",null,"likely","process.killed",null,null,9,"yes",false,false,false,"node-7",null,null,null,null,null,null,[["evidence.signal",9],["context.oom_kill",null]]]','["retry","refund 1 of 3","infra","refund","infra after start is refunded while the cap lasts",1,2,1.5,null,false,[0,0,0,1,3,3],[0,1,0,1,3,3]]');
CREATE TABLE events (
    id INTEGER PRIMARY KEY,
    event_id TEXT NOT NULL,
    task_key TEXT NOT NULL,
    body TEXT NOT NULL -- JSON
);
INSERT INTO "events" VALUES(1,'068e46723f67a2966eacd97696f7b5fd','default/nightly/load/run 1%2Fé/1','["failed","068e46723f67a2966eacd97696f7b5fd",0,"","node-7:4711",false,1774749599123457,1774753199123457,1774753199123457,["default","nightly","load","run 1/\u00e9",null,1,1,"data@example.org",null,null,null,true,{"team":"data"},1774749599123457,{"retries":1,"max_infra_refunds":3,"max_system_failures":3,"refund_confidence":"likely","when_refunds_end":"charge","non_retryable_codes":["BadTaskSpecification","MetadataTooLarge"],"backoff":{"initial":0.0,"factor":2.0,"maximum":300.0,"jitter":true},"infra_backoff":{"initial":0.0,"factor":2.0,"maximum":300.0,"jitter":true},"system_backoff":{"initial":0.0,"factor":2.0,"maximum":300.0,"jitter":true},"total_deadline":null}],["infra","KilledBySignal","ended by SIGKILL that the supervisor did not send",null,"likely","process.killed",null,null,9,"yes",false,false,false,"node-7",null,null,null,null,null,null,[["evidence.signal",9],["context.oom_kill",null]]],["retry","refund 1 of 3","infra","refund","infra after start is refunded while the cap lasts",1,2,1.5,null,false,[0,0,0,1,3,3],[0,1,0,1,3,3]],[["Executing",1774749599123457,""],["RetryableFailure",1774753199123457,"killed"]],{"type":"builtins.ValueError","message":"''a'' \u2603"},null,null]');
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
INSERT INTO "outbox" VALUES(1,1,'default/nightly/load/run 1%2Fé/1','log',1,1774749599123457,0,'','','',NULL);
CREATE TABLE plugin_state (
    plugin TEXT NOT NULL,
    key TEXT NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (plugin, key)
) WITHOUT ROWID;
CREATE INDEX attempts_open ON attempts (opened_at) WHERE state = 'open';
CREATE INDEX outbox_line ON outbox (task_key, plugin);
CREATE INDEX outbox_ready ON outbox (plugin, due_at) WHERE ready = 1;
CREATE INDEX outbox_dead ON outbox (died_at) WHERE died_at IS NOT NULL;
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('outbox',1);
COMMIT;
