-- One for each run of a job that failed, instead of the newest alone.
ALTER TABLE last_failures RENAME TO newest_failures;
CREATE TABLE last_failures (
    job TEXT NOT NULL,
    key TEXT NOT NULL, -- of the task that failed
    failed_at INTEGER NOT NULL,
    PRIMARY KEY (job, key)
) WITHOUT ROWID;
INSERT INTO last_failures SELECT job, key, failed_at FROM newest_failures;
DROP TABLE newest_failures;
