-- Trips of people to a provider and back. A state is 256 random bits, of which only the digest is kept.
CREATE TABLE connection_attempts (
    org TEXT NOT NULL,
    digest TEXT NOT NULL,
    link TEXT NOT NULL,
    connection TEXT NOT NULL,
    person TEXT NOT NULL,
    browser TEXT NOT NULL,
    issuer TEXT,
    client TEXT NOT NULL,
    token_url TEXT NOT NULL,
    redirect TEXT NOT NULL,
    requested TEXT NOT NULL,
    found TEXT,
    started_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    taken_at BIGINT,
    ended_at BIGINT,
    missing TEXT,
    PRIMARY KEY (org, digest)
);

CREATE INDEX connection_attempts_by_link ON connection_attempts (org, link, started_at);
CREATE INDEX connection_attempts_by_connection ON connection_attempts (org, connection);
-- Who comes back names no org; a state is nobody else's.
CREATE INDEX connection_attempts_by_state ON connection_attempts (digest);
CREATE INDEX connection_attempts_by_end ON connection_attempts (expires_at);
