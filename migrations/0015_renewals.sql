-- Renewing the tokens of connections: who does it, how it went, when it is due (one row a connection that has tokens);
-- and the grants that are to be ended at their providers.
CREATE TABLE connection_renewals (
    org TEXT NOT NULL,
    connection TEXT NOT NULL,
    state TEXT NOT NULL,
    state_before TEXT NOT NULL,
    cause TEXT,
    owner TEXT,
    epoch BIGINT NOT NULL,
    deadline BIGINT,
    failures BIGINT NOT NULL,
    first_failure_at BIGINT,
    next_attempt_at BIGINT,
    last_code TEXT,
    intent_version BIGINT,
    intent_at BIGINT,
    due_at BIGINT,
    lapses_at BIGINT,
    used_at BIGINT NOT NULL,
    client_digest TEXT,
    forced_version BIGINT,
    forced_at BIGINT,
    refused BIGINT NOT NULL,
    refused_since BIGINT,
    PRIMARY KEY (org, connection)
);

CREATE INDEX connection_renewals_due ON connection_renewals (due_at) WHERE due_at IS NOT NULL;

CREATE TABLE connection_revocations (
    org TEXT NOT NULL,
    id TEXT NOT NULL,
    connection TEXT NOT NULL,
    host TEXT NOT NULL,
    tries BIGINT NOT NULL,
    next_attempt_at BIGINT NOT NULL,
    gives_up_at BIGINT NOT NULL,
    PRIMARY KEY (org, id)
);

CREATE INDEX connection_revocations_due ON connection_revocations (next_attempt_at);
