"""Random integers with an exact law, from cryptographic bits. Nothing here knows about privacy."""

from __future__ import annotations

from dither.lazy import attach

__all__, __getattr__, __dir__, _LAZY = attach(globals())
