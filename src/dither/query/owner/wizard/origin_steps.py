"""Steps about the origin of a value: from where its owner knows it, and consent where that is the data itself."""

from __future__ import annotations

from dither.errors import PolicyError
from dither.query.owner.wizard.decisions import Decisions
from dither.query.owner.wizard.step import Step, Steps
from dither.query.policy.origin import ACCEPTED, CONSENT, DATA, ORIGINS, RELEASE, read_origin

OTHER = "other"
CHOICES = (
    ("law", "a law, a tariff, a contract or a plan says so"),
    ("unit", "its unit does: a share is from 0 to 100 percent, an hour from 0 to 23"),
    ("questionnaire", "whoever filled in the form could choose nothing else"),
    (f"{RELEASE} ...", "a differentially private answer, with its receipt"),
    (OTHER, "your own judgement, without a look at these rows; nothing is written"),
    (DATA, "you saw it in these rows: it is outside the guarantee, and must be accepted"),
)


def origin_steps(said: Decisions, place: str, what: str) -> Steps:
    """The fact `known_from`, or nothing; asks for consent where the answer is the data."""
    key = f"{place}.known_from"

    def read(reply: str) -> dict[str, str]:
        if reply.casefold() == OTHER:
            return {}
        words = reply if reply.casefold().startswith(RELEASE) else reply.casefold()
        if words not in ORIGINS and not words.startswith(RELEASE):
            raise PolicyError(
                key, reply, "it is none of the words that are known here", ", ".join(word for word, _ in CHOICES)
            )
        told = read_origin(words, ("values",), "", key)
        if told is not None and "..." in told:
            raise PolicyError(key, reply, "it does not say which release", f"{RELEASE} 3 of the ledger clinic")
        return {} if told is None else {"known_from": told}

    found: dict[str, str] = yield Step(
        key,
        f"From where do you know {what}?",
        "A policy is public. What a law or a form says tells nothing of anybody. The largest value of a file is somebody's "
        "value, and the list of its words may name one person: no noise hides what a policy says.",
        ("law", f"{RELEASE} 3 of the ledger clinic"),
        read,
        choices=CHOICES,
        assumed=OTHER,
    )
    if found.get("known_from") == DATA and not said.values_from_data:
        yield _consent()
        said.values_from_data = True
    return found


def _consent() -> Step:
    def read(reply: str) -> bool:
        if reply.casefold() != ACCEPTED:
            instead = f"going back, and a value that is known from elsewhere; or the word {ACCEPTED}"
            raise PolicyError(
                CONSENT, reply, "values from the data need the whole word, so that nobody consents by a slip", instead
            )
        return True

    return Step(
        CONSENT,
        f"Values from the data stand outside the guarantee, and every quote, receipt and report will say so. If "
        f"you take them "
        f"all the same, write: {ACCEPTED}",
        "What was seen is about people in the data, and whoever reads the policy learns it without noise. The private way: "
        "auto for bounds and limits, or no keys; each question then finds them at a part of its price.",
        (ACCEPTED,),
        read,
        assumed=ACCEPTED,
    )
