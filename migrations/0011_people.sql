-- Whether a mail carried the code of an invitation, so that whoever has it reads that address; and who was last told that a
-- link of a connection is for somebody else to approve, so that the audit tells of each such person once.
ALTER TABLE invitations ADD COLUMN mailed BOOLEAN NOT NULL DEFAULT FALSE;
ALTER TABLE connection_links ADD COLUMN refused_to TEXT;
