-- Calls of tools made by hand: those in hand, so that one a dead server left can be closed, and the answers kept under a
-- caller's idempotency key. Their history is in the ledger.
CREATE TABLE tool_calls (
    org TEXT NOT NULL,
    call_id TEXT NOT NULL,
    playbook TEXT NOT NULL,
    server TEXT NOT NULL,
    tool TEXT NOT NULL,
    actor TEXT NOT NULL,
    caller TEXT NOT NULL,
    read_only BOOLEAN NOT NULL,
    started_event TEXT NOT NULL,
    started_at BIGINT NOT NULL,
    lease_until BIGINT NOT NULL,
    ended_at BIGINT,
    key_digest TEXT,
    request_digest TEXT,
    answer TEXT,
    PRIMARY KEY (org, call_id)
);

CREATE UNIQUE INDEX tool_calls_by_key ON tool_calls (org, playbook, caller, key_digest) WHERE key_digest IS NOT NULL;
CREATE INDEX tool_calls_in_hand ON tool_calls (lease_until) WHERE ended_at IS NULL;
CREATE INDEX tool_calls_ended ON tool_calls (started_at) WHERE ended_at IS NOT NULL;
