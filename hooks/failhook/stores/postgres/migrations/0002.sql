-- The newest failure of each job that it has not recovered from yet.
CREATE TABLE {schema}.last_failures (
    job text COLLATE "C" PRIMARY KEY,
    key text COLLATE "C" NOT NULL, -- of the task that failed
    failed_at bigint NOT NULL
);
