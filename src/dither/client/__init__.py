"""Asking a gateway over HTTP, with the standard library alone."""
