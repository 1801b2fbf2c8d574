"""Joins beyond the inner ones: outer joins, semi-joins in FROM and in conditions, and who owns a pair of rows."""
