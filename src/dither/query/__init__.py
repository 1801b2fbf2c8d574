"""SQL in, private answers out."""
