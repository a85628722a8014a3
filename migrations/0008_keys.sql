-- API keys made on the server. Only digests of their texts are kept.
CREATE TABLE api_keys (
    org TEXT NOT NULL,
    id TEXT NOT NULL,
    name TEXT NOT NULL,
    display TEXT NOT NULL,
    digest TEXT NOT NULL,
    previous_digest TEXT,
    previous_until BIGINT,
    permissions TEXT NOT NULL,
    playbooks TEXT NOT NULL,
    person TEXT,
    expires_at BIGINT,
    expiry_told BOOLEAN NOT NULL,
    usage_limit BIGINT,
    usage_period TEXT,
    usage_count BIGINT NOT NULL,
    usage_from BIGINT NOT NULL,
    last_used_at BIGINT,
    created_at BIGINT NOT NULL,
    created_by TEXT NOT NULL,
    revoked_at BIGINT,
    PRIMARY KEY (org, id)
);

-- A request brings a key's text and nothing else: its org is known only once its digest is found, so these two indexes
-- alone do not begin with the org.
CREATE UNIQUE INDEX api_keys_by_digest ON api_keys (digest);
CREATE UNIQUE INDEX api_keys_by_previous_digest ON api_keys (previous_digest);

CREATE INDEX api_keys_by_time ON api_keys (org, created_at, id);
CREATE INDEX api_keys_by_name ON api_keys (org, name) WHERE revoked_at IS NULL;
CREATE INDEX api_keys_of_person ON api_keys (org, person) WHERE person IS NOT NULL;
CREATE INDEX api_keys_expiring ON api_keys (expires_at) WHERE revoked_at IS NULL AND expires_at IS NOT NULL;
