"""Clusters: k-means on a released grid."""
