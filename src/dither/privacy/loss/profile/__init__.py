"""Profiles of losses: how delta follows from epsilon, certified."""
