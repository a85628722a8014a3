-- Sessions that began at a provider of identities: which one it was, and the one org they are for where the issuer's claims
-- make the membership. Invitations are looked up by their address when somebody new comes from a provider.
ALTER TABLE sessions ADD COLUMN upstream TEXT;
ALTER TABLE sessions ADD COLUMN org TEXT;

CREATE INDEX invitations_open_to ON invitations (email, created_at) WHERE status = 'open';
