"""Surveys under local differential privacy: answers are randomised at the source, and estimated at the collector."""

from __future__ import annotations

from dither.lazy import attach

__all__, __getattr__, __dir__, _LAZY = attach(globals())
