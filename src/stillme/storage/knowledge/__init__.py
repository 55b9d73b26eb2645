"""Documents and vectors in SQLite and in PostgreSQL."""
