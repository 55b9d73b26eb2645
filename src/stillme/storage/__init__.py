"""SQLite and PostgreSQL: the tables of the audit trail and of the knowledge."""
