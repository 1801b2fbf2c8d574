"""What an analyst states: a question, a price in one way, and what error bars are to hold."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Ask:
    """A question as it was put, nothing of it checked yet; see `Dataset.quote` for what each word means."""

    text: object
    epsilon: object = None
    rho: object = None
    guarantee: object = None
    error: object = None
    confidence: object = "0.95"
    size: object = None
    bounding: object = None
    delta: object = None
    other: object = None
