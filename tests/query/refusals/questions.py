"""All questions of the tests that are refused, with the policy under which they are; and where in the source each is."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import dither
from dither.errors import DitherError, QuestionError
from dither.query.policy.policy import Policy
from dither.query.pricing.make_offer import read_question
from tests.query import owners, test_refusals, test_relation_refusals
from tests.query.sql import test_options, test_person_windows
from tests.query.sql.test_parse import POLICY

SQL = Path(dither.__file__).parent / "query" / "sql"
Site = tuple[str, int]  # a file below sql/, and the line of a refusal

BY_WARD = "SELECT ward, {} FROM visits GROUP BY ward"
BY_AGE = "SELECT age, {} FROM visits GROUP BY age"
MORE = [
    *(f"SELECT {what} FROM visits" for what in (
        "SUM(cost * 1e300)", "MODE(*)", "MODE(DISTINCT ward)", "MODE(UPPER(ward))", "MODE(name)", "MODE(cost)",
        "COUNT(*) + age",
        "COUNT(*) + 'a'", " + ".join(["COUNT(*)"] * 600), "MODE(ward) + 1", "NULLIF(COUNT(*), 'a')", "ROUND(COUNT(*), 99)",
        "CAST(COUNT(*) AS VARCHAR)", "COUNT(*) + n AS n", "MEDIAN(cost * 1e300)", "SUM(cost) WITHIN GROUP (ORDER BY cost)",
        "STRING_AGG(name, ',')", "ARRAY_AGG(cost)", "COUNT(DISTINCT name, ward)",
        "SUM(COUNT(*)) OVER (ORDER BY age)",
    )),
    *(BY_WARD.format(what) for what in (
        "RANK() OVER ()", "LAG(COUNT(*), 1, 0) OVER (ORDER BY ward)", "LAG(COUNT(*), -1) OVER (ORDER BY ward)",
        "SUM(COUNT(*)) OVER (PARTITION BY age)", "RANK(1) OVER (ORDER BY ward)",
        "RANK() OVER (ORDER BY RANK() OVER (ORDER BY COUNT(*)))", "LAG(COUNT(*)) OVER ()",
    )),
    "SELECT ward, COUNT(*) AS n, RANK() OVER (ORDER BY COUNT(*)) AS r FROM visits GROUP BY ward HAVING r < 3",
    f"{BY_WARD.format('COUNT(*)')} ORDER BY SUM(cost) / 2",
    f"{BY_AGE.format('SUM(COUNT(*)) OVER (ORDER BY age) AS s')} HAVING COUNT(*) > 1",
    *(BY_AGE.format(what) for what in (
        "SUM(COUNT(*)) OVER (ORDER BY age, ward)", "SUM(COUNT(*)) OVER (ORDER BY cost)",
        "SUM(COUNT(*)) OVER (ORDER BY age DESC)",
        "SUM(COUNT(DISTINCT patient_id)) OVER (ORDER BY age)", "SUM(SUM(cost)) OVER (ORDER BY age)",
        "SUM(COUNT(*)) OVER (PARTITION BY ward ORDER BY age)",
    )),
    "SELECT name, SUM(COUNT(*)) OVER (ORDER BY name) FROM visits GROUP BY name",
    "SELECT age, ward, SUM(COUNT(*)) OVER (ORDER BY age) FROM visits GROUP BY age, ward",
    "SELECT weight, COUNT(*) FROM visits WHERE weight IN (0.5, 1) GROUP BY weight",
    *(f"SELECT COUNT(*) FROM visits GROUP BY {key}" for key in ("ROUND(cost * 1e15, -14)", "age * 1000 + FLOOR(cost)")),
    *(f"SELECT COUNT(*) FROM visits WHERE {condition}" for condition in (
        "seen * INTERVAL '1 day' > born", "DATE_ADD(seen, 3) > born", "visits.* = 1", f"name LIKE '{'a' * 201}'",
        f"name = '{'a' * 3000}'", f"CONCAT({', '.join(['name'] * 101)}) = 'a'", "name ~ '^a'",
        "SUM(age) > 3 AND age > 2", "agee = 1", "age IN (SQRT(2))",
    )),
    "SELECT COUNT(*) FROM visits GROUP BY KURTOSIS(age)",
    'SELECT COUNT(*) FROM visits AS "a\nb"',
    'WITH "a\nb" AS (SELECT * FROM visits) SELECT COUNT(*) FROM visits',
    "SELECT COUNT(*) FROM visit",
    "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(privacy_unit_column = age) COUNT(*) FROM visits",
    "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(max_groups_contributed = 9) COUNT(*) FROM visits",
    f"SELECT COUNT(*) FROM (SELECT {', '.join(f'age AS a{at}' for at in range(201))} FROM visits) t",
    f"SELECT COUNT(*) FROM visits --{'a' * 20_001}",
    f"SELECT COUNT(*) FROM visits WHERE age{'+1' * 2_000} = 1",
    f"SELECT COUNT(*) FROM visits WHERE {'(' * 61}smokes{')' * 61}",
    f"SELECT COUNT(*) FROM visits WHERE {'(' * 20}smokes{' BETWEEN FALSE AND TRUE)' * 20}",
]  # fmt: skip
LETTERS = ", ".join(f"cost{' ' * at}" for at in range(21))
OF_OWNERS = [
    "SELECT COUNT(*) FROM visits v JOIN stays s ON v.person = s.patient WHERE ward = 'A'",
    f"SELECT COUNT(*) FROM visits v {' '.join(f'JOIN wards w{at} ON v.ward = w{at}.ward' for at in range(31))}",
    *(f"SELECT COUNT(*) FROM (SELECT {inner}) t" for inner in (
        "DISTINCT person FROM visits HAVING person > 3",
        "person, SUM(DISTINCT cost) AS s FROM visits GROUP BY person",
        "person, cost FROM visits GROUP BY person",
        'person, SUM(cost) AS s FROM visits GROUP BY person HAVING "own total 0\u200b" > 3',
        "person, RANK(age) OVER (PARTITION BY person ORDER BY age) AS r FROM visits",
        f"person, RANK() OVER (PARTITION BY person ORDER BY {LETTERS}) AS r FROM visits",
    )),
]  # fmt: skip


def questions() -> list[tuple[str, Policy]]:
    """Each once."""
    windows = [
        f"SELECT COUNT(*) FROM (SELECT person, {what} AS c FROM visits) q" for what, _, _ in test_person_windows.REFUSED
    ]
    windows += [sql for sql, _, _ in test_person_windows.WHOLE]
    theirs = [sql for sql, _, _ in test_relation_refusals.ALL] + OF_OWNERS
    theirs += [sql.replace("~", test_person_windows.BY_AGE) for sql in windows]
    ours = [sql for sql, _ in test_refusals.TABLE] + [sql for sql, _, _ in test_options.REFUSED] + MORE
    shared = owners.policy()
    found = dict.fromkeys([*((sql, "ours") for sql in ours), *((sql, "theirs") for sql in theirs)])
    return [(sql, POLICY if whose == "ours" else shared) for sql, whose in found]


def refused(sql: object, policy: Policy) -> QuestionError | None:
    """The refusal of a question; None where it is answered."""
    try:
        read_question(sql, policy)  # type: ignore[arg-type]
    except QuestionError as error:
        return error
    return None


@cache
def sites() -> dict[Site, range]:
    """The places of the source where a question is refused: by `refuse`, or by an error of its own."""
    found = {}
    for path in sorted(SQL.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            called = node.func.id if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else ""
            if called in ("refuse", "_refuse", "QuestionError") and isinstance(node, ast.Call):
                lines = range(node.lineno, (node.end_lineno or node.lineno) + 1)
                found[str(path.relative_to(SQL)), node.lineno] = lines
    return found


@contextmanager
def recorded() -> Iterator[None]:
    """While it lasts, an error knows the place of the source that it comes from: its `site`."""
    plain = DitherError.__init__

    def init(self: DitherError, where: str, came: object, why: str, instead: str) -> None:
        plain(self, where, came, why, instead)
        frame = sys._getframe(1)
        while frame.f_code.co_name in ("refuse", "_refuse", "init") and frame.f_back is not None:
            frame = frame.f_back
        self.site = (frame.f_code.co_filename, frame.f_lineno)  # type: ignore[attr-defined]

    DitherError.__init__ = init  # type: ignore[method-assign]
    try:
        yield
    finally:
        DitherError.__init__ = plain  # type: ignore[method-assign]


def site_of(error: QuestionError) -> Site | None:
    """The place of the source that an error comes from; None where that is not of SQL."""
    name, line = error.site  # type: ignore[attr-defined]
    path = Path(name)
    if not path.is_relative_to(SQL):
        return None
    file = str(path.relative_to(SQL))
    return next((site for site, lines in sites().items() if site[0] == file and line in lines), None)
