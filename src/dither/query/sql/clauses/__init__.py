"""Clauses about the answer, which is released by then."""
