"""Watching for something above a threshold."""
