-- The few records that say how the policy came to be what it is, among very many others.
CREATE INDEX stillme_audit_record_history ON stillme_audit_record (kind, seq) WHERE kind IN ('promotion', 'policy')
