"""Where a ledger is kept: SQLite, PostgreSQL, keys."""
