"""Nodes as SQL: what runs on private rows, from a closed set."""
