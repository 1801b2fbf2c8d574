"""Randomized response: answers that are randomised at their source."""
