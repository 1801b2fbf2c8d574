"""Engines that compute integer totals from private rows; one file each, one template a node."""
