"""Exact numbers: parameters without floats, bounds that are rounded against us, lattices for values."""
