"""First questions of a policy: what somebody may ask who sees it for the first time, each known to be answered.

They are made of the policy alone, and each was quoted against made-up rows: what is refused there is not proposed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from dither.arguments import argument_errors
from dither.errors import DitherError
from dither.query.dataset import Dataset
from dither.query.policy.column import Column, Type
from dither.query.policy.policy import Policy
from dither.query.policy.table import Table
from dither.query.pricing.ask import Terms
from dither.query.sample.sample_dataset import sample_dataset
from dither.query.sources.sql_quotes import name as quoted

PRICES: tuple[Terms, ...] = (
    {"epsilon": "0.1"},
    {"epsilon": "0.01"},
    {"epsilon": "0.001"},
    {"rho": "0.001"},
    {"rho": "0.00001"},
)  # tried in turn: the policy may allow less for one question, or count rho alone
MOST_GROUPS = 50  # that somebody wants to read
MONTHS = 36  # of a time series; a longer one is by years
PLAIN = re.compile(r"[a-z_][a-z0-9_]*")


@argument_errors
def first_questions(policy: Policy) -> list[str]:
    """Up to five questions that are answered under a policy. No data is read, and nothing is charged.

    A count, a count by keys, an average by keys, a median and a time series, as far as the columns allow it.

    Args:
        policy: what is declared.

    Raises:
        DataError: `policy` is no policy.

    Example:
        >>> import tomllib, dither.demo
        >>> from dither.query.policy.policy import read_policy
        >>> from dither.query.sample.first_questions import first_questions
        >>> for sql in first_questions(read_policy(tomllib.loads(dither.demo.POLICY))):
        ...     print(sql)
        SELECT COUNT(*) AS n FROM visits
        SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward
        SELECT ward, AVG(age) AS average FROM visits GROUP BY ward
        SELECT MEDIAN(age) AS median FROM visits
        SELECT EXTRACT(month FROM day) AS month, COUNT(*) AS n FROM visits GROUP BY month
    """
    trial = sample_dataset(policy, 1)
    with trial.ledger:
        price, found = _price(trial), list[str]()
        if price is None:
            return found
        for kind in (_count, _count_by_key, _average_by_key, _median, _time_series):
            several = (sql for table in policy.tables if not table.public for sql in kind(table))
            for sql in several:
                if _is_quoted(trial, price, sql):
                    found.append(sql)
                    break
        return found


@argument_errors
def first_price(policy: Policy) -> dict[str, str]:
    """A price at which first questions are answered: of epsilon or of rho, by its name; none where no price is found.

    Args:
        policy: what is declared.

    Raises:
        DataError: `policy` is no policy.

    Example:
        >>> import tomllib, dither.demo
        >>> from dither.query.policy.policy import read_policy
        >>> from dither.query.sample.first_questions import first_price
        >>> first_price(read_policy(tomllib.loads(dither.demo.POLICY)))
        {'epsilon': '0.1'}
    """
    trial = sample_dataset(policy, 1)
    with trial.ledger:
        return {name: str(price) for name, price in (_price(trial) or {}).items()}


def _price(trial: Dataset) -> Terms | None:
    """The first price at which rows of a protected table are counted."""
    asked = [sql for table in trial.policy.tables if not table.public for sql in _count(table)]
    return next((price for price in PRICES for sql in asked if _is_quoted(trial, price, sql)), None)


def _is_quoted(trial: Dataset, price: Terms, sql: str) -> bool:
    try:
        trial.quote(sql, **price)
    except DitherError:
        return False
    return True


def _count(table: Table) -> Iterator[str]:
    for spelled in _spellings(table.name):
        yield f"SELECT COUNT(*) AS n FROM {spelled}"  # noqa: S608


def _count_by_key(table: Table) -> Iterator[str]:
    for column in _keyed(table):
        for of, by in _pairs(table, column):
            yield f"SELECT {by}, COUNT(*) AS n FROM {of} GROUP BY {by}"  # noqa: S608


def _average_by_key(table: Table) -> Iterator[str]:
    for number in _numbers(table):
        for column in [one for one in _keyed(table) if one != number][:3]:
            for (of, by), of_what in zip(_pairs(table, column), _spellings(number.name), strict=True):
                yield f"SELECT {by}, AVG({of_what}) AS average FROM {of} GROUP BY {by}"  # noqa: S608
        for of, of_what in _pairs(table, number):
            yield f"SELECT AVG({of_what}) AS average FROM {of}"  # noqa: S608


def _median(table: Table) -> Iterator[str]:
    for number in _numbers(table):
        for of, of_what in _pairs(table, number):
            yield f"SELECT MEDIAN({of_what}) AS median FROM {of}"  # noqa: S608


def _time_series(table: Table) -> Iterator[str]:
    for column in (one for one in table.columns if one.type.is_date and not table.tells_whose(one.name)):
        for of, at in _pairs(table, column):
            if column.first is None or column.last is None or column.last.year - column.first.year >= MOST_GROUPS:
                yield f"SELECT EXTRACT(month FROM {at}) AS month, COUNT(*) AS n FROM {of} GROUP BY month"  # noqa: S608
                continue
            months = 12 * (column.last.year - column.first.year) + column.last.month - column.first.month + 1
            part = "month" if months <= MONTHS else "year"
            yield f"SELECT DATE_TRUNC('{part}', {at}) AS {part}, COUNT(*) AS n FROM {of} GROUP BY {part}"  # noqa: S608


def _keyed(table: Table) -> list[Column]:
    """Columns to group by: those with a few keys, texts first."""
    found = [one for one in table.columns if one.keys is not None and len(one.keys) <= MOST_GROUPS]
    found += [one for one in table.columns if one.type is Type.BOOLEAN and one.keys is None]
    return sorted((one for one in found if not table.tells_whose(one.name)), key=lambda one: one.type is not Type.TEXT)


def _numbers(table: Table) -> list[Column]:
    """Columns to add up: those with bounds, where they are stated first."""
    found = [one for one in table.columns if one.is_bounded and one.type.is_number and not table.tells_whose(one.name)]
    return sorted(found, key=lambda one: (one.auto, one.keys is not None))


def _pairs(table: Table, column: Column) -> list[tuple[str, str]]:
    """The names of a table and of its column: as they are, where SQL may read them so, and in quotes."""
    return list(zip(_spellings(table.name), _spellings(column.name), strict=True))


def _spellings(name: str) -> tuple[str, str]:
    return (name if PLAIN.fullmatch(name) else quoted(name)), quoted(name)
