"""A home of its own for every test, and both kinds of database."""

from __future__ import annotations

from tests.ledger.conftest import home, location, server

__all__ = ["home", "location", "server"]
