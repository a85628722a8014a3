-- Invitations to an org; and what the audit tells of an event beside its fact: who made it, as a column of its own to be
-- read by, what the thing was called, and how the request came.
CREATE TABLE invitations (
    org TEXT NOT NULL,
    id TEXT NOT NULL,
    digest TEXT NOT NULL,
    email TEXT NOT NULL,
    role TEXT NOT NULL,
    playbooks TEXT NOT NULL,
    status TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    created_by TEXT NOT NULL,
    expires_at BIGINT NOT NULL,
    accepted_by TEXT,
    PRIMARY KEY (org, id)
);

-- A code is looked up before its org is known.
CREATE UNIQUE INDEX invitations_by_digest ON invitations (digest);
CREATE UNIQUE INDEX invitations_open ON invitations (org, email) WHERE status = 'open';
CREATE INDEX invitations_newest ON invitations (org, created_at, id);

ALTER TABLE events ADD COLUMN actor_id TEXT;
ALTER TABLE events ADD COLUMN target_name TEXT;
ALTER TABLE events ADD COLUMN origin TEXT;

CREATE INDEX events_audit ON events (org, position) WHERE book <> 'history';
CREATE INDEX events_audit_by_age ON events (at, org) WHERE book = 'audit';
