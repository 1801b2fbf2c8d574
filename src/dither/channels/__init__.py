"""Finite mechanisms as stochastic matrices: how private they are, how useful, and which are the best possible."""

from __future__ import annotations

from importlib import import_module

__all__ = ["graph", "kernels", "leakage", "oblivious", "universal"]


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module 'dither.channels' has no attribute '{name}'")
    return import_module(f"dither.channels.{name}")


def __dir__() -> list[str]:
    return sorted(__all__)
