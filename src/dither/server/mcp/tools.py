"""The tools of the gateway for models: list_datasets, quote, ask, budget; and a prompt that says how to spend."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dither.server.core.problems import Problem
from dither.server.mcp.answer_facts import NOTE, plain
from dither.server.mcp.arguments import check_names, read_asked, read_name, refused
from dither.server.mcp.door import Door, Json

NUMBER = {"anyOf": [{"type": "number"}, {"type": "string", "maxLength": 200}]}
TEXT = {"type": "string", "maxLength": 200}
SQL = {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": 100}]}
TERMS: Json = {
    "epsilon": NUMBER | {"description": "The price. State exactly one of epsilon, rho and error."},
    "rho": NUMBER | {"description": "The price in zero-concentrated differential privacy."},
    "error": {
        "type": "object",
        "additionalProperties": NUMBER,
        "description": 'How far each aggregate may be off, by its name, such as {"n": 50}; the least price is taken.',
    },
    "confidence": NUMBER | {"description": "The probability of each error bar; 0.95 if left out."},
    "size": {
        "type": "integer",
        "minimum": 1,
        "description": "A public guess of the rows of a group, for errors of averages.",
    },
    "spread": {
        "type": "object",
        "additionalProperties": NUMBER,
        "description": (
            'Public guesses of standard deviations by column, such as {"cost": 300}, for errors of STDDEV and CORR.'
        ),
    },
    "delta": NUMBER,
    "other": TEXT,
    "noise": {"enum": ["gaussian", "geometric"]},
    "limits": {"enum": ["auto", "hard"]},
    "bounds": {"enum": ["auto"]},
}
DATASET = TEXT | {"description": "Its name, from list_datasets; may be left out where there is one."}
DESCRIPTIONS = {
    "list_datasets": "The datasets that you may ask about: tables and columns with types, bounds and keys. Free.",
    "quote": (
        "What a question would cost, how far its answer may be off, and how many such questions are left. Free; no data is"
        " read. A list of questions is priced and asked as one. Gives the id that ask needs, which holds for ten minutes."
    ),
    "ask": (
        "Ask what was quoted, by its id. It costs what the quote says, once, and nothing is given back. The numbers have"
        f" noise; x_low to x_high is the interval of x. {NOTE}"
    ),
    "budget": "What is left of each budget and of your share of it. Free.",
}
SCHEMAS: dict[str, Json] = {
    "list_datasets": {},
    "quote": {"dataset": DATASET, "sql": SQL | {"description": "A SELECT of statistics, or a list of them."}, **TERMS},
    "ask": {"quote": TEXT | {"description": "The id that quote gave."}},
    "budget": {},
}
NEEDED = {"quote": ["sql"], "ask": ["quote"]}
READS_ONLY = ("list_datasets", "quote", "budget")
PROMPT = "how_to_spend"
PROMPT_DESCRIPTION = "How to spend a privacy budget well."
HOW_TO_SPEND = f"""\
You ask questions about private data. Each answer has noise, and costs a part of a privacy budget that never comes back.

1. list_datasets tells tables, columns, bounds and keys; budget tells what is left. Both are free.
2. Quote before you ask; quotes are free, so try several. State the error that you need, error={{"n": 50}}, rather than a
   price: the least price is taken. Look at `errors`, `price` and `left`; where `left` is small, say so before you ask.
   Errors of averages need size, a guess of the rows of a group; those of STDDEV, VARIANCE, COVAR, CORR and REGR_SLOPE need
   size and spread, a guess of the standard deviation of each column. Say what you guessed.
3. Coarse first: totals, then a few groups, then fine groups only where the totals say that it is worth it. Many small
   groups have large noise.
4. Ask questions that belong together as one list: they share their price.
5. The same question again is free; the same question at another price is paid again. Reuse answers that you have: sums,
   shares and differences of released numbers cost nothing.
6. A refusal says why, and `instead` names ways in words: they may be other questions, so say which number you report.
   In `<low>` and other gaps stand values that you and the analyst choose. Refusals cost nothing.
7. Report numbers with their intervals, x_low to x_high, and the probability with which they hold.
8. {NOTE}
"""


def schema(name: str) -> Json:
    """What a tool takes."""
    told = {"type": "object", "properties": SCHEMAS[name], "additionalProperties": False}
    return told | ({"required": NEEDED[name]} if name in NEEDED else {})


async def call(door: Door, name: str, given: Mapping[str, Any]) -> Json:
    """What a tool gives; a refusal is data as well."""
    try:
        return await _called(door, name, given)
    except Problem as problem:
        return {"refused": problem_facts(problem)}
    except Exception:  # its text may be anything
        why = "something went wrong, and it is not known whether it was charged"
        return {"refused": problem_facts(Problem("failed", why=why, instead="budget tells what is left"))}


async def _called(door: Door, name: str, given: Mapping[str, Any]) -> Json:
    if name == "quote":
        only = None
        if given.get("dataset") is None:
            names = await door.names()
            only = names[0] if len(names) == 1 else None
        return await door.quote(read_asked({key: part for key, part in given.items() if part is not None}, only))
    if name == "ask":
        check_names(given, ("quote",))
        return await door.ask(read_name(given, "quote", None))
    check_names(given, ())
    if name == "list_datasets":
        return {"datasets": await door.datasets()}
    if name == "budget":
        return {"budgets": await door.budget()}
    raise refused("tool", "there is none of that name", ", ".join(DESCRIPTIONS))


def problem_facts(problem: Problem) -> Json:
    """A refusal, as a model reads it: what, where, why, and what would work instead."""
    told = {"kind": problem.kind, "why": problem.why or problem.title.lower()}
    told |= {"instead": problem.instead or "list_datasets tells what there is"}
    for name in ("where", "came", "receipt"):
        found = getattr(problem, name)
        if found:
            told[name] = found
    return {name: "\n".join(plain(line) for line in str(text).splitlines()) for name, text in told.items()}
