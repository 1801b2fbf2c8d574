"""Noise that is added to numbers."""
