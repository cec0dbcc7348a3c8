-- How many of the tries were no refusals.
ALTER TABLE {schema}.outbox ADD COLUMN failures bigint NOT NULL DEFAULT 0;
ALTER TABLE {schema}.event_groups ADD COLUMN failures bigint NOT NULL DEFAULT 0;
