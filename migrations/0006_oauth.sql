-- The built-in authorization server. Of every code, token and secret there is the SHA-256 digest alone; private signing
-- keys are sealed in secrets. Clients, requests and signing keys are the server's, the rest is an org's.
CREATE TABLE oauth_clients (
    id TEXT NOT NULL PRIMARY KEY,
    name TEXT NOT NULL,
    origin TEXT NOT NULL,
    redirect_uris TEXT NOT NULL,
    method TEXT NOT NULL,
    secret_sha256 TEXT,
    keys TEXT,
    refreshes BOOLEAN NOT NULL,
    created_at BIGINT NOT NULL,
    last_used_at BIGINT
);

CREATE INDEX oauth_clients_never_used ON oauth_clients (created_at, id)
    WHERE origin = 'registered' AND last_used_at IS NULL;
CREATE INDEX oauth_clients_by_use ON oauth_clients (last_used_at, id) WHERE origin = 'registered';

CREATE TABLE oauth_assertions (
    client TEXT NOT NULL,
    digest TEXT NOT NULL,
    expires_at BIGINT NOT NULL,
    PRIMARY KEY (client, digest)
);

CREATE INDEX oauth_assertions_by_end ON oauth_assertions (expires_at);

CREATE TABLE oauth_requests (
    digest TEXT NOT NULL PRIMARY KEY,
    asked TEXT NOT NULL,
    expires_at BIGINT NOT NULL
);

CREATE INDEX oauth_requests_by_end ON oauth_requests (expires_at);

CREATE TABLE oauth_signing_keys (
    kid TEXT NOT NULL PRIMARY KEY,
    public_key TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    signs_from BIGINT NOT NULL,
    revoked_at BIGINT
);

CREATE TABLE oauth_codes (
    org TEXT NOT NULL,
    digest TEXT NOT NULL,
    client TEXT NOT NULL,
    redirect_uri TEXT NOT NULL,
    challenge TEXT NOT NULL,
    resources TEXT NOT NULL,
    scopes TEXT NOT NULL,
    person TEXT NOT NULL,
    auth_time BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    used_at BIGINT,
    grant_id TEXT,
    PRIMARY KEY (org, digest)
);

CREATE UNIQUE INDEX oauth_codes_by_digest ON oauth_codes (digest);
CREATE INDEX oauth_codes_by_end ON oauth_codes (expires_at);

CREATE TABLE oauth_consents (
    org TEXT NOT NULL,
    person TEXT NOT NULL,
    client TEXT NOT NULL,
    redirect_uri TEXT NOT NULL,
    resources TEXT NOT NULL,
    scopes TEXT NOT NULL,
    given_at BIGINT NOT NULL,
    PRIMARY KEY (org, person, client, redirect_uri, resources)
);

CREATE INDEX oauth_consents_by_age ON oauth_consents (given_at);

CREATE TABLE oauth_grants (
    org TEXT NOT NULL,
    id TEXT NOT NULL,
    person TEXT NOT NULL,
    client TEXT NOT NULL,
    client_name TEXT NOT NULL,
    returns_to TEXT NOT NULL,
    resources TEXT NOT NULL,
    scopes TEXT NOT NULL,
    auth_time BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    last_used_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    revoked_at BIGINT,
    PRIMARY KEY (org, id)
);

CREATE INDEX oauth_grants_of_person ON oauth_grants (person, org);
CREATE INDEX oauth_grants_of_client ON oauth_grants (client);
CREATE INDEX oauth_grants_by_end ON oauth_grants (expires_at);

CREATE TABLE oauth_families (
    org TEXT NOT NULL,
    grant_id TEXT NOT NULL,
    generation BIGINT NOT NULL,
    PRIMARY KEY (org, grant_id)
);

CREATE TABLE oauth_refresh_tokens (
    org TEXT NOT NULL,
    grant_id TEXT NOT NULL,
    generation BIGINT NOT NULL,
    digest TEXT NOT NULL,
    issued_at BIGINT NOT NULL,
    first_used_at BIGINT,
    successor TEXT,
    successor_until BIGINT,
    PRIMARY KEY (org, grant_id, generation)
);

CREATE UNIQUE INDEX oauth_refresh_tokens_by_digest ON oauth_refresh_tokens (digest);
CREATE INDEX oauth_refresh_tokens_copies ON oauth_refresh_tokens (successor_until) WHERE successor IS NOT NULL;

CREATE TABLE oauth_revocations (
    org TEXT NOT NULL,
    id TEXT NOT NULL,
    until BIGINT NOT NULL,
    PRIMARY KEY (org, id)
);

CREATE INDEX oauth_revocations_by_end ON oauth_revocations (until);
