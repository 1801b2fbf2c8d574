"""Analysts' questions in files of SQL, the small tables that they are about, and the record of what becomes of each."""
