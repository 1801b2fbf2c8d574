"""Random questions about the clinic of `owners`: what is answered, and what must be refused, in every nesting."""

from __future__ import annotations

import random

from dither.errors import QuestionError
from tests.query.owners import DAY, FLOAT, INT, PERSON, TABLES, TEXT, Asked, clinic

LARGE = ["1e300", "-1e308", "9223372036854775807", "-9223372036854775808", "170141183460469231731687303715884105727"]
LARGE += ["1e-300"]
FRAMES = ["ROWS UNBOUNDED PRECEDING", "ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING", "ROWS BETWEEN 2 FOLLOWING AND 3 FOLLOWING"]
FRAMES += ["RANGE BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING", "ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING"]


class Grammar:
    """Random SQL: what is answered, and what must be refused, in every nesting. A column is a name and a kind."""

    def __init__(self, rng, wild=0.1):
        self.rng, self.wild, self._named = rng, wild, 0

    def question(self):
        rng = self.rng
        text, columns = self.source(rng.choice([0, 1, 2, 2, 3, 3]))
        keys = [name for name, kind in columns if kind in ("ward", "site")]
        groups = rng.sample(keys, min(len(keys), rng.choice([0, 0, 1, 1, 2])))
        asked = rng.sample(self.outer(columns), rng.choice([1, 1, 2]))
        by = f" GROUP BY {', '.join(groups)}" if groups else ""
        shown = ", ".join(f"{one} AS out{at}" for at, one in enumerate(asked))
        recursive = "RECURSIVE " if rng.random() < self.wild else ""
        given = f"WITH {recursive}visits AS (SELECT * FROM visits WHERE age > 0) " if rng.random() < 0.1 else ""
        return f"{given}SELECT {', '.join([*groups, ''])}{shown} FROM {text}{self.where(columns)}{by}"

    def outer(self, columns):
        numbers = [name for name, kind in columns if kind in ("number", "whole")]
        people = [name for name, kind in columns if kind in ("id", "text id")]
        found = ["COUNT(*)", f"COUNT({self.rng.choice(columns)[0]})"]
        found += [f"{self.rng.choice(['SUM', 'AVG'])}({self.number(name)})" for name in numbers]
        return found + [f"COUNT(DISTINCT {name})" for name in people]

    def number(self, name):
        rng = self.rng
        large = rng.choice(LARGE)
        return rng.choice(
            [name] * 4
            + [f"{name} * 2 - 3", f"{name} + {name}", f"-{name}", f"{name} + {large}", f"{name} * {large}"]
            + [
                f"LEAST(GREATEST({name} / NULLIF({name} - 3, 0), -4), 4)",
                f"SQRT({name})",
                f"LEAST(GREATEST(LN({name}), 0), 3)",
            ]
            + [f"POWER({name}, 2)", f"LEAST(EXP({name}), 5)", f"SIGN({name})", f"TRUNC({name}) % 3"]
            + [f"CASE WHEN {name} > 3 THEN {name} ELSE 1 END", f"CASE WHEN {name} < {large} THEN {name} END"]
        )

    def where(self, columns):
        rng = self.rng
        if rng.random() < 0.55:
            return ""
        if rng.random() < self.wild:
            name = rng.choice(columns)[0]
            return " WHERE " + rng.choice(
                [
                    "EXISTS (SELECT 1 FROM stays)", f"{name} NOT IN (SELECT ward FROM stays)",
                    f"{name} IN (SELECT ward FROM wards)", "NOT EXISTS (SELECT 1 FROM visits)",
                    f"{name} > (SELECT MAX(age) FROM visits)",
                    f"ROW_NUMBER() OVER (ORDER BY {name}) < 3",
                ]
            )  # fmt: skip
        if rng.random() < 0.35:
            return f" WHERE {self.looked(columns)}"
        return f" WHERE {self.condition(columns)}"

    def looked(self, columns):
        """A condition on other rows: of the person, mostly, or of a public table; alone, or beside another."""
        rng = self.rng
        people = [column for column in columns if column[1] in ("id", "text id")]
        if not people or rng.random() < 0.25:
            name, called = "wards", self.name()
            keys = [column for column, kind in columns if kind in ("ward", "label")] or ["'A'"]
            pair = f"{called}.ward", rng.choice(keys)
        else:
            who, kind = rng.choice(people)
            name, called = rng.choice(["notes", "calls"] if kind == "text id" else ["visits", "stays", "moves"]), self.name()
            pair = f"{called}.{PERSON[name]}", who
        return self.around(columns, self.exists(columns, name, called, [pair]))

    def around(self, columns, found):
        """The condition alone, or beside another."""
        rng = self.rng
        other = self.condition(columns)
        return rng.choice([found, found, f"NOT ({found})", f"({found} OR {other})", f"{found} AND {other}",
                           f"CASE WHEN {found} THEN {other} ELSE NOT {found} END"])  # fmt: skip

    def exists(self, columns, name, called, pairs):
        """EXISTS or IN about a table, with equalities of its columns and those around it."""
        rng = self.rng
        numbers = [column for column, kind in columns if kind in ("number", "whole")]
        more = [f"{called}.ward IN ('A', 'B')", f"{called}.ward IS NULL"]
        if name != "wards":
            more += [f"{called}.cost > 1"]
            more += [
                f"{called}.cost {rng.choice(['<', '<=', '<>', '='])} {one}"
                for one in rng.sample(numbers, min(1, len(numbers)))
            ]
        more += [f"{one} < 3" for one in rng.sample(numbers, min(1, len(numbers)))]
        others = rng.sample(more, rng.choice([0, 0, 1, 2]))
        negated = rng.choice(["", "", "NOT "])
        if rng.random() < 0.5:
            equal = [f"{a} = {b}" if rng.random() < 0.5 else f"{b} = {a}" for a, b in pairs]
            joined = " OR " if rng.random() < self.wild else " AND "
            return f"{negated}EXISTS (SELECT 1 FROM {name} {called} WHERE {joined.join([*equal, *others])})"
        (mine, theirs), *rest = [(b, a) for a, b in pairs]
        others += [f"{a} = {b}" for b, a in rest]
        inner = f" WHERE {' AND '.join(others)}" if others else ""
        if name != "wards" and not rest and rng.random() < 0.3 and theirs.endswith(PERSON.get(name, "who")):
            inner = f" GROUP BY {theirs} HAVING COUNT(*) {rng.choice(['>', '<'])} 2"
        return f"{mine} {negated}IN (SELECT {theirs} FROM {name} {called}{inner})"

    def condition(self, columns):
        rng = self.rng
        name, kind = rng.choice(columns)
        people = [(who, what) for who, what in columns if what in ("id", "text id")]
        if kind in ("number", "whole") and rng.random() < 0.25:
            if not people or rng.random() < 0.5:
                return f"{name} > 0.5 * (SELECT AVG(age) FROM visits)"
            who, what = rng.choice(people)
            table = rng.choice([one for one in PERSON if (one in ("notes", "calls")) == (what == "text id")])
            total = rng.choice(["AVG(o.cost)", "2 * MAX(o.cost)", "COUNT(*)", "SUM(o.cost) / 3"])
            also = rng.choice(["", " AND o.cost > 2"])
            return f"{name} >= (SELECT {total} FROM {table} o WHERE o.{PERSON[table]} = {who}{also})"
        if kind in ("number", "whole", "id"):
            return rng.choice(
                [f"{name} > {rng.choice(['1', '3', *LARGE])}", f"NOT {self.number(name)} <= 5", f"{name} IS NULL"]
            )
        if kind == "date":
            return rng.choice([f"{name} > DATE '2000-01-01'", f"EXTRACT(month FROM {name}) = 2", f"{name} IS NOT NULL"])
        return rng.choice([f"{name} IN ('A', 'x', 'a')", f"NOT {name} = 'A'", f"{name} LIKE 'A%'", f"{name} IS NULL"])

    def name(self, stem="t"):
        self._named += 1
        return f"{stem}{self._named}"

    def source(self, depth):
        """What stands behind FROM, and its columns."""
        rng = self.rng
        if depth == 0 or rng.random() < 0.2:
            return self.table()
        return rng.choice([self.join, self.join, self.join, self.inner, self.inner])(depth - 1)

    def table(self, only=None):
        name = only or self.rng.choice([*list(TABLES)[:5], "visits", "stays", "visits", "stays", "letters"])
        called = self.name()
        kinds = {INT: "whole", TEXT: "ward", FLOAT: "number", DAY: "date"}
        columns = []
        for column, kind in TABLES[name].items():
            person = "text id" if kind == TEXT else "id"
            columns.append((f"{called}.{column}", person if PERSON.get(name) == column else kinds[kind]))
        if name == "wards":
            columns = [(f"{called}.ward", "label"), (f"{called}.floor", "whole"), (f"{called}.site", "site")]
        return f"{name} {called}", columns

    def inner(self, depth):
        called = self.name()
        text, columns = self.select(depth)
        if self.rng.random() < 0.25:  # some columns get other names, by their places
            several = self.rng.randrange(1, len(columns) + 1)
            columns = [(self.name("n"), kind) for _, kind in columns[:several]] + columns[several:]
            listed = ", ".join(name for name, _ in columns[:several])
            return f"({text}) AS {called} ({listed})", [(f"{called}.{name}", kind) for name, kind in columns]
        return f"({text}) {called}", [(f"{called}.{name}", kind) for name, kind in columns]

    def select(self, depth):
        rng = self.rng
        kind = rng.choice([self.chosen, self.own, self.own, self.distinct, self.union, self.windowed])
        text, columns = kind(depth)
        if rng.random() < self.wild / 2:
            text += rng.choice([" LIMIT 3", f" ORDER BY {columns[0][0]}", f" ORDER BY {columns[0][0]} LIMIT 1", " OFFSET 1"])
        return text, columns

    def renamed(self, columns, most=6):
        """Some columns under other names, the person mostly among them."""
        rng, found = self.rng, []
        people = [column for column in columns if column[1] in ("id", "text id")]
        others = [column for column in columns if column not in people]
        for name, kind in rng.sample(others, rng.randrange(1, min(most, len(others)) + 1)):
            found.append((self.number(name) if kind in ("number", "whole") else name, self.name("c"), kind))
        if people and rng.random() < 0.8:
            found.insert(rng.randrange(len(found) + 1), (people[0][0], self.name("c"), people[0][1]))
        return found

    def chosen(self, depth):
        text, columns = self.source(depth)
        taken = self.renamed(columns)
        if self.rng.random() < self.wild / 2:
            taken.append((f"SUM({columns[-1][0]}) OVER ()", self.name("c"), "number"))
        shown = ", ".join(f"{what} AS {name}" for what, name, _ in taken)
        return f"SELECT {shown} FROM {text}{self.where(columns)}", [(name, kind) for _, name, kind in taken]

    def windowed(self, depth):
        """Columns beside windows within the person, and some rows of them by QUALIFY."""
        rng = self.rng
        text, columns = self.source(depth)
        taken = self.renamed(columns, most=3)
        found = [(*self.window(columns), self.name("c")) for _ in range(rng.choice([1, 1, 2, 3]))]
        taken += [(what, name, kind) for what, kind, name in found]
        shown = ", ".join(f"{what} AS {name}" for what, name, _ in taken)
        distinct = rng.choice(["", "", "", "DISTINCT "])
        names = [name for _, kind, name in found if kind in ("whole", "number")]
        kept = [f" QUALIFY {self.window(columns, 'whole')[0]} {rng.choice(['= 1', '< 3', '> 2'])}"]
        kept += [f" QUALIFY {rng.choice(names)} > 1"] if names else []
        qualify = rng.choice(["", "", *kept])
        made = f"SELECT {distinct}{shown} FROM {text}{self.where(columns)}{qualify}"
        return made, [(name, kind) for _, name, kind in taken]

    def window(self, columns, kind=None):
        """A window, and the kind of what it gives."""
        rng = self.rng
        people = [name for name, kind in columns if kind in ("id", "text id")]
        by = people[:1] if people and rng.random() > self.wild else []
        by += [name for name, _ in rng.sample(columns, rng.choice([0, 0, 0, 1]))]
        sorts = [
            f"{rng.choice(columns)[0]}{rng.choice(['', ' DESC', ' NULLS FIRST', ' DESC NULLS LAST'])}" for _ in range(2)
        ]
        over = f"PARTITION BY {', '.join(by)} " if by else ""
        order, frame = f"ORDER BY {', '.join(sorts[: rng.choice([1, 1, 2])])}", rng.choice(FRAMES)
        name, of = rng.choice([column for column in columns if kind is None or column[1] in ("number", "whole")] or columns)
        plain = of in ("number", "whole")
        value = self.number(name) if plain else name
        placed = rng.choice(["ROW_NUMBER()", "ROW_NUMBER()", "RANK()", "DENSE_RANK()"])
        if kind == "whole" or rng.random() < 0.25:
            return f"{placed} OVER ({over}{order})", "whole"
        if rng.random() < 0.4 or not plain:
            shifted = f"{rng.choice(['LAG', 'LEAD'])}({value}{rng.choice(['', ', 1', ', 2', ', 0'])}) OVER ({over}{order})"
            ends = f"{rng.choice(['FIRST_VALUE', 'LAST_VALUE'])}({value}) OVER ({over}{order} {frame})"
            return rng.choice([shifted, shifted, ends, f"NTH_VALUE({value}, 2) OVER ({over}{order} {frame})"]), of
        total = rng.choice(["SUM", "AVG", "MIN", "MAX", "COUNT"])
        return f"{total}({value}) OVER ({over}{rng.choice(['', order, f'{order} {frame}'])})", "number"

    def distinct(self, depth):
        text, columns = self.chosen(depth)
        return text.replace("SELECT ", "SELECT DISTINCT ", 1), columns

    def own(self, depth):
        rng = self.rng
        text, columns = self.source(depth)
        people = [column for column in columns if column[1] in ("id", "text id")]
        keys = rng.sample([c for c in columns if c not in people], rng.choice([0, 0, 1, 1, 2]) if len(columns) > 2 else 0)
        by = [name for name, _ in keys] + ([people[0][0]] if people and rng.random() > self.wild else [])
        taken = [(name, self.name("c"), kind) for name, kind in keys if rng.random() < 0.7]
        if people and rng.random() < 0.8:
            taken.append((people[0][0], self.name("c"), people[0][1]))
        for name, kind in rng.sample(columns, min(len(columns), rng.choice([1, 2]))):
            plain = kind in ("number", "whole")
            total = rng.choice(["SUM", "AVG", "MIN", "MAX", "COUNT"] if plain else ["MIN", "MAX", "COUNT", "COUNT(DISTINCT"])
            of = f"{total} {name})" if "(" in total else f"{total}({self.number(name) if plain else name})"
            same = total in ("MIN", "MAX") and kind in ("date",)
            taken.append(
                (of, self.name("c"), "date" if same else "label" if total in ("MIN", "MAX") and not plain else "number")
            )
        taken.append(("COUNT(*)", self.name("c"), "whole"))
        shown = ", ".join(f"{what} AS {name}" for what, name, _ in taken)
        having = rng.choice(["", "", " HAVING COUNT(*) > 1", f" HAVING MAX({columns[-1][0]}) IS NOT NULL AND COUNT(*) < 4"])
        grouped = f" GROUP BY {', '.join(by)}" if by else ""
        made = f"SELECT {shown} FROM {text}{self.where(columns)}{grouped}{having if grouped else ''}"
        return made, [(name, kind) for _, name, kind in taken]

    def union(self, depth):
        rng = self.rng
        word = rng.choice(["UNION", "EXCEPT", "INTERSECT ALL"]) if rng.random() < self.wild else "UNION ALL"
        if rng.random() < 0.5:
            text, columns = self.select(depth)
            other = text if rng.random() < 0.3 else self.select(depth)[0]
            return f"{text} {word} {other}", columns
        pick = [["visits", "stays", "moves"], ["notes", "calls"], ["letters", "letters", "visits"]]
        parts, columns = [], []
        for name in rng.sample(pick := rng.choice([pick[0], pick[0], pick[1], pick[2]]), 2):
            person = f"{PERSON[name]} AS who, " if name in PERSON and "letters" not in pick else ""
            if rng.random() < 0.15:
                parts.append(f"SELECT {person}ward, MAX(cost) AS cost FROM {name} GROUP BY {PERSON.get(name, 'cost')}, ward")
            else:
                parts.append(f"SELECT {person}ward, cost FROM {name}")
            columns = [("who", "text id" if name in ("notes", "calls") else "id")] if person else []
        return f" {word} ".join(parts), [*columns, ("ward", "ward"), ("cost", "number")]

    def join(self, depth):
        rng = self.rng
        left = self.source(depth)
        public = rng.random() < 0.45
        right = self.table("wards") if public else self.inner(depth) if rng.random() < 0.6 else self.table()
        if not public and rng.random() < 0.5:  # a table with the same kind of person
            texts = any(kind == "text id" for _, kind in left[1])
            right = self.table(rng.choice(["notes", "calls"] if texts else ["visits", "stays", "moves"]))
        outer = ["LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "SEMI JOIN", "ANTI JOIN"]
        word = rng.choice(["JOIN", "JOIN", "INNER JOIN", "LEFT JOIN" if public else rng.choice(outer)])
        if rng.random() < self.wild:
            word = rng.choice(
                ["LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "CROSS JOIN", "ANTI JOIN", "SEMI JOIN", "NATURAL JOIN", ","]
            )
            left, right = rng.choice([(left, right), (right, left)])
        pairs = [
            (one, two)
            for one, kind in left[1]
            for two, other in right[1]
            if kind == other or {kind, other} == {"ward", "label"}
        ]
        same = [(one, two) for one, two in pairs if dict(left[1])[one] in ("id", "text id")]
        equal = rng.sample(pairs, 1) if pairs and (public or rng.random() < self.wild) else same[:1]
        if pairs and rng.random() < 0.3:
            equal = [*equal, rng.choice(pairs)]
        on = " AND ".join(f"{two} = {one}" if rng.random() < 0.5 else f"{one} = {two}" for one, two in equal)
        beside = [] if word in ("SEMI JOIN", "ANTI JOIN") else right[1]
        return f"{left[0]} {word} {right[0]}{f' ON {on}' if on and word != ',' else ''}", [*left[1], *beside]


def ask_at_random(seed, unit, wild=0.1):
    """One random question about one random clinic: refused (None), or nobody moves it further than is claimed."""
    rng = random.Random(seed)
    question = Grammar(rng, wild).question()
    try:
        asked = Asked(question, rng.choice(["weights", "clip", "groups"]), unit, rng.choice([1, 3]), rng.choice([1, 3]))
    except QuestionError:
        return None
    assert asked.moved_too_far(clinic(rng, rng.choice([2, 3, 14, 14])), rng) is None, question
    if seed % 20 == 0:
        asked.totals(clinic(rng, 1000), rng)  # nothing to compare: it must not fail
    return asked
