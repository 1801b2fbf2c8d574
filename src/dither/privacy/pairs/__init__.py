"""Dominating pairs: for each kind of mechanism the two distributions that are hardest to tell apart."""
