"""Spark: its words, the read of a table there, the settings of a session, and what runs SELECTs."""
