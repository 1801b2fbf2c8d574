"""PostgreSQL: its words, how it reads a table, and what runs SELECTs on it."""
