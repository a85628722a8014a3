-- The ledger: one dense sequence of events an org. Where servers share the database, who writes holds the org's lock row.
CREATE TABLE ledger_locks (
    org TEXT NOT NULL PRIMARY KEY
);

CREATE TABLE events (
    org TEXT NOT NULL,
    position BIGINT NOT NULL,
    id TEXT NOT NULL,
    book TEXT NOT NULL,
    playbook TEXT,
    stream TEXT NOT NULL,
    stream_position BIGINT NOT NULL,
    type TEXT NOT NULL,
    at BIGINT NOT NULL,
    actor TEXT NOT NULL,
    correlation_id TEXT,
    causation_id TEXT,
    data TEXT NOT NULL,
    PRIMARY KEY (org, position)
);

CREATE UNIQUE INDEX events_by_id ON events (org, id);
CREATE UNIQUE INDEX events_by_stream ON events (org, stream, stream_position);
CREATE INDEX events_by_playbook ON events (org, playbook, position) WHERE book = 'history';
CREATE INDEX events_by_type ON events (org, playbook, type, position) WHERE book = 'history';
