"""Counts of cells: flat, in trees, by workloads."""
