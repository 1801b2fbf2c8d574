"""Dominating pairs, one file a pair."""
