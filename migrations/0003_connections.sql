-- Connections, a projection of the audit; the links that approve them; credentials, sealed.
CREATE TABLE connections (
    org TEXT NOT NULL,
    id TEXT NOT NULL,
    name TEXT NOT NULL,
    title TEXT NOT NULL,
    type TEXT NOT NULL,
    provider TEXT,
    entry TEXT NOT NULL,
    placeholders TEXT NOT NULL,
    credential TEXT,
    document TEXT,
    status TEXT NOT NULL,
    last_because TEXT,
    account TEXT,
    credential_version BIGINT NOT NULL,
    revision BIGINT NOT NULL,
    added_by TEXT NOT NULL,
    added_at BIGINT NOT NULL,
    connected_by TEXT,
    connected_at BIGINT,
    removed_by TEXT,
    removed_at BIGINT,
    PRIMARY KEY (org, id)
);

CREATE UNIQUE INDEX connections_by_name ON connections (org, name) WHERE status <> 'removed';
CREATE INDEX connections_newest ON connections (org, added_at, id);

CREATE TABLE connection_links (
    org TEXT NOT NULL,
    digest TEXT NOT NULL,
    connection TEXT NOT NULL,
    person TEXT NOT NULL,
    expires_at BIGINT NOT NULL,
    state TEXT NOT NULL,
    refused BIGINT NOT NULL,
    last_error TEXT,
    PRIMARY KEY (org, digest)
);

CREATE INDEX connection_links_by_connection ON connection_links (org, connection);
CREATE INDEX connection_links_open ON connection_links (expires_at) WHERE state = 'open';

CREATE TABLE secrets (
    org TEXT NOT NULL,
    record TEXT NOT NULL,
    version BIGINT NOT NULL,
    field TEXT NOT NULL,
    key_id TEXT NOT NULL,
    sealed TEXT NOT NULL,
    PRIMARY KEY (org, record, version, field)
);
