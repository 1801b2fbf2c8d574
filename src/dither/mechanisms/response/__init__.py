"""Randomised responses."""
