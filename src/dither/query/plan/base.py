"""What every expression about a row is: a node with a stable code, and facts that follow from the policy alone."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

from dither.query.plan.facts import Facts


class Expression(ABC):
    """A value for each row of one person: a frozen node of a small closed set (`sql/expressions.py`,
    `plan/functions.py`)."""

    code: ClassVar[str]  # how stored questions spell it

    @property
    @abstractmethod
    def facts(self) -> Facts:
        """Its type, its bounds where it is a number, and whether it may be missing."""
