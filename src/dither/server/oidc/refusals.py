"""Refusals of logins: one text for every login that did not succeed, one for a provider that does not answer.

Why a login failed is not told: who tries tokens would learn which part is right.
"""

from __future__ import annotations

from dataclasses import dataclass

from dither.server.core.problems import Problem

RETRY = 5  # seconds


@dataclass(eq=False)
class LoginProblem(Problem):
    """A problem of a login, and not of a question."""

    @property
    def title(self) -> str:
        """In words."""
        return "Nobody can log in now" if self.status == 503 else "The login did not succeed"


class ProviderError(Exception):
    """The provider did not answer as it should; what it said stays where it was heard."""


class CodeRefusedError(ProviderError):
    """The provider answered, and refused what it was sent."""


class NobodyError(Exception):
    """What came does not say who somebody is, or says somebody whom the owner gave no role."""


def login_failed() -> Problem:
    """Of every login that did not succeed: the same bytes."""
    instead = "/v1/login once more; or asking the owner whether a group of yours has a role here"
    return LoginProblem("unauthorized", why="the provider vouched for nobody who has a role here", instead=instead)


def provider_down() -> Problem:
    """The provider cannot be asked; tokens of the gateway go on."""
    instead = "logging in later; tokens of the gateway work as before"
    return LoginProblem("unavailable", why="the provider of logins does not answer", instead=instead, retry_after=RETRY)


def too_many_logins(seconds: int) -> Problem:
    """One person, or one address, came too often."""
    why = "there were too many logins"
    return LoginProblem("too-many", why=why, instead=f"logging in again in {seconds} s", retry_after=seconds)
