"""Guarantees: promises in their currencies, what they convert to and what they add up to."""
