-- What a consent got, beside the connection; and secrets of minutes, sealed, beside the rows they belong to.
ALTER TABLE connections ADD COLUMN scopes TEXT;
ALTER TABLE connections ADD COLUMN expires_at BIGINT;
ALTER TABLE connections ADD COLUMN account_digest TEXT;

-- Whether another connection of this server stands on the same grant is asked across orgs.
CREATE INDEX connections_by_account ON connections (account_digest) WHERE account_digest IS NOT NULL;

CREATE TABLE sealed_records (
    org TEXT NOT NULL,
    record TEXT NOT NULL,
    version BIGINT NOT NULL,
    field TEXT NOT NULL,
    key_id TEXT NOT NULL,
    sealed TEXT NOT NULL,
    PRIMARY KEY (org, record, version, field)
);
