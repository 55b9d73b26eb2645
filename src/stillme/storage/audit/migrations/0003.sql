-- The few records that say how the policy came to be what it is, among very many others.
CREATE INDEX stillme_audit_record_history ON stillme_audit_record (kind, seq) WHERE kind IN ('promotion', 'policy');
-- The labels of each verdict stand among its reason codes, as no code can be written: with a space.
INSERT INTO stillme_audit_reason (code, at, seq)
  SELECT DISTINCT 'label ' || v.label, r.at, r.seq FROM stillme_audit_record v JOIN stillme_audit_record r ON r.id = v.ref
  WHERE v.kind = 'review' AND v.label IS NOT NULL AND r.kind = 'verdict';
-- Of every so many records in a row: from when to when they are, and which words cannot be in them. No word can be read from it.
CREATE TABLE stillme_audit_signature (
  block BIGINT_KEY,
  since TEXT NOT NULL,
  until TEXT NOT NULL,
  bits TEXT NOT NULL
)
