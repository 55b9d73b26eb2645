-- What lists are answered from: each filter with the time beside it, so that the next page is a look-up and no scan.
CREATE INDEX stillme_audit_verdict_at ON stillme_audit_record (at, seq) WHERE kind = 'verdict';
CREATE INDEX stillme_audit_verdict_decision ON stillme_audit_record (decision, at, seq) WHERE kind = 'verdict';
CREATE INDEX stillme_audit_verdict_mode ON stillme_audit_record (mode, at, seq) WHERE kind = 'verdict';
CREATE INDEX stillme_audit_verdict_language ON stillme_audit_record (language, at, seq) WHERE kind = 'verdict';
CREATE INDEX stillme_audit_verdict_band ON stillme_audit_record (band, at, seq) WHERE kind = 'verdict';
CREATE INDEX stillme_audit_verdict_caller ON stillme_audit_record (caller, at, seq) WHERE kind = 'verdict';
CREATE INDEX stillme_audit_review_label ON stillme_audit_record (label, ref) WHERE kind = 'review';
-- The reason codes of each verdict, one a row. It is made from the records and is no part of the chain.
CREATE TABLE stillme_audit_reason (
  code TEXT NOT NULL,
  at TEXT NOT NULL,
  seq BIGINT NOT NULL
);
CREATE INDEX stillme_audit_reason_code ON stillme_audit_reason (code, at, seq);
CREATE INDEX stillme_audit_reason_seq ON stillme_audit_reason (seq);
-- Who looks at which verdict now, so that no two people review the same one unasked.
CREATE TABLE stillme_audit_assignment (
  trace TEXT NOT NULL,
  reviewer TEXT NOT NULL,
  until TEXT NOT NULL
);
CREATE INDEX stillme_audit_assignment_trace ON stillme_audit_assignment (trace)
