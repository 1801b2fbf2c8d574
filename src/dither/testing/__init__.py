"""For tests: noise that can be repeated, and checks of mechanisms and engines that anyone can run. Never for a release."""

from __future__ import annotations

from dither.lazy import attach

__all__, __getattr__, __dir__, _LAZY = attach(globals())
