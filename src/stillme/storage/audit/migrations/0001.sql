-- Texts and whole numbers only, so that SQLite and PostgreSQL share one schema. A record whose content retention
-- removed keeps its place and its hashes; everything else in its row is NULL.
CREATE TABLE stillme_audit_record (
  seq BIGINT_KEY,
  digest TEXT NOT NULL,
  hash TEXT NOT NULL,
  seal TEXT,
  kind TEXT,
  id TEXT UNIQUE,
  at TEXT,
  meta TEXT,
  ref TEXT,
  label TEXT,
  decision TEXT,
  action TEXT,
  mode TEXT,
  band TEXT,
  verified BIGINT,
  language TEXT,
  domain TEXT,
  session TEXT,
  caller TEXT,
  request_id TEXT,
  reasons TEXT,
  policy TEXT,
  model TEXT,
  version TEXT,
  body_digest TEXT
);
CREATE INDEX stillme_audit_record_at ON stillme_audit_record (at);
CREATE INDEX stillme_audit_record_ref ON stillme_audit_record (ref) WHERE ref IS NOT NULL;
CREATE INDEX stillme_audit_record_session ON stillme_audit_record (session) WHERE session IS NOT NULL;
CREATE INDEX stillme_audit_record_request ON stillme_audit_record (request_id) WHERE request_id IS NOT NULL;
-- The texts, apart: they can be erased, and a search over decisions need not read them.
CREATE TABLE stillme_audit_body (
  seq BIGINT_KEY,
  salt TEXT NOT NULL,
  text TEXT NOT NULL
);
-- Every policy once, under the SHA-256 of its text.
CREATE TABLE stillme_audit_policy (
  digest TEXT PRIMARY KEY,
  text TEXT NOT NULL
)
