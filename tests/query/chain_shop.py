"""A shop whose rows belong to people through other tables; what a person's neighbours are, by brute force."""

from __future__ import annotations

import math

import pyarrow

from dither.privacy.unit import Unit
from dither.query.policy.policy import read_policy
from tests.query.grammar import Grammar
from tests.query.owners import Asked

INT, TEXT, FLOAT = pyarrow.int64(), pyarrow.string(), pyarrow.float64()
TABLES = {
    "buyers": {"cid": INT, "who": INT, "ward": TEXT, "cost": FLOAT},
    "orders": {"oid": INT, "cid": INT, "who": INT, "ward": TEXT, "cost": FLOAT},
    "lines": {"lid": TEXT, "oid": INT, "ward": TEXT, "cost": FLOAT},
    "returns": {"lid": TEXT, "ward": TEXT, "cost": FLOAT},
    "parcels": {"oid": INT, "who": INT, "ward": TEXT, "cost": FLOAT},
    "wards": {"ward": TEXT, "site": TEXT},
}
PEOPLE = (1, 2, 3, 4)
KEYS = (None, 0, 1, 1, 2, 2, 3, 5, -(2**63), 2**63 - 1)
NAMES = (None, "a", "A", "a ", "", "7", "é", "b", "b")
TABLES_KEY = {"buyers": "cid", "orders": "oid"}
LINKS = {"lines": ("orders", (("oid", "oid"),)), "returns": ("lines", (("lid", "lid"),))}
LINKS["parcels"] = "orders", (("oid", "oid"), ("who", "who"))  # the child has the person as well, and the join compares it


def links(*, direct):
    """By table: through which other it has its owner, on which columns. Directly, orders have a person."""
    return LINKS if direct else {"orders": ("buyers", (("cid", "cid"),)), **LINKS}


def policy(groups=2, rows=2, unit=Unit.ADD_REMOVE, *, direct=True, **more):
    kinds = {INT: "integer", TEXT: "text", FLOAT: "float"}
    facts = {"ward": {"type": "text", "keys": ["A", "B", "C"]}, "site": {"type": "text", "keys": ["x", "y"]}}
    facts["cost"] = {"type": "float", "bounds": [-10, 100], "step": "0.25"}
    tables = {}
    for name, columns in TABLES.items():
        stated = {"columns": {column: facts.get(column, {"type": kinds[kind]}) for column, kind in columns.items()}}
        if name == "wards":
            tables[name] = {"public": True, **stated}
            continue
        owner = links(direct=direct).get(name)
        stated |= {"max_groups": groups, "max_rows_per_group": rows, **more}
        if owner is None:
            tables[name] = {"person": "who", **stated}
        else:
            on = [{"child": child, "parent": parent} for child, parent in owner[1]]
            tables[name] = {"owner": {"through": owner[0], "on": on if len(on) > 1 else on[0]}, **stated}
    return read_policy({"version": 1, "domain": "shop", "unit": unit.value, "tables": tables})


# -- rows ----------------------------------------------------------------------------------------------------------------


def row_of(name, rng, person=None):
    """A random row, of a person where the table has one and one is named."""
    cells = {
        **{"cid": rng.choice(KEYS), "oid": rng.choice(KEYS), "lid": rng.choice(NAMES)},
        "who": rng.choice([None, *PEOPLE]) if person is None else person,
        "ward": rng.choice(["A", "B", "C", "D", None]),
        "cost": rng.choice([None, math.nan, math.inf, 1e308, -1e308, 0.125, 99.9, 5.0, 33.3]),
        "site": rng.choice(["x", "y", "z"]),
    }
    return tuple(cells[column] for column in TABLES[name])


def shop(rng, most=12):
    data = {name: [row_of(name, rng) for _ in range(rng.randrange(0, most))] for name in TABLES}
    data["wards"] = [row_of("wards", rng) for _ in range(4)]
    for name in ("buyers", "orders"):
        data[name] += rng.choices(data[name], k=rng.choice([0, 3, 14])) if data[name] else []  # keys that people repeat
    return data


def cell(name, row, column):
    return row[list(TABLES[name]).index(column)]


def owners(data, name, *, direct):
    """The owners of each row of a table: a set of people."""
    owner = links(direct=direct).get(name)
    if owner is None:
        return [{cell(name, row, "who")} - {None} for row in data[name]]
    through, on = owner
    above = owners(data, through, direct=direct)
    found = []
    for row in data[name]:
        mine = [cell(name, row, child) for child, _ in on]
        same = [
            whose
            for parent, whose in zip(data[through], above, strict=True)
            if None not in mine and [cell(through, parent, column) for _, column in on] == mine
        ]
        found.append(set().union(*same))
    return found


def without(data, person, rng, *, direct, come):
    """The shop without a person: her rows, and those whose chains end at her alone, of which some may stay as nobody's. Then
    perhaps with others of hers: any rows in tables with a person, others whose chains end at nobody but her."""
    rest, whose = {}, {name: owners(data, name, direct=direct) for name in data if name != "wards"}
    for name, rows in data.items():
        if name == "wards":
            rest[name] = rows
            continue
        named, stay = name not in links(direct=direct), rng.random() < 0.5
        rest[name] = [
            row for row, people in zip(rows, whose[name], strict=True) if people != {person} or (stay and not named)
        ]
    if not come:
        return rest
    for name in ("buyers", "orders", "lines", "returns", "parcels"):
        new = [row_of(name, rng, person) for _ in range(rng.randrange(0, 6))]
        if name in ("buyers", "orders"):
            new = rng.choices(new, k=rng.choice([1, 4, 25])) if new else new
            keys = [cell(name, row, TABLES_KEY[name]) for row in data[name]]
            if rng.random() < 0.5:  # she repeats everybody's keys, once or too often
                taken = [_with(name, row_of(name, rng, person), TABLES_KEY[name], key) for key in keys]
                new += taken * rng.choice([1, 1, 11])
        both = {**rest, name: rest[name] + new}
        if name in links(direct=direct):
            ends = owners(both, name, direct=direct)[len(rest[name]) :]
            both[name] = rest[name] + [row for row, people in zip(new, ends, strict=True) if people <= {person}]
        rest = both
    return rest


