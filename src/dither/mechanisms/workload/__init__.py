"""Many linear queries together: the matrix mechanism."""
