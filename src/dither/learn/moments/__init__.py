"""Means and second moments of rows, and what is read off them: scales and principal components."""