def _with(name, row, column, value):
    at = list(TABLES[name]).index(column)
    return (*row[:at], value, *row[at + 1 :])


class AskedShop(Asked):
    """A question about the shop."""

    kinds = TABLES

    def __init__(self, sql, way="weights", unit=Unit.ADD_REMOVE, groups=2, rows=2, *, direct=True):
        self.direct = direct
        super().__init__(sql, way, unit, groups, rows, stated=policy(groups, rows, unit, direct=direct))

    def neighbours(self, data, rng):
        come = self.unit is Unit.REPLACE_ONE
        for person in PEOPLE:
            yield without(data, person, rng, direct=self.direct, come=come)
        for new in (0, 9) if not come else ():  # somebody who brings whatever she likes, first or last of all in any order
            assert without(data, new, rng, direct=self.direct, come=False) == data
            yield without(data, new, rng, direct=self.direct, come=True)


class ShopGrammar(Grammar):
    """Random SQL about the shop: joins along chains and across them, in every nesting."""

    def __init__(self, rng, *, direct, wild=0.1):
        super().__init__(rng, wild)
        self.direct, self.keys = direct, {}  # of columns that are keys: what they are keys of

    def table(self, only=None):
        name = only or self.rng.choice(["buyers", "orders", "orders", "lines", "lines", "lines", "returns", "parcels"])
        called, columns = self.name(), []
        for column, kind in TABLES[name].items():
            person = column == "who" and name not in links(direct=self.direct)
            kinds = {INT: "id" if person else "key", TEXT: "ward" if column == "ward" else "key", FLOAT: "number"}
            columns.append((f"{called}.{column}", "site" if column == "site" else kinds[kind]))
            if column in ("cid", "oid", "lid", "who"):
                self.keys[columns[-1][0]] = column
        return f"{name} {called}", columns

    def join(self, depth):
        rng = self.rng
        text, columns = self.source(depth)
        public = rng.random() < 0.25
        near = [
            pair for child, (parent, _) in links(direct=self.direct).items() for pair in ((child, parent), (parent, child))
        ]
        fits = [name for known, name in near if f"{known} t" in text and f"{name} t" not in text]
        fits = None if not fits or rng.random() < 0.15 else rng.choice(fits)
        other, more = self.table("wards") if public else self.inner(depth) if rng.random() < 0.1 else self.table(fits)
        pairs = [(one, two) for one, kind in columns for two, same in more if (kind, same) == ("ward", "ward")]
        along = [
            (one, two) for one, _ in columns for two, _ in more if one in self.keys and self.keys[one] == self.keys.get(two)
        ]
        kind = rng.choice([self.keys[one] for one, _ in along] or [None])
        keys = [pair for pair in along if self.keys[pair[0]] == kind][-1:]
        if "parcels" in other or ("parcels" in text and "orders" in other):
            keys = [pair for pair in along if self.keys[pair[0]] in ("oid", "who")]
        equal = keys if keys and rng.random() < 0.9 else rng.sample(along or pairs, 1) if along or pairs else []
        if public:
            equal = pairs[:1]
        on = " AND ".join(f"{two} = {one}" if rng.random() < 0.5 else f"{one} = {two}" for one, two in equal)
        outer = ["LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "SEMI JOIN", "ANTI JOIN"]
        word = "JOIN" if rng.random() < 0.6 else "LEFT JOIN" if public else rng.choice(outer)
        beside = [] if word in ("SEMI JOIN", "ANTI JOIN") else more
        return f"{text} {word} {other}{f' ON {on}' if on else ''}", [*columns, *beside]

    def looked(self, columns):
        """A condition on other rows, along a chain or of the same person."""
        rng, called = self.rng, self.name()
        name = rng.choice(["buyers", "orders", "lines", "returns", "parcels"])
        near = [(column, one) for one, _ in columns for column in TABLES[name] if self.keys.get(one) == column]
        if not near:
            return self.condition(columns)
        key = rng.choice(near)[0]
        chosen = [next((f"{called}.{column}", one) for column, one in near if column == key)]
        if name == "parcels":
            chosen = [(f"{called}.{column}", one) for column, one in dict(near).items()]
        return self.around(columns, self.exists(columns, name, called, chosen))

    def question(self):
        return super().question().replace("WITH visits AS (SELECT * FROM visits WHERE age > 0) ", "")

    def condition(self, columns):
        name, kind = self.rng.choice(columns)
        return f"{name} IS NOT NULL" if kind == "key" else super().condition([(name, kind)])

    def union(self, depth):
        parts = self.rng.sample(["buyers", "orders", "lines", "returns", "parcels"], 2)
        text = " UNION ALL ".join(f"SELECT ward, cost FROM {name}" for name in parts)
        return text, [("ward", "ward"), ("cost", "number")]
