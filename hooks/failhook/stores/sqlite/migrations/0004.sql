-- How many processes in a row have ended while they held it.
ALTER TABLE outbox ADD COLUMN deaths INTEGER NOT NULL DEFAULT 0;
ALTER TABLE event_groups ADD COLUMN deaths INTEGER NOT NULL DEFAULT 0;
CREATE INDEX outbox_suspects ON outbox (plugin, deaths) WHERE deaths > 0 AND died_at IS NULL;
CREATE INDEX event_groups_suspects ON event_groups (plugin, deaths) WHERE deaths > 0;
