-- How many of the tries were no refusals.
ALTER TABLE outbox ADD COLUMN failures INTEGER NOT NULL DEFAULT 0;
ALTER TABLE event_groups ADD COLUMN failures INTEGER NOT NULL DEFAULT 0;
