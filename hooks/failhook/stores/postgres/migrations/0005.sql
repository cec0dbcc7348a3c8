-- One for each run of a job that failed, instead of the newest alone.
ALTER TABLE {schema}.last_failures DROP CONSTRAINT last_failures_pkey, ADD PRIMARY KEY (job, key);
