"""Learning: estimators with scikit-learn's interface, on exact integer statistics with exact noise."""

from __future__ import annotations

from dither.lazy import attach

__all__, __getattr__, __dir__, _LAZY = attach(globals())
