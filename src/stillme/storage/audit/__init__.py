"""The tables of the audit trail in SQLite and in PostgreSQL."""
