"""A table as its owner states it: where it is, whose rows they are, how much of them one person may contribute.

Contribution limits of one person, each of which we enforce:

    max_rows             her rows that count, in all groups together
    max_groups           the groups in which she counts
    max_rows_per_group   her rows that count in one group
    max_sum.COLUMN       what the absolute values of a column add up to, of hers

Where `limits = "auto"`, each question finds its own limits privately, at a part of its price, within those that are stated;
of limits that nobody stated, within 10^6 rows.

`min_people` is about groups whose keys nobody declared: one that fewer people are in is never shown, and does not leave the
engine. `min_group_size` is about all groups, and acts on what was released: a row of an answer whose noisy number of people
is below it is not shown. It is an extra rule of the owner's, and not what protects.

A limit is *hard* if nobody can have more, by the owner's word: it is enforced for privacy all the same, and believed for
truth. Where every limit that matters for a number is hard, bounding changes nothing, and the number's error bar holds the
truth; otherwise the answer says that it is about what was counted. `bounds.COLUMN` may be called hard in the same way: no
value lies beyond; and `steps.COLUMN`: all values are multiples of its step; and `keys.COLUMN`: it has no value that is not
listed; and `owner`: no two rows of the parent have the same key. Of a public table, `unique` names the columns that together
tell its rows apart: a row that is joined by them has one match at most, and remains one row.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from dither.errors import NumberError, PolicyError
from dither.numeric.number import rational
from dither.query.policy.cell_format import NUMBER_FACTS, CellFormat, read_number_format, read_words
from dither.query.policy.column import AUTO, Column, Type, read_column
from dither.query.policy.csv_dialect import DIALECT_FACTS, CsvDialect, read_csv_dialect
from dither.query.policy.fact import Fact
from dither.query.policy.origin import read_origin
from dither.query.policy.owner import HIDDEN, Owner, read_owner

EACH_ROW = "each row"  # instead of a column: one row is one person
MOST = 10**6  # groups or rows a person
NAME_LENGTH = 128
MIN_PEOPLE = 2  # unless the owner says otherwise: a key of one person alone is never shown
LEAST = ("min_people", "min_group_size")
LIMITS = ("max_rows", "max_groups", "max_rows_per_group")
NO_FACTS = "the table has no limit of a person; known_from of a column is about its bounds, step and keys"


@dataclass(frozen=True)
class Table:
    """A table of rows about people, or a public one to join with."""

    name: str
    columns: tuple[Column, ...]
    person: str | None  # the column that says whose a row is; HIDDEN: another table does; None: one row is one person
    max_groups: int
    max_rows_per_group: int
    source: str | None = None  # a path or a glob; None: the data is handed over in memory
    alone: bool = False  # whether nobody has two rows, because they were added up
    public: bool = False  # whether it tells nothing of anybody: then it has no person, and nothing of it is protected
    unread: tuple[tuple[str, str], ...] = field(
        default=(), compare=False
    )  # columns that cannot be read, and how they are stored
    max_rows: int | None = None  # of a person, in all groups; None: as many as the other two limits allow
    max_sum: tuple[tuple[str, Fraction], ...] = ()  # of a person, by column
    drops_people: bool = False  # whether people with very many rows are left out of it, as in joins on the person
    drops_rows: bool = False  # whether some rows of a person may be left out of it, and others not
    clamps_values: bool = False  # whether conditions may have looked at a person's sums of clamped values, or at what she
    # lacks because rows were left out: then there may be more rows than the truth has
    shares_rows: bool = False  # whether a row may count more than once: for each of several people that it belongs to
    hard: frozenset[str] = frozenset()  # what nobody can exceed: "max_rows", "max_sum.cost", "bounds.cost", "keys.ward"
    min_people: int = MIN_PEOPLE  # in a group whose key nobody declared: one that fewer are in is never shown
    min_group_size: int = 0  # rows of an answer whose noisy number of people is below it are not shown
    owner: Owner | None = None  # through which table a row belongs to somebody, where no column says so
    ids: frozenset[str] = frozenset()  # columns that lead to an owner: of this table, or of one whose rows are owned by it
    child_keys: frozenset[tuple[str, ...]] = frozenset()  # keys of this table by which rows of others have their owner
    auto: bool = False  # whether limits are found privately for each question, within those that stand here
    dialect: CsvDialect | None = None  # of its CSV files; None: the plain one
    known_from: str | None = None  # the origin of its limits; None where the owner does not say
    unique: tuple[str, ...] = ()  # of a public table: the columns that together are never the same in two rows

    def tells_whose(self, name: str) -> bool:
        """Whether a column says whose a row is, or leads there: two values of it must never become one."""
        return name == self.person or name in self.ids

    def column(self, name: str) -> Column | None:
        """The column of that name, whatever its case; None if there is none."""
        return next((column for column in self.columns if column.name.lower() == name.lower()), None)

    @property
    def facts(self) -> tuple[str, ...]:
        """What the owner states of how much one person has, and of what nobody exceeds."""
        stated = self.person is not None and not (self.auto and self.most_rows == MOST)
        return (*(["limits"] if stated or self.max_sum else []), *(["hard limits"] if self.hard else []))

    @property
    def origins(self) -> list[tuple[str, str | None]]:
        """Each known_from, with its place in the policy."""
        columns = [(f"tables.{self.name}.columns.{one.name}.known_from", one.known_from) for one in self.columns]
        return [(f"tables.{self.name}.known_from", self.known_from), *columns]

    @property
    def most_rows(self) -> int:
        """The most rows of a person that count, in all groups together."""
        if self.alone:
            return 1
        product = self.max_groups * self.max_rows_per_group
        return product if self.max_rows is None else min(product, self.max_rows)

    @property
    def hard_rows(self) -> int | None:
        """The most rows that anybody can have, by the owner's word; None if there is no such word."""
        if self.alone:
            return 1
        found = [] if self.max_rows is None or "max_rows" not in self.hard else [self.max_rows]
        if {"max_groups", "max_rows_per_group"} <= self.hard:
            found.append(self.max_groups * self.max_rows_per_group)
        return min(found, default=None)

    @property
    def has_hard_rows(self) -> bool:
        """Whether nobody has more rows than count, in all groups together."""
        return self.hard_rows is not None and self.hard_rows <= self.most_rows

    @property
    def hard_by_rows(self) -> Table:
        """The same, with one hard limit of rows, that of all together: for columns that are no cells of it, by which a
        person's rows may fall into more groups than the owner speaks of."""
        most, hard = self.hard_rows, self.hard - {"max_groups", "max_rows_per_group", "max_rows"}
        if most is None or (self.max_rows is not None and self.max_rows < most):
            return replace(self, hard=hard)
        return replace(self, max_rows=most, hard=hard | {"max_rows"})

    def sum_limit(self, name: str) -> Fraction | None:
        """What a person's values of a column add up to at most, in absolute value; None where nothing is stated."""
        return next((most for column, most in self.max_sum if column == name), None)


