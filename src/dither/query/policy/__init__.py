"""What the owner states: tables, columns, limits, keys."""
