"""Commands on the audit trail."""
