"""Choices among candidates."""
