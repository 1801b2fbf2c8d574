"""Refusals of questions: each with a question that is answered."""
