-- The org's registry of playbooks, a projection of the book 'registry'.
CREATE TABLE playbooks (
    org TEXT NOT NULL,
    id TEXT NOT NULL,
    name TEXT NOT NULL,
    description TEXT NOT NULL,
    status TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    created_by TEXT NOT NULL,
    updated_at BIGINT NOT NULL,
    retired_at BIGINT,
    PRIMARY KEY (org, id)
);
