"""Addresses of the page."""
