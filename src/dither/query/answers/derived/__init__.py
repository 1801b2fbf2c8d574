"""Columns of an answer that are computed from released numbers: values, intervals, statements, words."""
