"""Questions about public tables alone."""
