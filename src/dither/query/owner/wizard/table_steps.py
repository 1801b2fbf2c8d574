"""Steps about a table: whose its rows are, and how many of one person count."""

from __future__ import annotations

from dither.errors import PolicyError
from dither.query.owner.wizard.decisions import Decisions, TableDecisions
from dither.query.owner.wizard.origin_steps import origin_steps
from dither.query.owner.wizard.policy_text import path_key
from dither.query.owner.wizard.replies import one_of, whole_number, yes_or_no
from dither.query.owner.wizard.step import Step, Steps
from dither.query.policy.column import AUTO, Type
from dither.query.policy.owner import VAGUE
from dither.query.policy.table import EACH_ROW, MOST

NOBODY = "nobody"


def keep_table(name: str) -> Steps:
    """Whether questions need a table at all."""
    key = f"{path_key(name)}.keep"
    return (
        yield Step(
            key,
            f"Shall people be able to ask about the table {name}?",
            "What a policy does not have cannot be asked about. You can add it later.",
            ("yes", "no"),
            yes_or_no(key),
            default="yes",
        )
    )


def whose_step(
    table: str, columns: dict[str, Type], owners: dict[str, dict[str, object]], *, proposed: str | None, alone: bool
) -> Steps:
    """Whose the rows are: facts of a policy. `alone`: it is the only table, so it must be about people."""
    key = f"{path_key(table)}.person"
    values: dict[str, dict[str, object]] = {name: {"person": name} for name, kind in columns.items() if kind not in VAGUE}
    shown = dict.fromkeys(values, "")
    values |= {EACH_ROW: {"person": EACH_ROW}}
    shown |= {EACH_ROW: "nobody has two rows"}
    for parent, facts in owners.items():
        values[f"through {parent}"] = {"owner": facts}
        shown[f"through {parent}"] = f"whoever owns the row of {parent} with the same key"
    if not alone:
        values[NOBODY] = {"public": True}
        shown[NOBODY] = "it says nothing of anybody, and is public"
    read_word = one_of(key, values, "the name of a column, or each row")

    def read(reply: str) -> dict[str, object]:
        if reply in values:  # a column may be called as another one in capitals
            return values[reply]
        if reply in columns:
            why = f"a {columns[reply].value} does not tell people apart reliably"
            raise PolicyError(key, reply, why, "a column of whole numbers, text or dates")
        found: dict[str, object] = read_word(reply)
        return found

    return (
        yield Step(
            key,
            f"Which column of {table} identifies the person (the privacy unit)?",
            "The guarantee protects a person with all their rows, so dither must know which rows belong together: by the "
            "number of the patient, the customer or the household, not by the number of a case, an order or a visit. "
            "If nobody can have two rows, say: each row.",
            () if proposed is None else (proposed, EACH_ROW),  # no column is an example of a person unless it was recognized
            read,
            default=proposed,
            choices=tuple(shown.items()),
            assumed=proposed or next(iter(values)),
        )
    )


def limit_steps(said: Decisions, table: TableDecisions, seen: str) -> Steps:
    """How many rows of one person count."""
    key, example = f"{path_key(table.name)}.max_rows", "a whole number such as 10, or auto"

    def read(reply: str) -> dict[str, object]:
        if reply.casefold() == AUTO:
            return {"limits": AUTO}
        return {"max_rows": whole_number(key, 1, MOST, example)(reply)}

    table.limits = yield Step(
        key,
        f"How many rows of one person in {table.name} shall count in an answer, at most?",
        "One person with a thousand rows would need a thousand times the noise. Rows beyond the limit are not counted; the "
        "noise grows with it. Choose what nearly everybody stays within, by what is known without a look: visits in a year, "
        "say. With auto each question finds a limit privately, at a part of its price.",
        ("10", AUTO),
        read,
        seen=seen,
        assumed=AUTO,
    )
    if "max_rows" in table.limits:
        origin = yield from origin_steps(said, path_key(table.name), f"the limit of {table.limits['max_rows']} rows")
        table.limits |= origin
