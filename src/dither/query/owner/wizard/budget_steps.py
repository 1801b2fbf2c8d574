"""Steps about the budget and the ledger that keeps it, in the words of somebody who never heard of epsilon.

Presets say what epsilon means as odds and what it buys. Odds are rounded up, questions down. A typical question is a table
of how many people there are of each kind, off by at most 50 in 19 cases of 20: Gaussian noise of sigma 25, rho = 1/1250.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from pathlib import Path

from dither.errors import PolicyError
from dither.ledger.entries.budget import Remaining, read_ceiling
from dither.ledger.storage import keyring
from dither.numeric.number import Number, rational
from dither.privacy.guarantee.definitions import approx, zcdp
from dither.query.owner.wizard.decisions import Decisions
from dither.query.owner.wizard.replies import NONE, whole_number
from dither.query.owner.wizard.step import Step, Steps

PRESETS = {"strict": "1", "medium": "2", "loose": "4"}
LARGEST = 20  # epsilon: beyond it nobody is protected, and it is a slip
MOST_PEOPLE = 10**11
TYPICAL = Fraction(1, 1250)  # rho of a table of counts of people with noise of sigma 25
PART = 4  # of the budget: what one question may cost, unless said


def budget_steps(said: Decisions) -> Steps:
    """Delta, epsilon and the most for one question."""
    delta = yield from _people()
    epsilon = yield from _budget(delta)
    said.budget = {"epsilon": epsilon, "delta": delta}
    said.per_question = {"epsilon": (yield from _per_question(epsilon)), "delta": delta}


def factor(epsilon: str) -> str:
    """By how much odds may grow: e^epsilon, rounded up."""
    upper = math.nextafter(float(Number(epsilon).ball().exp().upper()), math.inf)
    tenths = math.ceil(10 * Fraction(upper))
    return f"{tenths // 10:,}.{tenths % 10}"


@lru_cache(maxsize=64)
def questions(epsilon: str, delta: str) -> int:
    """How many typical questions a budget buys."""
    return Remaining(read_ceiling(approx(epsilon, delta)).nothing).like(zcdp(TYPICAL))


def _people() -> Steps:
    key, example = "budget.people", "10000"
    read = whole_number(key, 1, MOST_PEOPLE, f"a round number that is public, such as {example}")
    people: int = yield Step(
        key,
        "About how many people may be in the data, at most? A round number that is public: do not count them.",
        "Besides the noise there is a remainder, called delta: a chance that somebody learns more. It is set so "
        "small that it "
        "is below one in a hundred for all people together. A number that is too large is safe.",
        (example, "500000"),
        read,
        assumed=example,
    )
    return f"1e-{max(6, len(str(100 * people - 1)))}"


def _budget(delta: str) -> Steps:
    key = "budget.epsilon"

    def meaning(epsilon: str) -> str:
        return (
            f"epsilon {epsilon}: odds of 1 to 9 on anything about Ann become {factor(epsilon)} to 9 at most; "
            f"buys about {questions(epsilon, delta):,} tables of counts"
        )

    def read(reply: str) -> str:
        stated = PRESETS.get(reply.casefold(), reply)
        if rational(stated, name=key, positive=True) > LARGEST:
            why = f"above {LARGEST} odds may grow more than 480 million times: nobody would be protected"
            raise PolicyError(key, reply, why, "strict, medium, loose, or a number such as 1.5")
        approx(stated, delta)
        return stated

    return (
        yield Step(
            key,
            "How much may all answers together ever tell about one person?",
            "This is the budget of the data, for its whole life; when it is spent, no further question is "
            "answered. Somebody "
            "who bets on something about Ann, 1 to 9 say, can bet better after all answers than before, but only so much "
            f"better, whatever is asked and whatever else is known (but for delta, {delta}). A table of counts "
            f"here: how many "
            "people of each kind, each number off by at most 50 in 19 cases of 20. More budget: more questions, less noise.",
            ("strict", "1.5"),
            read,
            default="strict",
            choices=tuple((name, meaning(epsilon)) for name, epsilon in PRESETS.items()),
        )
    )


def _per_question(budget: str) -> Steps:
    key, whole = "budget.per_question", rational(budget, name="epsilon")
    default = _decimal(whole / PART)

    def read(reply: str) -> str:
        if rational(reply, name=key, positive=True) > whole:
            raise PolicyError(key, reply, f"it is more than the whole budget, which is {budget}", default)
        return reply

    return (
        yield Step(
            key,
            f"How much of the budget, epsilon {budget}, may one question cost at most?",
            "So that nobody spends all of it with one question, or by a slip.",
            (default, budget),
            read,
            default=default,
        )
    )


def ledger_steps(said: Decisions, folder: Path) -> Steps:
    """Where the ledger is, and its second place."""
    said.location = yield from _location(said, folder)
    said.witness = yield from _witness(folder)


def _location(said: Decisions, folder: Path) -> Steps:
    key, default = "ledger.location", f"{said.name}.ledger"

    def read(reply: str) -> str:
        if "://" not in reply and (folder / reply).is_dir():
            raise PolicyError(key, reply, "a folder has that name", default)
        if "://" not in reply and (folder / reply).exists():
            raise PolicyError(key, reply, "there is a file already, and a ledger is made anew, once", "a name that is free")
        return _short(key, reply, default)

    return (
        yield Step(
            key,
            "Where shall the ledger be kept, which counts what was spent?",
            "It is one file, or a PostgreSQL database. Whoever deletes it deletes the memory of what was spent, "
            "so it is made "
            "once, and missed where it is gone. Keep it where it is backed up, and where no two copies are in use.",
            (default, "postgresql://host/database"),
            read,
            default=default,
        )
    )


def _witness(folder: Path) -> Steps:
    key, home = "ledger.witness", "~/.dither/heads"
    inside = keyring.folder().resolve().is_relative_to(folder.resolve())

    def read(reply: str) -> str:
        if reply.casefold() in NONE:
            return ""
        if "://" not in reply and (folder / _expanded(key, reply, home)).resolve() == folder.resolve():
            why = "it is the folder of the policy itself: whoever puts back an old ledger there puts back both"
            raise PolicyError(key, reply, why, f"{home}, another disk or server, or none")
        return _short(key, reply, home)

    return (
        yield Step(
            key,
            "In which second place shall the last entry of the ledger be noted?",
            "If somebody puts back an old copy of the ledger, its budget looks fresh. The second place remembers the newest "
            "entry, and the old copy is refused. Best on another disk or server; with none an old copy goes unnoticed.",
            (home, "/another/disk/heads", NONE[1]),
            read,
            default=None if inside else home,
            choices=((NONE[1], "no second place"),),
            assumed=NONE[1],
        )
    )


def _expanded(key: str, reply: str, example: str) -> Path:
    try:
        return Path(reply).expanduser()
    except RuntimeError as error:
        raise PolicyError(key, reply, "there is no such user, or she has no folder", example) from error


def _short(key: str, reply: str, example: str) -> str:
    if len(reply) > 1000:
        raise PolicyError(key, reply, "it has more than 1000 characters", example)
    return reply


def _decimal(value: Fraction) -> str:
    """As a decimal where it ends soon, and as a fraction elsewhere: exact."""
    return f"{float(value):g}" if Fraction(f"{float(value):g}") == value else str(value)
