"""A clinic of several tables, and how far one person moves the exact totals of a question about them."""

from __future__ import annotations

import datetime
import math
from dataclasses import replace
from fractions import Fraction
from functools import cache

import duckdb
import pyarrow

from dither.errors import QuestionError
from dither.privacy.unit import Unit
from dither.query.counters.counter_sets import choose_counters
from dither.query.engines.duckdb.words import DUCKDB
from dither.query.engines.templates.relations import question_sql
from dither.query.engines.templates.totals import totals_sql
from dither.query.plan.relations import Scan
from dither.query.policy.policy import read_policy
from dither.query.sql.parse import parse
from dither.query.statistics.choose_bounding import choose_bounding, with_shares
from tests.query.neighbours import Case

INT, TEXT, FLOAT, DAY = pyarrow.int64(), pyarrow.string(), pyarrow.float64(), pyarrow.date32()
TABLES = {
    "visits": {"person": INT, "ward": TEXT, "cost": FLOAT, "age": INT},
    "stays": {"patient": INT, "ward": TEXT, "cost": FLOAT, "nights": INT},
    "moves": {"mover": INT, "ward": TEXT, "cost": FLOAT, "day": DAY},
    "notes": {"who": TEXT, "ward": TEXT, "cost": FLOAT, "words": INT},
    "calls": {"who": TEXT, "ward": TEXT, "cost": FLOAT, "minutes": INT},
    "letters": {"ward": TEXT, "cost": FLOAT, "pages": INT},
    "wards": {"ward": TEXT, "floor": INT, "site": TEXT},
}
PERSON = {"visits": "person", "stays": "patient", "moves": "mover", "notes": "who", "calls": "who"}
PEOPLE = (1, 2, 3, 4)
WRITERS = ("a", "A", "", "7", "é")
NAN = math.nan


def policy(groups=2, rows=2, unit=Unit.ADD_REMOVE, **more):
    ward = {"type": "text", "keys": ["A", "B", "C"]}
    cost = {"type": "float", "bounds": [-10, 100], "step": "0.25"}
    limits = {"max_groups": groups, "max_rows_per_group": rows}

    def table(name, **columns):
        whose = {PERSON[name]: {"type": "text" if name in ("notes", "calls") else "integer"}} if name in PERSON else {}
        about = {"person": PERSON[name], **limits} if name in PERSON else {"person": "each row"}
        return {**about, "columns": {**whose, "ward": ward, "cost": cost, **columns}}

    def whole(lower, upper):
        return {"type": "integer", "bounds": [lower, upper]}

    tables = {
        "visits": table("visits", age=whole(0, 120)),
        "stays": table("stays", nights=whole(0, 30)),
        "moves": table("moves", day={"type": "date"}),
        "notes": table("notes", words=whole(-5, 2**40)),
        "calls": table("calls", minutes=whole(0, 60)),
        "letters": table("letters", pages=whole(1, 9)),
    }
    site = {"type": "text", "keys": ["x", "y"]}
    wards = {"public": True, "columns": {"ward": {"type": "text"}, "floor": whole(0, 9), "site": site}}
    tables["wards"] = wards
    return read_policy({"version": 1, "domain": "clinic", "unit": unit.value, "tables": tables | more})


# -- rows ----------------------------------------------------------------------------------------------------------------


def row_of(name, rng, person=None):
    """A random row of a table, of a person where one is named."""
    if name == "wards":
        return (rng.choice(["A", "B", "C", None]), rng.choice([0, 1, 5, None]), rng.choice(["x", "y", "z"]))
    cost = rng.choice([None, NAN, math.inf, 1e308, -1e308, 0.125, 99.9, 5.0, 0.1, 0.2, 33.3])
    number = rng.choice([None, 0, 1, 7, 29, 30, 200, -(2**63), 2**63 - 1])
    if name == "moves":
        number = rng.choice([None, datetime.date(1, 1, 1), datetime.date(2024, 2, 29), datetime.date(9999, 12, 31)])
    rest = (rng.choice(["A", "B", "C", "D", None]), cost, number)
    if name == "letters":
        return rest
    people = WRITERS if name in ("notes", "calls") else PEOPLE
    return (rng.choice([None, *people, people[1], people[2]]) if person is None else person, *rest)


def clinic(rng, most=14):
    data = {name: [row_of(name, rng) for _ in range(rng.randrange(0, most))] for name in TABLES}
    data["wards"] = [row_of("wards", rng) for _ in range(5)]
    return {name: rows + (rows[:3] if name in PERSON else []) for name, rows in data.items()}


def without(data, person, rng=None):
    """The clinic without a person; with rng, with other rows of hers."""
    rest = {name: [row for row in rows if name not in PERSON or row[0] != person] for name, rows in data.items()}
    for name in PERSON if rng is not None else ():
        if isinstance(person, str) is (name in ("notes", "calls")):
            rest[name] = rest[name] + [row_of(name, rng, person) for _ in range(rng.randrange(0, 6))]
    return rest


