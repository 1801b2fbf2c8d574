"""The steps in their order: what is asked next follows from what was replied before, and from the source alone."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from dither.errors import PolicyError
from dither.query.owner.open_lines import open_lines
from dither.query.owner.wizard.budget_steps import budget_steps, ledger_steps
from dither.query.owner.wizard.column_steps import column_steps
from dither.query.owner.wizard.column_view import ColumnView
from dither.query.owner.wizard.data_source import DataSource, DataTable, proposed_out, proposed_person
from dither.query.owner.wizard.decisions import ColumnDecisions, Decisions, TableDecisions
from dither.query.owner.wizard.file_steps import CsvTable, csv_steps, look_step, source_step
from dither.query.owner.wizard.policy_text import policy_text
from dither.query.owner.wizard.step import Step, Steps
from dither.query.owner.wizard.table_steps import keep_table, limit_steps, whose_step
from dither.query.policy.cell_format import CellFormat
from dither.query.policy.column import Type
from dither.query.policy.policy import read_policy
from dither.query.policy.table import NAME_LENGTH
from dither.query.policy.toml_text import read_toml

ACCEPT, REVIEW = "accept", "review"


def interview(said: Decisions, folder: Path, open_source: Callable[[str], DataSource], *, read_data: bool) -> Steps:
    """All steps; the text of the policy comes back. `read_data`: consent was given before, and is not asked for."""
    source: DataSource = yield from source_step(open_source)
    said.name = source.name
    if source.csv is not None:
        may_look = read_data or (yield from look_step())
        table: CsvTable = yield from csv_steps(source, may_look=may_look)
        said.tables = [_csv_decisions(source, table)]
        said.domain = yield _domain(source.name)
        yield from _csv_table(said, source, table)
    else:
        said.tables = [_decisions(table) for table in source.tables]
        said.domain = yield _domain(source.name)
        yield from _tables(said, source)
    yield from budget_steps(said)
    yield from ledger_steps(said, folder)
    return (yield from _review(said))


def _domain(name: str) -> Step:
    def read(reply: str) -> str:
        if len(reply) > 1000:
            raise PolicyError("domain", reply, "it has more than 1000 characters", "clinic")
        return reply

    return Step(
        "domain",
        "What is the name of the people whom this is about: the patients of one clinic, the customers of one shop?",
        "All tables with the same people belong to one domain, and share one budget. Two budgets for the same people would "
        "tell twice as much about each.",
        ("clinic", "customers"),
        read,
        assumed=name,
    )


# -- a CSV file ----------------------------------------------------------------------------------------------------------


def _csv_decisions(source: DataSource, table: CsvTable) -> TableDecisions:
    found = TableDecisions(source.name, source.place, table.written)
    long = f"a name has 1 to {NAME_LENGTH} characters"
    found.columns = {name: ColumnDecisions(left_out="" if len(name) <= NAME_LENGTH else long) for name in table.names}
    return found


def _csv_table(said: Decisions, source: DataSource, table: CsvTable) -> Steps:
    mine, rows = said.tables[0], table.rows
    kinds = {name: Type.TEXT if rows is None else rows.inferred[at].type for at, name in enumerate(table.names)}
    proposed = proposed_person({name: kind for name, kind in kinds.items() if not mine.columns[name].left_out})
    mine.whose = yield from whose_step(mine.name, dict.fromkeys(kinds, Type.TEXT), {}, proposed=proposed, alone=True)
    of_table = CellFormat(table.written.get("decimal"), table.written.get("thousands"))
    for at, name in enumerate(table.names):
        if mine.columns[name].left_out:
            continue
        view = ColumnView(
            mine.name,
            name,
            None,
            is_person=name == mine.whose["person"],
            out=proposed_out(name, Type.TEXT) if rows is None else rows.out[at],
            found=None if rows is None else rows.inferred[at],
            seen="" if rows is None else rows.seen[at],
            of_table=of_table,
        )
        yield from column_steps(said, mine.columns[name], view)
    if mine.has_limits:
        seen = "" if rows is None else rows.most_rows(table.names.index(mine.whose["person"]))
        yield from limit_steps(said, mine, seen)


# -- tables with types ---------------------------------------------------------------------------------------------------


def _decisions(table: DataTable) -> TableDecisions:
    found = TableDecisions(table.name, table.source)
    found.columns = {name: ColumnDecisions() for name in table.columns}
    found.columns |= {name: ColumnDecisions(left_out=why) for name, why in table.unread.items()}
    return found


def _tables(said: Decisions, source: DataSource) -> Steps:
    alone = len(source.tables) == 1
    leading = {name for table in source.tables for owner in table.owners.values() for name in _keys(owner, table.name)}
    for table, mine in zip(source.tables, list(said.tables), strict=True):
        if not alone and not (yield from keep_table(table.name)):
            said.tables.remove(mine)
            continue
        proposed = proposed_person(table.columns)
        mine.whose = yield from whose_step(table.name, table.columns, table.owners, proposed=proposed, alone=alone)
        for name, kind in table.columns.items():
            view = ColumnView(
                table.name,
                name,
                kind,
                is_person=name == mine.whose.get("person") or (table.name, name) in leading,
                out=proposed_out(name, kind),
                found=None,
                seen="",
                of_table=CellFormat(),
                is_public="public" in mine.whose,
            )
            yield from column_steps(said, mine.columns[name], view)
        if mine.has_limits:
            yield from limit_steps(said, mine, "")


def _keys(owner: dict[str, Any], table: str) -> list[tuple[str, str]]:
    """Columns that lead from a table to the owner of its rows, here and there: they are not asked about."""
    given = owner["on"] if isinstance(owner["on"], list) else [owner["on"]]
    pairs = [(one, one) if isinstance(one, str) else (one["child"], one["parent"]) for one in given]
    return [place for child, parent in pairs for place in ((table, child), (owner["through"], parent))]


# -- the end -------------------------------------------------------------------------------------------------------------


def _review(said: Decisions) -> Steps:
    text = policy_text(said)

    def read(reply: str) -> str:
        stated = text if reply.casefold() == ACCEPT else reply
        try:
            facts = read_toml(stated)
        except tomllib.TOMLDecodeError as error:
            why = f"it is neither the word accept nor the TOML of a policy: {error}"
            raise PolicyError(REVIEW, reply, why, "accept, or the whole text with changes") from error
        if still := open_lines(stated):
            raise PolicyError(REVIEW, reply, f"a decision is open: {still[0]}", "going back to that question")
        read_policy(facts)
        return stated if stated.endswith("\n") else f"{stated}\n"

    return (
        yield Step(
            REVIEW,
            "This is the policy. Is it right?",
            "It is public, and in force from the first question on: later changes that allow more need a reason "
            "and are noted "
            "in the ledger.",
            (ACCEPT,),
            read,
            default=ACCEPT,
            choices=((ACCEPT, "as it is"),),
            lines=True,
        )
    )
