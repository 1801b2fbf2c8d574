"""Mechanisms: each in one file, with its promise, its error and its release."""