def neighbours(data, unit, rng, tables):
    """Each person of those tables gone, or replaced; where a row is a person, each row."""
    other = rng if unit is Unit.REPLACE_ONE else None
    if any(name in ("notes", "calls") for name in tables):
        yield from (without(data, person, other) for person in WRITERS)
    if any(name in ("visits", "stays", "moves") for name in tables):
        yield from (without(data, person, other) for person in PEOPLE)
    if "letters" in tables:
        for at in range(len(data["letters"])):
            new = [] if other is None else [row_of("letters", other)]
            yield {**data, "letters": data["letters"][:at] + new + data["letters"][at + 1 :]}


def table_of(name, rows, rng, tables=TABLES):
    """The rows in a random order, in random chunks."""
    kinds = tables[name]
    shuffled = rng.sample(rows, len(rows))
    cut = rng.randrange(0, len(shuffled) + 1)
    batches = [
        pyarrow.record_batch(
            [pyarrow.array([row[at] for row in part], kind) for at, kind in enumerate(kinds.values())], names=list(kinds)
        )
        for part in (shuffled[:cut], shuffled[cut:])
    ]
    return pyarrow.Table.from_batches(batches)


@cache
def engine_with(threads, optimized=True):
    engine = duckdb.connect(config={"threads": threads})
    if not optimized:  # no template may need an optimizer to be total
        engine.execute("PRAGMA disable_optimizer")
    return engine


class Asked:
    """A question with everything that a quote would fix: rows and people are bounded, and counted, apart."""

    kinds = TABLES

    def __init__(self, sql, way="weights", unit=Unit.ADD_REMOVE, groups=2, rows=2, salt=7, stated=None):
        self.question = parse(sql, stated or policy(groups, rows, unit), (Fraction(6), Fraction(-1, 3), None))
        pure = way != "clip"
        self.pure, self.strategy = pure, choose_counters(self.question, pure=pure)
        strategy = self.strategy
        alone = self.question.table.person is None or self.question.table.alone
        cells = math.prod(len(group.keys) for group in self.question.groups)
        self.unit, self.cases = unit, []
        for persons in [None] if alone else [False, True]:
            sets = tuple(one for one in strategy.sets if persons is None or one.counts_persons == persons)
            if sets:
                own = replace(strategy, sets=sets)
                wished = None if alone or persons else way
                try:
                    made = choose_bounding(self.question, own, wished, cells=cells, unit=unit, pure=pure)
                except QuestionError:  # limits or steps for which that way does not fit
                    made = choose_bounding(self.question, own, None, cells=cells, unit=unit, pure=pure)
                shares = (Fraction(1, len(sets)),) * len(sets)
                self.cases.append(Case(self.question, own, with_shares(made, shares), salt, shares))
        self.tables = {table.name for table in self.question.relation.tables}

    def sql(self, case=None):
        places = {name: (name, frozenset()) for name in self.kinds}
        relation, case = self.question.relation, case or self.cases[0]
        where = relation.table.name if isinstance(relation, Scan) else f"({question_sql(DUCKDB, self.question, places)})"
        return totals_sql(DUCKDB, self.question, case.strategy.sets, case.bounding, where, case.salt)

    def totals(self, data, rng):
        engine = engine_with(rng.choice([1, 2, 8]), rng.random() < 0.8)
        for name in self.tables:
            engine.register(name, table_of(name, data[name], rng, self.kinds))
        found = [self._totals(engine, case) for case in self.cases]
        return found[0] if len(found) == 1 else found

    def _totals(self, engine, case):
        found = engine.execute(self.sql(case)).fetchall()
        width = len(self.question.groups)
        declared = [set(group.keys) for group in self.question.groups]
        kept = [row for row in found if all(key in keys for key, keys in zip(row[:width], declared, strict=True))]
        assert len({row[:width] for row in kept}) == len(kept)
        return {row[:width]: tuple(int(total) for total in row[width:]) for row in kept}

    def breaks(self, one, other):
        if len(self.cases) == 1:
            one, other = [one], [other]
        return any(case.breaks(*both) for case, *both in zip(self.cases, one, other, strict=True))

    @property
    def bounding(self):
        return self.cases[0].bounding

    def moved_too_far(self, data, rng):
        """The first neighbour that is further away than the claim; the order of rows, chunks and threads must not matter."""
        whole = self.totals(data, rng)
        assert self.totals(data, rng) == whole
        return next(
            (rest for rest in self.neighbours(data, rng) if self.breaks(whole, self.totals(rest, rng))),
            None,
        )

    def neighbours(self, data, rng):
        return neighbours(data, self.unit, rng, self.tables)
