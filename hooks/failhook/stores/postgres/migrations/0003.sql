-- How many processes in a row have ended while they held it.
ALTER TABLE {schema}.outbox ADD COLUMN deaths bigint NOT NULL DEFAULT 0;
ALTER TABLE {schema}.event_groups ADD COLUMN deaths bigint NOT NULL DEFAULT 0;
CREATE INDEX outbox_suspects ON {schema}.outbox (plugin, deaths)
    WHERE deaths > 0 AND died_at IS NULL;
CREATE INDEX event_groups_suspects ON {schema}.event_groups (plugin, deaths) WHERE deaths > 0;
