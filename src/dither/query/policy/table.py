"""A table as its owner states it: where it is, whose rows they are, and the contribution limits of one person."""

from __future__ import annotations

from dataclasses import dataclass, field

from dither.errors import PolicyError
from dither.query.policy.column import Column, Fact, Type, read_column

EACH_ROW = "each row"  # instead of a column: one row is one person
MOST = 10**6  # groups or rows a person
NAME_LENGTH = 128


@dataclass(frozen=True)
class Table:
    """A table of rows about people, or a public one to join with."""

    name: str
    columns: tuple[Column, ...]
    person: str | None  # the column that says whose a row is; None: one row is one person
    max_groups: int
    max_rows_per_group: int
    source: str | None = None  # a path or a glob; None: the data is handed over in memory
    alone: bool = False  # whether nobody has two rows, because they were added up
    public: bool = False  # whether it tells nothing of anybody: then it has no person, and nothing of it is protected
    unread: tuple[tuple[str, str], ...] = field(
        default=(), compare=False
    )  # columns that cannot be read, and how they are stored

    def column(self, name: str) -> Column | None:
        """The column of that name, whatever its case; None if there is none."""
        return next((column for column in self.columns if column.name.lower() == name.lower()), None)


def read_table(name: str, stated: Fact, where: str) -> Table:
    """A table from the words of a policy."""
    _name(name, where)
    if not isinstance(stated, dict):
        raise PolicyError(where, stated, "a table is a table of facts", 'person = "patient_id", and columns')
    known = {"source", "person", "max_groups", "max_rows_per_group", "columns", "public"}
    for extra in stated.keys() - known:
        raise PolicyError(f"{where}.{extra}", stated[extra], "no such fact of a table is known", ", ".join(sorted(known)))
    facts = stated.get("columns")
    if not isinstance(facts, dict) or not facts:
        raise PolicyError(
            f"{where}.columns", facts, "a table has columns", '[tables.visits.columns] cost = { type = "decimal" }'
        )
    columns = tuple(
        read_column(_name(column, f"{where}.columns"), facts[column], f"{where}.columns.{column}") for column in facts
    )
    lowered = [column.name.lower() for column in columns]
    for column in columns:
        if lowered.count(column.name.lower()) > 1:
            raise PolicyError(
                f"{where}.columns", column.name, "two columns differ in case only", "names that SQL can tell apart"
            )
    public = stated.get("public", False)
    if not isinstance(public, bool):
        raise PolicyError(f"{where}.public", public, "it is not a truth value", "true or false")
    if public:
        for fact in ("person", "max_groups", "max_rows_per_group"):
            if fact in stated:
                raise PolicyError(f"{where}.{fact}", stated[fact], "a public table is about nobody", "leaving it out")
    person = None if public else _person(stated.get("person"), columns, f"{where}.person")
    source = stated.get("source")
    if source is not None and (not isinstance(source, str) or not source):
        raise PolicyError(f"{where}.source", source, "it is not a path", '"visits.parquet", or "visits/*.parquet"')
    groups, rows = (_limit(stated.get(limit), person, f"{where}.{limit}") for limit in ("max_groups", "max_rows_per_group"))
    return Table(name, columns, person, groups, rows, source, public=public)


def _name(name: str, where: str) -> str:
    if not isinstance(name, str) or not 0 < len(name) <= NAME_LENGTH or not name.isprintable():
        raise PolicyError(where, name, f"a name has 1 to {NAME_LENGTH} printable characters", "'visits'")
    return name


def _person(stated: Fact, columns: tuple[Column, ...], where: str) -> str | None:
    if stated == EACH_ROW:
        return None
    found = next((column for column in columns if column.name == stated), None)
    if found is None:
        why = "it names no column of this table"
        raise PolicyError(where, stated, why, f"the column that says whose a row is, or '{EACH_ROW}' if nobody has two")
    if found.type in (Type.FLOAT, Type.DECIMAL, Type.BOOLEAN):
        why = f"a {found.type.value} does not tell people apart reliably"
        raise PolicyError(where, stated, why, "a column of whole numbers, text or dates")
    return found.name


def _limit(stated: Fact, person: str | None, where: str) -> int:
    if person is None:
        if stated not in (None, 1) or isinstance(stated, bool):
            raise PolicyError(where, stated, "where one row is one person, it is 1", "leaving it out")
        return 1
    if type(stated) is not int or not 1 <= stated <= MOST:
        raise PolicyError(
            where, stated, f"it must be a whole number from 1 to {MOST}", "the most that you want to protect, such as 5"
        )
    return stated
