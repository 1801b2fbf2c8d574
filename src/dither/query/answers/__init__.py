"""Answers: plain values, and how they are shown."""
