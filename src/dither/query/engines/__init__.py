"""Engines that compute integer totals from private rows: words of each, one template a node for all, a folder a run."""
