-- Clients that issuers registered for an org, one for each issuer and return address; the secret is in the secrets store.
-- Without a client the row still counts the registrations of its hour.
CREATE TABLE connection_clients (
    org TEXT NOT NULL,
    issuer TEXT NOT NULL,
    redirect TEXT NOT NULL,
    client TEXT,
    method TEXT,
    expires_at BIGINT,
    hour_from BIGINT NOT NULL,
    in_hour BIGINT NOT NULL,
    PRIMARY KEY (org, issuer, redirect)
);
