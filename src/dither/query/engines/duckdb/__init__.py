"""DuckDB: how it gets at rows, and the locked run of a SELECT."""
