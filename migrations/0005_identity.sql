-- Orgs and the people who belong to them. A person has one account for the whole server and belongs to any number of
-- orgs; what proves who they are is a pair of issuer and subject.
CREATE TABLE orgs (
    id TEXT NOT NULL PRIMARY KEY,
    name TEXT NOT NULL,
    status TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    created_by TEXT NOT NULL,
    deletes_at BIGINT
);

CREATE INDEX orgs_deleting ON orgs (deletes_at) WHERE status = 'deleting';

CREATE TABLE people (
    id TEXT NOT NULL PRIMARY KEY,
    name TEXT NOT NULL,
    email TEXT,
    email_verified_at BIGINT,
    status TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    refreshed_at BIGINT NOT NULL
);

CREATE UNIQUE INDEX people_by_email ON people (email) WHERE email IS NOT NULL;

CREATE TABLE identities (
    issuer TEXT NOT NULL,
    subject TEXT NOT NULL,
    person TEXT NOT NULL,
    linked_at BIGINT NOT NULL,
    PRIMARY KEY (issuer, subject)
);

CREATE INDEX identities_of_person ON identities (person);

CREATE TABLE memberships (
    org TEXT NOT NULL,
    person TEXT NOT NULL,
    role TEXT NOT NULL,
    playbooks TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    created_by TEXT NOT NULL,
    last_seen_at BIGINT,
    PRIMARY KEY (org, person)
);

CREATE INDEX memberships_of_person ON memberships (person, org);
CREATE INDEX memberships_owners ON memberships (org) WHERE role = 'owner';
