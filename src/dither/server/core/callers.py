"""Callers: who asks, with which role, about which datasets. The name is the analyst's in every ledger."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from dither.server.core.problems import Problem, absent
from dither.server.core.roles import Role
from dither.server.core.tokens import Token

Action = Literal["look", "ask", "history", "own"]
ROLES: dict[str, frozenset[Role]] = {
    "look": frozenset({"owner", "analyst", "auditor"}),  # declared facts, quotes, budgets
    "ask": frozenset({"owner", "analyst"}),
    "history": frozenset({"owner", "auditor"}),
    "own": frozenset({"owner"}),  # tokens, shares, policies
}
ALL = "*"


@dataclass(frozen=True)
class Caller:
    """Somebody with a valid token."""

    name: str
    role: Role
    datasets: tuple[str, ...]
    token_id: str
    daily: str | None = None  # the most of a day, as JSON of a guarantee

    @classmethod
    def of(cls, token: Token) -> Caller:
        """The caller whom a token stands for."""
        return cls(token.name, token.role, token.datasets, token.id, token.daily)

    def sees(self, dataset: str) -> bool:
        """Whether the dataset exists for this caller."""
        return ALL in self.datasets or dataset in self.datasets

    def must(self, action: Action, dataset: str | None = None) -> None:
        """Refuse what the role does not allow; a dataset that is not the caller's is absent, whatever the role."""
        if dataset is not None and not self.sees(dataset):
            raise absent()
        if self.role not in ROLES[action]:
            roles = " or ".join(sorted(ROLES[action]))
            raise Problem("forbidden", why=f"the role of this token is {self.role}", instead=f"a token of role {roles}")
