"""Finite mechanisms as stochastic matrices: how private they are, how useful, and which are the best possible."""

from __future__ import annotations

from dither.lazy import attach

__all__, __getattr__, __dir__, _LAZY = attach(globals())