def read_table(name: str, stated: Fact, where: str) -> Table:
    """A table from the words of a policy."""
    _name(name, where)
    if not isinstance(stated, dict):
        raise PolicyError(where, stated, "a table is a table of facts", 'person = "patient_id", and columns')
    known = {"source", "person", "owner", *LIMITS, "max_sum", "hard", "columns", "public", "limits", "known_from", *LEAST}
    known |= {*DIALECT_FACTS, *NUMBER_FACTS, "null", "unique"}
    for extra in stated.keys() - known:
        raise PolicyError(f"{where}.{extra}", stated[extra], "no such fact of a table is known", ", ".join(sorted(known)))
    facts = stated.get("columns")
    if not isinstance(facts, dict) or not facts:
        raise PolicyError(
            f"{where}.columns", facts, "a table has columns", '[tables.visits.columns] cost = { type = "decimal" }'
        )
    written = CellFormat(
        *read_number_format(stated, CellFormat(), where), null=read_words(stated.get("null", []), f"{where}.null")
    )
    columns = tuple(
        read_column(_name(column, f"{where}.columns"), facts[column], f"{where}.columns.{column}", written)
        for column in facts
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
        for fact in ("person", "owner", *LIMITS, "max_sum", "hard", *LEAST, "limits", "known_from"):
            if fact in stated:
                raise PolicyError(f"{where}.{fact}", stated[fact], "a public table is about nobody", "leaving it out")
        for column in (column for column in columns if column.auto):
            why = "a public table tells nothing of anybody: its bounds can be looked up, and need no search"
            raise PolicyError(f"{where}.columns.{column.name}.bounds", AUTO, why, "[0, 2000]")
        for column in (column for column in columns if column.known_from is not None):
            why = "a public table tells nothing of anybody, wherever its bounds and keys are from"
            raise PolicyError(f"{where}.columns.{column.name}.known_from", column.known_from, why, "leaving it out")
    person, owner = (None, None) if public else _whose(stated, columns, where)
    source = stated.get("source")
    if source is not None and (not isinstance(source, str) or not source):
        raise PolicyError(f"{where}.source", source, "it is not a path", '"visits.parquet", or "visits/*.parquet"')
    auto = _auto(stated.get("limits"), person, f"{where}.limits")
    most = stated.get("max_rows")
    if person is not None and all(stated.get(limit) is None for limit in LIMITS):
        if not auto:
            why = "no limit is stated of how much one person counts"
            instead = 'the most rows of one person that are to count, such as 10, or limits = "auto"'
            raise PolicyError(f"{where}.max_rows", None, why, instead)
        most = MOST
    whole = None if most is None else _limit(most, person, f"{where}.max_rows")
    groups, rows = (_limit(stated.get(limit, whole), person, f"{where}.{limit}") for limit in LIMITS[1:])
    sums = _sums(stated.get("max_sum", {}), columns, person, f"{where}.max_sum")
    least = _min_people(stated.get("min_people", MIN_PEOPLE), f"{where}.min_people")
    table = Table(name, columns, person, groups, rows, source, public=public, max_rows=whole, max_sum=sums, min_people=least)
    size = _min_people(stated["min_group_size"], f"{where}.min_group_size") if "min_group_size" in stated else 0
    dialect = read_csv_dialect(stated, [column.name for column in columns], where)
    table = replace(table, auto=auto, owner=owner, min_group_size=size, dialect=dialect)
    table = replace(table, hard=_hard(stated.get("hard", []), table, f"{where}.hard"))
    table = replace(table, unique=_unique(stated.get("unique", []), table, f"{where}.unique"))
    return replace(table, known_from=read_origin(stated.get("known_from"), table.facts, NO_FACTS, f"{where}.known_from"))


def _sums(stated: Fact, columns: tuple[Column, ...], person: str | None, where: str) -> tuple[tuple[str, Fraction], ...]:
    if not isinstance(stated, dict):
        raise PolicyError(where, stated, "it says something for each column by name", "{ cost = 10000 }")
    if stated and person is None:
        raise PolicyError(where, stated, "where one row is one person, bounds limit her sum", "leaving it out")
    found = []
    for name, most in stated.items():
        column = next((column for column in columns if column.name == name), None)
        if column is None or not column.type.is_number or column.lower is None:
            raise PolicyError(f"{where}.{name}", most, "it names no column of numbers with bounds", "{ cost = 10000 }")
        try:
            found.append((column.name, rational(most, name=name, positive=True)))
        except NumberError as error:
            raise PolicyError(f"{where}.{name}", error.came, error.why, "a number above zero, such as 10000") from error
    return tuple(found)


def _hard(stated: Fact, table: Table, where: str) -> frozenset[str]:
    """The limits that are called hard; each must be one that is stated."""
    known = [] if table.person is None else list(LIMITS[1:]) if table.max_rows is None else list(LIMITS)
    known += ["owner"] if table.owner is not None else []
    known += [f"max_sum.{name}" for name, _ in table.max_sum]
    known += [f"bounds.{column.name}" for column in table.columns if column.has_bounds]
    known += [f"steps.{column.name}" for column in table.columns if column.step is not None]
    known += [f"keys.{column.name}" for column in table.columns if column.keys is not None]
    if not isinstance(stated, (list, tuple)) or not all(isinstance(one, str) for one in stated):
        raise PolicyError(where, stated, "it lists limits that nobody can exceed", '["max_rows"]')
    for one in stated:
        if one not in known:
            raise PolicyError(where, one, "no such limit is stated for this table", ", ".join(known) or "leaving it out")
    return frozenset(stated)


def _unique(stated: Fact, table: Table, where: str) -> tuple[str, ...]:
    """The columns that tell the rows of a public table apart."""
    if not isinstance(stated, (list, tuple)) or not all(isinstance(one, str) for one in stated):
        raise PolicyError(where, stated, "it lists columns that together are never the same in two rows", '["ward"]')
    if stated and not table.public:
        why = "only a public table has it; max_rows limits the rows of a person"
        raise PolicyError(where, stated, why, "leaving it out")
    for one in stated:
        if table.column(one) is None:
            raise PolicyError(where, one, "it names no column of this table", ", ".join(c.name for c in table.columns))
    return tuple(sorted({column.name for column in table.columns for one in stated if column == table.column(one)}))


def _auto(stated: Fact, person: str | None, where: str) -> bool:
    if stated is None:
        return False
    if stated != AUTO:
        raise PolicyError(where, stated, "limits are stated one by one, or found privately", '"auto", or max_rows = 10')
    if person is None:
        raise PolicyError(where, stated, "where one row is one person, there is no limit to find", "leaving it out")
    return True


def _min_people(stated: Fact, where: str) -> int:
    if type(stated) is not int or not 1 <= stated <= MOST:
        why = f"it must be a whole number from 1 to {MOST}"
        raise PolicyError(where, stated, why, "the fewest people of a group that is shown, such as 20")
    return stated


def _name(name: str, where: str) -> str:
    if not isinstance(name, str) or not 0 < len(name) <= NAME_LENGTH or not name.isprintable():
        raise PolicyError(where, name, f"a name has 1 to {NAME_LENGTH} printable characters", "'visits'")
    return name


def _whose(stated: dict[str, Any], columns: tuple[Column, ...], where: str) -> tuple[str | None, Owner | None]:
    """The column of the person, or the table through which rows have an owner."""
    if "owner" not in stated:
        return _person(stated.get("person"), columns, f"{where}.person"), None
    if "person" in stated:
        why = "its owner is stated too, and a row has one"
        both = "the column of the person in `on` of the owner as well, which compares it"
        raise PolicyError(f"{where}.person", stated["person"], why, f"leaving one of the two out; or {both}")
    return HIDDEN, read_owner(stated["owner"], columns, f"{where}.owner")


def _person(stated: Fact, columns: tuple[Column, ...], where: str) -> str | None:
    if stated == EACH_ROW:
        return None
    found = next((column for column in columns if column.name == stated), None)
    if found is None:
        why = "it names no column of this table"
        instead = f"the column that says whose a row is, or '{EACH_ROW}' if nobody has two; or owner = ..."
        raise PolicyError(where, stated, why, instead)
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
