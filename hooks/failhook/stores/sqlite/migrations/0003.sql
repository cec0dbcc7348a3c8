-- The newest failure of each job that it has not recovered from yet.
CREATE TABLE last_failures (
    job TEXT PRIMARY KEY,
    key TEXT NOT NULL, -- of the task that failed
    failed_at INTEGER NOT NULL
) WITHOUT ROWID;
