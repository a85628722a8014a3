-- What people sign in with, and their sessions. People are of the whole server, and so is everything here: no org.
-- Sessions and codes are kept by the SHA-256 of what their holder has.
CREATE TABLE sessions (
    digest TEXT NOT NULL PRIMARY KEY,
    person TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    last_seen_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    auth_time BIGINT NOT NULL,
    auth_methods TEXT NOT NULL,
    remembered BOOLEAN NOT NULL,
    user_agent TEXT NOT NULL,
    address TEXT NOT NULL
);

CREATE INDEX sessions_of_person ON sessions (person, created_at);
CREATE INDEX sessions_ending ON sessions (expires_at);

CREATE TABLE passwords (
    person TEXT NOT NULL PRIMARY KEY,
    phc TEXT NOT NULL,
    changed_at BIGINT NOT NULL
);

CREATE TABLE passkeys (
    id TEXT NOT NULL PRIMARY KEY,
    person TEXT NOT NULL,
    name TEXT NOT NULL,
    public_key TEXT NOT NULL,
    counter BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    last_used_at BIGINT
);

CREATE INDEX passkeys_of_person ON passkeys (person, created_at);

-- One-time codes: of the set-up, of a reset, of a change of email.
CREATE TABLE one_time_codes (
    digest TEXT NOT NULL PRIMARY KEY,
    kind TEXT NOT NULL,
    person TEXT,
    email TEXT,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    wrong_tries BIGINT NOT NULL DEFAULT 0
);

CREATE INDEX one_time_codes_of_kind ON one_time_codes (kind, person);
CREATE INDEX one_time_codes_ending ON one_time_codes (expires_at);

-- What is counted against guessing, by the SHA-256 of whom or what it is counted for.
CREATE TABLE sign_in_counters (
    subject TEXT NOT NULL PRIMARY KEY,
    count BIGINT NOT NULL,
    since BIGINT NOT NULL,
    until BIGINT NOT NULL
);

CREATE INDEX sign_in_counters_ending ON sign_in_counters (until);

-- Sign-ins under way: the challenge of a passkey, the trip to a provider. Each is used once.
CREATE TABLE sign_in_attempts (
    digest TEXT NOT NULL PRIMARY KEY,
    kind TEXT NOT NULL,
    person TEXT,
    data TEXT NOT NULL,
    expires_at BIGINT NOT NULL
);

CREATE INDEX sign_in_attempts_ending ON sign_in_attempts (expires_at);

-- A link is opened in a browser that names no org.
CREATE UNIQUE INDEX connection_links_by_digest ON connection_links (digest);
