"""For tests: noise that can be repeated, and a check that anyone can run on a mechanism. Never for a release."""

from __future__ import annotations

from dither.testing.conformance import Report, check_mechanism, mechanism_checks
from dither.testing.engine_conformance import check_engine, engine_checks
from dither.testing.enumerate import Outcomes, outcomes
from dither.testing.seeds import seeded

__all__ = [
    "Outcomes",
    "Report",
    "check_engine",
    "check_mechanism",
    "engine_checks",
    "mechanism_checks",
    "outcomes",
    "seeded",
]
